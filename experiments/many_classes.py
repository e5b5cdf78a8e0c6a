"""Tables IV and V, Figures 3 to 5: five and seven classes, ten annotators."""

from functools import partial

from experiments.charts import line_chart
from experiments.common import (
    columns_by_size,
    columns_by_value,
    oracle_checks,
    show_estimation_errors,
    show_times,
)
from experiments.experiment import (
    Cell,
    Experiment,
    Figure,
    Section,
    at_least,
    chart_points,
    mean_ratios,
    printed_cells,
    tabulate,
)
from experiments.methods import (
    ALG_2,
    ALG_2_FIXED_PRIOR,
    EM,
    EM_PRIOR,
    FUSE,
    NUMPY_ALG_1,
    ORACLE,
    PLAIN_ALG_1,
    PUBLISHED_KOS,
    SPECTRAL,
    VOTE,
)
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import FIGURE_3, FIGURE_4, Setting
from experiments.tasks import Task, synthetic_tasks

SIZES = (1_000, 10_000, 100_000, 1_000_000)
NAMES = [f"N = {size:,}" for size in SIZES]
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, ALG_2_FIXED_PRIOR)
METHODS = (*OTHERS, ALG_2, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle ML", "Oracle MAP")
TIMED = (
    PUBLISHED_KOS,
    EM,
    SPECTRAL,
    EM_PRIOR,
    ALG_2,
    ALG_2_FIXED_PRIOR,
    PLAIN_ALG_1,
    NUMPY_ALG_1,
    FUSE,
)

PRINTED_4 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.016, 0.02, 0.17, 2.03),
        EM: (0.04, 0.27, 3.43, 37.27),
        SPECTRAL: (119.35, 124.94, 119.35, 160.54),
        ALG_2: (28.27, 40.23, 36.08, 47.17),
        ALG_2_FIXED_PRIOR: (13.34, 6.23, 6.11, 18.16),
    },
)
PRINTED_5 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.017, 0.025, 0.23, 2.83),
        EM: (0.05, 0.30, 4.80, 48.87),
        SPECTRAL: (619.61, 616.47, 621.30, 676.95),
        ALG_2: (46.19, 52.66, 54.50, 69.99),
        ALG_2_FIXED_PRIOR: (34.94, 38.88, 39.11, 40.17),
    },
)


def _tasks(setting: Setting, methods: tuple[str, ...], scale: Scale) -> list[Task]:
    return synthetic_tasks(setting, methods, scale.sizes(*SIZES), scale.seeds)


def _show_errors(setting: Setting, results: Results, scale: Scale, section: Section) -> None:
    columns = columns_by_size(setting, SIZES, scale)
    section.tables.append(
        tabulate(results, "Error in percent", ROWS, columns, {}, kind="synthetic")
    )
    points = chart_points(results, ROWS, columns_by_value(columns, "n_items"))
    chart = line_chart(points, "N", "error %")
    section.figures.append(Figure(section.name, "Error against the number of items.", chart))
    checks = oracle_checks(section.title, results, columns)
    section.checks += checks
    if not all(check.passed for check in checks):
        section.notes.append(_rare_class_note(setting, scale))
    for column, ratio in mean_ratios(results, ALG_2_FIXED_PRIOR, columns, "Alg. 2 MAP").items():
        compared = f"{ALG_2_FIXED_PRIOR} over Alg. 2 MAP, “lower quality” in the paper"
        name = f"{section.title}, {column}: {compared}"
        section.checks.append(at_least(name, ratio, 1.0, " ×"))


def _rare_class_note(setting: Setting, scale: Scale) -> str:
    rarest = min(setting.prior)
    items = ", ".join(f"{rarest * size:.0f} at N = {size:,}" for size in scale.sizes(*SIZES))
    return (
        f"The rarest class has {100 * rarest:.2g} % of the items: {items}. With a few dozen items, "
        "its contribution to the moments is below their sampling noise, so its column of a "
        "confusion matrix fits the noise and the class takes items from common classes. EM, with "
        "which `fuse` continues, is closer to the oracle."
    )


def _show_times(
    setting: Setting,
    printed: dict[Cell, float],
    results: Results,
    scale: Scale,
    section: Section,
) -> None:
    show_times("Seconds", TIMED, columns_by_size(setting, SIZES, scale), printed, results, section)


def _show_estimation_errors(results: Results, scale: Scale, section: Section) -> None:
    settings = {
        setting.name: columns_by_size(setting, SIZES, scale) for setting in (FIGURE_3, FIGURE_4)
    }
    show_estimation_errors(settings, "n_items", results, section)


_FIVE = "K = 5, π = (0.2404, 0.2679, 0.0731, 0.1950, 0.2236), M = 10"
_SEVEN = "K = 7, π = (0.2347, 0.0230, 0.0705, 0.1477, 0.2659, 0.0043, 0.2539), M = 10"
EXPERIMENTS = [
    Experiment(
        "figure3",
        "Figure 3",
        f"Classification error, {_FIVE}.",
        partial(_tasks, FIGURE_3, METHODS),
        partial(_show_errors, FIGURE_3),
    ),
    Experiment(
        "table4",
        "Table IV",
        f"Classification time in seconds, {_FIVE}.",
        partial(_tasks, FIGURE_3, TIMED),
        partial(_show_times, FIGURE_3, PRINTED_4),
    ),
    Experiment(
        "figure4",
        "Figure 4",
        f"Classification error, {_SEVEN}.",
        partial(_tasks, FIGURE_4, METHODS),
        partial(_show_errors, FIGURE_4),
    ),
    Experiment(
        "table5",
        "Table V",
        f"Classification time in seconds, {_SEVEN}.",
        partial(_tasks, FIGURE_4, TIMED),
        partial(_show_times, FIGURE_4, PRINTED_5),
    ),
    Experiment(
        "figure5",
        "Figure 5",
        "Estimation errors of Algorithm 2, K = 5 and K = 7, M = 10.",
        lambda scale: _tasks(FIGURE_3, (ALG_2,), scale) + _tasks(FIGURE_4, (ALG_2,), scale),
        _show_estimation_errors,
    ),
]
