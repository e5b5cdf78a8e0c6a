"""Tables VI and VII, Figures 6 to 9: 5 to 30 annotators."""

from functools import partial
from itertools import pairwise

from experiments.charts import line_chart
from experiments.common import ParameterGrid, columns_by_value, show_estimation_errors, show_times
from experiments.experiment import (
    Cell,
    Check,
    Experiment,
    Figure,
    Section,
    at_most,
    chart_points,
    mean_ratios,
    printed_cells,
    row_summary,
    tabulate,
)
from experiments.methods import (
    ALG_2,
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
from experiments.settings import FIGURE_6, FIGURE_7

ANNOTATORS = (5, 10, 20, 30)
NAMES = [f"M = {annotators}" for annotators in ANNOTATORS]
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, ALG_2, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle ML", "Oracle MAP")
THREE_CLASSES, FIVE_CLASSES, FIVE_CLASSES_FEW_ITEMS = (
    ParameterGrid(setting, size, "n_annotators", ANNOTATORS, "M = {}")
    for setting, size in ((FIGURE_6, 1_000_000), (FIGURE_7, 1_000_000), (FIGURE_7, 5_000))
)
GRIDS = (THREE_CLASSES, FIVE_CLASSES, FIVE_CLASSES_FEW_ITEMS)
TIMED = (PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, ALG_2, PLAIN_ALG_1, NUMPY_ALG_1, FUSE)

PRINTED_6 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.44, 0.96, 4.13, 5.29),
        EM: (11.48, 21.67, 41.88, 62.19),
        SPECTRAL: (21.92, 32.77, 53.88, 75.24),
        ALG_2: (4.85, 15.43, 83.73, 271.71),
    },
)
PRINTED_7 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.85, 1.90, 8.99, 11.11),
        EM: (18.47, 34.68, 67.14, 99.82),
        SPECTRAL: (136.30, 153.35, 186.99, 221.50),
        ALG_2: (12.92, 28.89, 150.33, 471.22),
    },
)


def _show_errors(grid: ParameterGrid, results: Results, scale: Scale, section: Section) -> None:
    columns, size = grid.columns(scale), grid.size(scale)
    title = f"Error in percent, N = {size:,}"
    section.tables.append(tabulate(results, title, ROWS, columns, {}, kind="synthetic"))
    points = chart_points(results, ROWS, columns_by_value(columns, "n_annotators"))
    chart = line_chart(points, "M", "error %", log_x=False)
    section.figures.append(
        Figure(section.name, f"Error against the number of annotators, N = {size:,}.", chart)
    )
    errors = [row_summary(results, "Alg. 2 MAP", "error", **where) for where in columns.values()]
    means = [error.mean for error in errors if error is not None]
    decreases = all(late <= early for early, late in pairwise(means))
    shown = " → ".join(f"{mean:.3g}" for mean in means)
    name = f"{section.title}: the error of Alg. 2 MAP decreases with M"
    section.checks.append(Check(name, "decreasing", shown, decreases))
    for column, ratio in mean_ratios(results, "Alg. 2 MAP", columns, VOTE).items():
        name = f"{section.title}, {column}: Alg. 2 MAP over {VOTE}"
        section.checks.append(at_most(name, ratio, 1.0, " ×"))


def _show_times(
    grid: ParameterGrid,
    printed: dict[Cell, float],
    results: Results,
    scale: Scale,
    section: Section,
) -> None:
    size = grid.size(scale)
    comparable = printed if size == grid.n_items else {}
    title = f"Seconds, N = {size:,}"
    show_times(title, TIMED, grid.columns(scale), comparable, results, section)


def _show_estimation_errors(results: Results, scale: Scale, section: Section) -> None:
    settings = {
        f"K = {len(grid.setting.prior)}, N = {grid.size(scale):,}": grid.columns(scale)
        for grid in GRIDS
    }
    show_estimation_errors(settings, "n_annotators", results, section)


_THREE = "K = 3, π = (0.2318, 0.4713, 0.2969)"
_FIVE = "K = 5, π = (0.3596, 0.1553, 0.1229, 0.3258, 0.0364)"
EXPERIMENTS = [
    Experiment(
        "figure6",
        "Figure 6",
        f"Classification error, {_THREE}, N = 10⁶.",
        partial(THREE_CLASSES.tasks, METHODS),
        partial(_show_errors, THREE_CLASSES),
    ),
    Experiment(
        "table6",
        "Table VI",
        f"Classification time in seconds, {_THREE}, N = 10⁶.",
        partial(THREE_CLASSES.tasks, TIMED),
        partial(_show_times, THREE_CLASSES, PRINTED_6),
    ),
    Experiment(
        "figure7",
        "Figure 7",
        f"Classification error, {_FIVE}, N = 10⁶.",
        partial(FIVE_CLASSES.tasks, METHODS),
        partial(_show_errors, FIVE_CLASSES),
    ),
    Experiment(
        "table7",
        "Table VII",
        f"Classification time in seconds, {_FIVE}, N = 10⁶.",
        partial(FIVE_CLASSES.tasks, TIMED),
        partial(_show_times, FIVE_CLASSES, PRINTED_7),
    ),
    Experiment(
        "figure8",
        "Figure 8",
        f"Classification error, {_FIVE}, N = 5,000.",
        partial(FIVE_CLASSES_FEW_ITEMS.tasks, METHODS),
        partial(_show_errors, FIVE_CLASSES_FEW_ITEMS),
    ),
    Experiment(
        "figure9",
        "Figure 9",
        "Estimation errors of Algorithm 2 against M, K = 3 and K = 5.",
        lambda scale: [task for grid in GRIDS for task in grid.tasks((ALG_2,), scale)],
        _show_estimation_errors,
    ),
]
