"""How the conclusions move with the skill of annotators, which the paper does not state."""

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
    points,
    ratios,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.settings import FIGURE_3

SKILLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SWEEP = Sweep(FIGURE_3, 10_000, "skill", SKILLS, "skill {}")
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, OURS, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle MAP")


def _show(results: Results, scale: Scale, section: Section) -> None:
    where = SWEEP.columns(scale)
    title = f"Error in percent, N = {SWEEP.size(scale):,}"
    section.tables.append(tabulate(results, title, ROWS, where, {}, kind="synthetic"))
    by_skill = {float(values["skill"]): values for values in where.values()}
    chart = lines(points(results, ROWS, by_skill), "skill", "error %", log_x=False)
    section.pictures.append(Picture(section.name, "Error against skill.", chart))
    fused, vote = ratios(results, FUSE, where), ratios(results, VOTE, where)
    for column, ratio in fused.items():
        what = f"{section.title}, {column}: {FUSE} no worse than {VOTE}, over Oracle MAP"
        holds = ratio <= vote[column]
        section.checks.append(Check(what, f"≤ {vote[column]:.3g} ×", f"{ratio:.3g} ×", holds))


EXPERIMENTS = [
    Experiment(
        "skill",
        "Skill",
        "The paper says that Γ_m are drawn at random and better than random, no more. Here each "
        "column is uniform on the simplex with its largest entry on the diagonal, mixed with the "
        "identity: skill 0, used everywhere else, is that family itself, skill 1 is perfect. "
        "K = 5, π of Figure 3, M = 10.",
        partial(SWEEP.tasks, METHODS),
        _show,
    )
]
