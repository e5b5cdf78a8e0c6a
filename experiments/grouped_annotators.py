"""Figure 10: thirty annotators in one, two, four and five groups (Section III-E)."""

from experiments.common import along, by_size
from experiments.drawing import lines
from experiments.methods import GROUPS, ORACLE, VOTE, grouped
from experiments.outcome import (
    Experiment,
    Picture,
    Section,
    at_most,
    points,
    ratios,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.settings import FIGURE_10
from experiments.tasks import Task, synthetic

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SPLIT = tuple(map(grouped, GROUPS))


def _tasks(scale: Scale) -> list[Task]:
    methods = (VOTE, *SPLIT, ORACLE)
    return synthetic(FIGURE_10, methods, scale.sizes(*SIZES), scale.seeds)


def _show(results: Results, scale: Scale, section: Section) -> None:
    where = by_size(FIGURE_10, SIZES, scale)
    rows = (VOTE, *SPLIT, "Oracle MAP")
    section.tables = [
        tabulate(results, "Error in percent", rows, where, {}, kind="synthetic"),
        tabulate(results, "Seconds", SPLIT, where, {}, kind="time", field="seconds"),
    ]
    panels = "error %", "seconds"
    drawn = [
        *points(results, rows, along(where, "n_items"), panel=panels[0]),
        *points(results, SPLIT, along(where, "n_items"), "seconds", panel=panels[1]),
    ]
    chart = lines(drawn, "N", "", panels=panels)
    section.pictures.append(Picture(section.name, "Error (left) and seconds (right).", chart))
    largest = dict([list(where.items())[-1]])
    for method in SPLIT[1:]:
        for field, said, limit in (("error", "error", 1.1), ("seconds", "seconds", 1.0)):
            for column, ratio in ratios(results, method, largest, SPLIT[0], field).items():
                what = f"{section.title}, {column}: {said} of {method} over L = 1"
                section.checks.append(at_most(what, ratio, limit, " ×"))


EXPERIMENTS = [
    Experiment(
        "figure10",
        "Figure 10",
        "Error and time with annotators in L groups, K = 3, π = (0.3096, 0.3416, 0.3488), M = 30.",
        _tasks,
        _show,
    )
]
