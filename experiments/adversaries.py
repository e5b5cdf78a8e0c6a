"""Figure 11: a growing share of adversaries, to a half and beyond it."""

from functools import partial

from experiments.common import Sweep
from experiments.drawing import lines
from experiments.methods import (
    EM,
    EM_PRIOR,
    FUSE,
    ORACLE,
    OURS,
    PUBLISHED_KOS,
    SPECTRAL,
    VOTE,
)
from experiments.outcome import (
    Check,
    Experiment,
    Picture,
    Section,
    at_most,
    points,
    ratios,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.settings import FIGURE_11

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
HALF = 0.5
SWEEP = Sweep(FIGURE_11, 1_000_000, "adversaries", SHARES, "α = {:.0%}")
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, OURS, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle MAP")


def _show(results: Results, scale: Scale, section: Section) -> None:
    where = SWEEP.columns(scale)
    title = f"Error in percent, N = {SWEEP.size(scale):,}"
    section.tables.append(tabulate(results, title, ROWS, where, {}, kind="synthetic"))
    by_share = {100 * float(values["adversaries"]): values for values in where.values()}
    chart = lines(points(results, ROWS, by_share), "α %", "error %", log_x=False)
    section.pictures.append(Picture(section.name, "Error against the share of adversaries.", chart))
    below = {name: values for name, values in where.items() if values["adversaries"] < HALF}
    for column, ratio in ratios(results, "Alg. 2 MAP", below).items():
        what = f"{section.title}, {column}: Alg. 2 MAP over Oracle MAP"
        section.checks.append(at_most(what, ratio, 1.1, " ×"))
    beyond = {name: values for name, values in where.items() if values["adversaries"] > HALF}
    for column, ratio in ratios(results, "Alg. 2 MAP", beyond).items():
        what = f"{section.title}, {column}: Alg. 2 MAP breaks, as every blind method must"
        section.checks.append(Check(what, "> 2 × Oracle MAP", f"{ratio:.3g} ×", ratio > 2))


EXPERIMENTS = [
    Experiment(
        "figure11",
        "Figure 11",
        "Error with a share α of adversaries, K = 3, π = (0.31, 0.34, 0.35), N = 10⁶, M = 10. "
        "Adversaries' rows are shifted by one class. The paper goes to 50 %.",
        partial(SWEEP.tasks, METHODS),
        _show,
    )
]
