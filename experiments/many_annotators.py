"""Tables VI and VII, Figures 6 to 9: a growing number of annotators."""

from functools import partial
from itertools import pairwise

from experiments.common import Sweep, along, show_estimates, show_times
from experiments.drawing import lines
from experiments.methods import (
    EM,
    EM_PRIOR,
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
    Check,
    Experiment,
    Picture,
    Section,
    at_most,
    cell,
    points,
    printed_cells,
    ratios,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.settings import FIGURE_6, FIGURE_7

ANNOTATORS = (5, 10, 20, 30)
NAMES = [f"M = {annotators}" for annotators in ANNOTATORS]
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, OURS, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle ML", "Oracle MAP")
THREE, FIVE, FIVE_FEW = (
    Sweep(setting, size, "n_annotators", ANNOTATORS, "M = {}")
    for setting, size in ((FIGURE_6, 1_000_000), (FIGURE_7, 1_000_000), (FIGURE_7, 5_000))
)
TIMED = (PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, OURS, PLAIN, IN_NUMPY, FUSE)

PRINTED_6 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.44, 0.96, 4.13, 5.29),
        EM: (11.48, 21.67, 41.88, 62.19),
        SPECTRAL: (21.92, 32.77, 53.88, 75.24),
        OURS: (4.85, 15.43, 83.73, 271.71),
    },
)
PRINTED_7 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.85, 1.90, 8.99, 11.11),
        EM: (18.47, 34.68, 67.14, 99.82),
        SPECTRAL: (136.30, 153.35, 186.99, 221.50),
        OURS: (12.92, 28.89, 150.33, 471.22),
    },
)


def _show_errors(sweep: Sweep, results: Results, scale: Scale, section: Section) -> None:
    where, size = sweep.columns(scale), sweep.size(scale)
    title = f"Error in percent, N = {size:,}"
    section.tables.append(tabulate(results, title, ROWS, where, {}, kind="synthetic"))
    chart = lines(points(results, ROWS, along(where, "n_annotators")), "M", "error %", log_x=False)
    section.pictures.append(
        Picture(section.name, f"Error against the number of annotators, N = {size:,}.", chart)
    )
    errors = [cell(results, "Alg. 2 MAP", "error", **values) for values in where.values()]
    means = [found.mean for found in errors if found is not None]
    falls = all(late <= early for early, late in pairwise(means))
    shown = " → ".join(f"{mean:.3g}" for mean in means)
    what = f"{section.title}: the error of Alg. 2 MAP falls with M"
    section.checks.append(Check(what, "falls", shown, falls))
    for column, ratio in ratios(results, "Alg. 2 MAP", where, VOTE).items():
        what = f"{section.title}, {column}: Alg. 2 MAP over {VOTE}"
        section.checks.append(at_most(what, ratio, 1.0, " ×"))


def _show_times(
    sweep: Sweep,
    printed: dict[Cell, float],
    results: Results,
    scale: Scale,
    section: Section,
) -> None:
    size = sweep.size(scale)
    beside = printed if size == sweep.n_items else {}
    title = f"Seconds, N = {size:,}"
    show_times(title, TIMED, sweep.columns(scale), beside, results, section)


def _show_estimates(results: Results, scale: Scale, section: Section) -> None:
    settings = {
        f"K = {len(sweep.setting.prior)}, N = {sweep.size(scale):,}": sweep.columns(scale)
        for sweep in (THREE, FIVE, FIVE_FEW)
    }
    show_estimates(settings, "n_annotators", results, section)


_THREE = "K = 3, π = (0.2318, 0.4713, 0.2969)"
_FIVE = "K = 5, π = (0.3596, 0.1553, 0.1229, 0.3258, 0.0364)"
EXPERIMENTS = [
    Experiment(
        "figure6",
        "Figure 6",
        f"Classification error, {_THREE}, N = 10⁶.",
        partial(THREE.tasks, METHODS),
        partial(_show_errors, THREE),
    ),
    Experiment(
        "table6",
        "Table VI",
        f"Classification time in seconds, {_THREE}, N = 10⁶.",
        partial(THREE.tasks, TIMED),
        partial(_show_times, THREE, PRINTED_6),
    ),
    Experiment(
        "figure7",
        "Figure 7",
        f"Classification error, {_FIVE}, N = 10⁶.",
        partial(FIVE.tasks, METHODS),
        partial(_show_errors, FIVE),
    ),
    Experiment(
        "table7",
        "Table VII",
        f"Classification time in seconds, {_FIVE}, N = 10⁶.",
        partial(FIVE.tasks, TIMED),
        partial(_show_times, FIVE, PRINTED_7),
    ),
    Experiment(
        "figure8",
        "Figure 8",
        f"Classification error, {_FIVE}, N = 5,000.",
        partial(FIVE_FEW.tasks, METHODS),
        partial(_show_errors, FIVE_FEW),
    ),
    Experiment(
        "figure9",
        "Figure 9",
        "Estimation errors of Algorithm 2 against M, K = 3 and K = 5.",
        lambda scale: [
            task for sweep in (THREE, FIVE, FIVE_FEW) for task in sweep.tasks((OURS,), scale)
        ],
        _show_estimates,
    ),
]
