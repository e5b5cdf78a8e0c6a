"""Figure 10: thirty annotators in one, two, four and five groups (Section III-E)."""

from experiments.charts import line_chart
from experiments.common import columns_by_size, columns_by_value
from experiments.experiment import (
    Experiment,
    Figure,
    Section,
    at_most,
    chart_points,
    mean_ratios,
    tabulate,
)
from experiments.methods import GROUP_COUNTS, ORACLE, VOTE, grouped_name
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import FIGURE_10
from experiments.tasks import Task, synthetic_tasks

SIZES = (1_000, 10_000, 100_000, 1_000_000)
GROUPED = tuple(map(grouped_name, GROUP_COUNTS))


def _tasks(scale: Scale) -> list[Task]:
    methods = (VOTE, *GROUPED, ORACLE)
    return synthetic_tasks(FIGURE_10, methods, scale.sizes(*SIZES), scale.seeds)


def _show(results: Results, scale: Scale, section: Section) -> None:
    columns = columns_by_size(FIGURE_10, SIZES, scale)
    rows = (VOTE, *GROUPED, "Oracle MAP")
    section.tables = [
        tabulate(results, "Error in percent", rows, columns, {}, kind="synthetic"),
        tabulate(results, "Seconds", GROUPED, columns, {}, kind="time", field="seconds"),
    ]
    panels = "error %", "seconds"
    by_size = columns_by_value(columns, "n_items")
    points = [
        *chart_points(results, rows, by_size, panel=panels[0]),
        *chart_points(results, GROUPED, by_size, "seconds", panel=panels[1]),
    ]
    chart = line_chart(points, "N", "", panels=panels)
    section.figures.append(Figure(section.name, "Error (left) and seconds (right).", chart))
    largest = dict([list(columns.items())[-1]])
    for method in GROUPED[1:]:
        for field, limit in (("error", 1.1), ("seconds", 1.0)):
            for column, ratio in mean_ratios(results, method, largest, GROUPED[0], field).items():
                name = f"{section.title}, {column}: {field} of {method} over L = 1"
                section.checks.append(at_most(name, ratio, limit, " ×"))


EXPERIMENTS = [
    Experiment(
        "figure10",
        "Figure 10",
        "Error and time with annotators in L groups, K = 3, π = (0.3096, 0.3416, 0.3488), M = 30.",
        _tasks,
        _show,
    )
]
