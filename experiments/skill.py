"""How the results depend on the skill of the annotators, which the paper does not state."""

from functools import partial

from experiments.charts import line_chart
from experiments.common import ParameterGrid, columns_by_value
from experiments.experiment import (
    Check,
    Experiment,
    Figure,
    Section,
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
from experiments.settings import FIGURE_3

SKILLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
GRID = ParameterGrid(FIGURE_3, 10_000, "skill", SKILLS, "skill {}")
OTHERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, ALG_2, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle MAP")


def _show(results: Results, scale: Scale, section: Section) -> None:
    columns = GRID.columns(scale)
    title = f"Error in percent, N = {GRID.size(scale):,}"
    section.tables.append(tabulate(results, title, ROWS, columns, {}, kind="synthetic"))
    points = chart_points(results, ROWS, columns_by_value(columns, "skill"))
    chart = line_chart(points, "skill", "error %", log_x=False)
    section.figures.append(Figure(section.name, "Error against skill.", chart))
    fused, vote = mean_ratios(results, FUSE, columns), mean_ratios(results, VOTE, columns)
    for column, ratio in fused.items():
        name = f"{section.title}, {column}: {FUSE} at most {VOTE}, both over Oracle MAP"
        passed = ratio <= vote[column]
        section.checks.append(Check(name, f"≤ {vote[column]:.3g} ×", f"{ratio:.3g} ×", passed))


EXPERIMENTS = [
    Experiment(
        "skill",
        "Skill",
        "The paper only says that Γ_m are drawn at random and better than random. Here each column "
        "is uniform on the simplex with its largest entry on the diagonal, mixed with the identity "
        "with weight skill: skill 0, used in all other experiments, is the unmixed column, "
        "and skill 1 is a perfect annotator. K = 5, π of Figure 3, M = 10.",
        partial(GRID.tasks, METHODS),
        _show,
    )
]
