"""Figure 11: error against the share of adversaries, up to and above one half."""

from functools import partial

from experiments.charts import line_chart
from experiments.common import ParameterGrid
from experiments.experiment import (
    Check,
    Experiment,
    Figure,
    Section,
    at_most,
    chart_points,
    mean_ratios,
    tabulate,
)
from experiments.methods import (
    ALG_2,
    EM,
    EM_PRIOR,
    FUSE,
    ORACLE,
    PUBLISHED_KOS,
    SPECTRAL,
    VOTE,
)
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import FIGURE_11

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
HALF = 0.5
GRID = ParameterGrid(FIGURE_11, 1_000_000, "adversaries", SHARES, "α = {:.0%}")
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, ALG_2, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle MAP")


def _show(results: Results, scale: Scale, section: Section) -> None:
    columns = GRID.columns(scale)
    title = f"Error in percent, N = {GRID.size(scale):,}"
    section.tables.append(tabulate(results, title, ROWS, columns, {}, kind="synthetic"))
    by_share = {100 * float(where["adversaries"]): where for where in columns.values()}
    chart = line_chart(chart_points(results, ROWS, by_share), "α %", "error %", log_x=False)
    section.figures.append(Figure(section.name, "Error against the share of adversaries.", chart))
    below = {column: where for column, where in columns.items() if where["adversaries"] < HALF}
    for column, ratio in mean_ratios(results, "Alg. 2 MAP", below).items():
        name = f"{section.title}, {column}: Alg. 2 MAP over Oracle MAP"
        section.checks.append(at_most(name, ratio, 1.1, " ×"))
    above = {column: where for column, where in columns.items() if where["adversaries"] > HALF}
    for column, ratio in mean_ratios(results, "Alg. 2 MAP", above).items():
        name = f"{section.title}, {column}: Alg. 2 MAP fails, as every blind method must"
        section.checks.append(Check(name, "> 2 × Oracle MAP", f"{ratio:.3g} ×", ratio > 2))


EXPERIMENTS = [
    Experiment(
        "figure11",
        "Figure 11",
        "Error with a share α of adversaries, K = 3, π = (0.31, 0.34, 0.35), N = 10⁶, M = 10. "
        "The rows of an adversary's confusion matrix are shifted by one class. The paper stops at "
        "50 %.",
        partial(GRID.tasks, METHODS),
        _show,
    )
]
