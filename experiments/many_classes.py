"""Tables IV and V, Figures 3 to 5: five and seven classes, ten annotators."""

from functools import partial

from experiments.common import along, by_size, oracle_checks, show_estimates, show_times
from experiments.drawing import lines
from experiments.methods import (
    EM,
    EM_PRIOR,
    FIXED,
    FUSE,
    IN_NUMPY,
    ORACLE,
    OURS,
    PLAIN,
    PUBLISHED_KOS,
    SPECTRAL,
    VOTE,
)
from experiments.outcome import (
    Cell,
    Experiment,
    Picture,
    Section,
    at_least,
    points,
    printed_cells,
    ratios,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.settings import FIGURE_3, FIGURE_4, Setting
from experiments.tasks import Task, synthetic

SIZES = (1_000, 10_000, 100_000, 1_000_000)
NAMES = [f"N = {size:,}" for size in SIZES]
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, FIXED)
METHODS = (*OTHERS, OURS, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle ML", "Oracle MAP")
TIMED = (PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, OURS, FIXED, PLAIN, IN_NUMPY, FUSE)

PRINTED_4 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.016, 0.02, 0.17, 2.03),
        EM: (0.04, 0.27, 3.43, 37.27),
        SPECTRAL: (119.35, 124.94, 119.35, 160.54),
        OURS: (28.27, 40.23, 36.08, 47.17),
        FIXED: (13.34, 6.23, 6.11, 18.16),
    },
)
PRINTED_5 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.017, 0.025, 0.23, 2.83),
        EM: (0.05, 0.30, 4.80, 48.87),
        SPECTRAL: (619.61, 616.47, 621.30, 676.95),
        OURS: (46.19, 52.66, 54.50, 69.99),
        FIXED: (34.94, 38.88, 39.11, 40.17),
    },
)


def _tasks(setting: Setting, methods: tuple[str, ...], scale: Scale) -> list[Task]:
    return synthetic(setting, methods, scale.sizes(*SIZES), scale.seeds)


def _show_errors(setting: Setting, results: Results, scale: Scale, section: Section) -> None:
    where = by_size(setting, SIZES, scale)
    section.tables.append(tabulate(results, "Error in percent", ROWS, where, {}, kind="synthetic"))
    rows = points(results, ROWS, along(where, "n_items"))
    section.pictures.append(
        Picture(section.name, "Error against the number of items.", lines(rows, "N", "error %"))
    )
    against_oracle = oracle_checks(section.title, results, where)
    section.checks += against_oracle
    if not all(check.holds for check in against_oracle):
        rare = min(setting.prior)
        items = ", ".join(f"{rare * size:.0f} at N = {size:,}" for size in scale.sizes(*SIZES))
        section.notes.append(
            f"The rarest class has {100 * rare:.2g} % of the items, {items}. Where that is a few "
            "dozen, its part in the moments is below their noise, its column fits noise instead, "
            "and takes items from common classes. EM, by which `fuse` goes on, comes nearer."
        )
    for column, ratio in ratios(results, FIXED, where, "Alg. 2 MAP").items():
        what = f"{section.title}, {column}: {FIXED} over Alg. 2 MAP, “lower quality” in the paper"
        section.checks.append(at_least(what, ratio, 1.0, " ×"))


def _show_times(
    setting: Setting,
    printed: dict[Cell, float],
    results: Results,
    scale: Scale,
    section: Section,
) -> None:
    show_times("Seconds", TIMED, by_size(setting, SIZES, scale), printed, results, section)


def _show_estimates(results: Results, scale: Scale, section: Section) -> None:
    settings = {setting.name: by_size(setting, SIZES, scale) for setting in (FIGURE_3, FIGURE_4)}
    show_estimates(settings, "n_items", results, section)


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
        lambda scale: _tasks(FIGURE_3, (OURS,), scale) + _tasks(FIGURE_4, (OURS,), scale),
        _show_estimates,
    ),
]
