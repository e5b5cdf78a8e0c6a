"""Theorem 1: estimates converge to the truth as N grows. Theorem 2: errors fall as e^{−βM}."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from experiments.charts import line_chart
from experiments.experiment import (
    Cell,
    Check,
    Columns,
    Experiment,
    Figure,
    Section,
    Table,
    chart_points,
    tabulate,
)
from experiments.methods import ALG_2, ORACLE
from experiments.results import Results, RunSummary
from experiments.scale import Scale
from experiments.settings import FIGURE_3, FIGURE_4, FIGURE_6, TABLE_1, TABLE_2
from experiments.sweeps import Sweep, estimation_error_table
from experiments.tasks import Task

SWEEPS = {
    setting.name: Sweep(setting, "n_items", (1_000, 10_000, 100_000, 1_000_000))
    for setting in (TABLE_1, TABLE_2, FIGURE_3, FIGURE_4)
}
EXPECTED_SLOPE, SLOPE_TOLERANCE = -0.5, 0.1
"""Slope of sampling noise on log axes, and the allowed distance from it."""

BY_ANNOTATORS = Sweep(FIGURE_6, "n_annotators", (3, 6, 9, 12, 15, 18), 100_000)


def slope(means: Mapping[float, RunSummary], log_x: bool) -> float:
    """Return the least-squares slope of log(mean) against x, or against log(x)."""
    x = np.log(list(means)) if log_x else np.array(list(means))
    return float(np.polyfit(x, np.log([value.mean for value in means.values()]), 1)[0])


def _convergence_tasks(scale: Scale) -> list[Task]:
    return [task for sweep in SWEEPS.values() for task in sweep.tasks((ALG_2,), scale)]


def _show_convergence(results: Results, scale: Scale, section: Section) -> None:
    settings = {name: sweep.columns(scale) for name, sweep in SWEEPS.items()}
    points: list[dict[str, Any]] = []
    slopes: dict[Cell, RunSummary] = {}
    for field, panel in (("confusion_error", "ε_CM"), ("prior_error", "ε_π")):
        table = estimation_error_table(f"{panel} of Algorithm 2", settings, field, results)
        section.tables.append(table)
        panel_points = []
        for setting, columns in settings.items():
            by_size = SWEEPS[setting].by_value(scale)
            for point in chart_points(results, [ALG_2], by_size, field, panel=panel):
                panel_points.append({**point, "method": setting})
            means = {
                size: table.measured[setting, column]
                for size, column in zip(by_size, columns, strict=True)
                if (setting, column) in table.measured
            }
            if len(means) > 1:
                slopes[setting, panel] = RunSummary(slope(means, log_x=True), 0.0, 1)
        points += [*panel_points, *_guide_line(panel_points, panel)]
    if slopes:
        title, panels = "Slope of the error on log axes", ["ε_CM", "ε_π"]
        section.tables.append(Table(title, list(settings), panels, {}, slopes, "slope"))
    section.checks += [
        Check(
            f"{section.title}, {setting}: slope of {panel} on log axes",
            f"{EXPECTED_SLOPE} ± {SLOPE_TOLERANCE}",
            f"{fitted.mean:.3f}",
            abs(fitted.mean - EXPECTED_SLOPE) <= SLOPE_TOLERANCE,
        )
        for (setting, panel), fitted in slopes.items()
    ]
    chart = line_chart(points, "N", "mean error", panels=("ε_CM", "ε_π"))
    section.figures.append(Figure(section.name, "Errors of Algorithm 2's estimates.", chart))


def _guide_line(points: list[dict[str, Any]], panel: str) -> list[dict[str, Any]]:
    """Return a line of the expected slope through the geometric mean of the first points."""
    if not points:
        return []
    sizes = sorted({point["x"] for point in points})
    first = [point["y"] for point in points if point["x"] == sizes[0]]
    start = float(np.exp(np.mean(np.log(first))))
    heights = [start * (size / sizes[0]) ** EXPECTED_SLOPE for size in sizes]
    return [
        {"x": size, "y": y, "low": y, "high": y, "method": "slope −½", "panel": panel}
        for size, y in zip(sizes, heights, strict=True)
    ]


def _show_bound(results: Results, scale: Scale, section: Section) -> None:
    columns = BY_ANNOTATORS.columns(scale)
    rows = ("Oracle MAP", "Alg. 2 MAP")
    errors = tabulate(results, "Error in percent", rows, columns, {}, kind="synthetic")
    bounds = {
        column: bound
        for column, where in columns.items()
        if (bound := results.summary("bound", method=ORACLE, **where)) is not None
    }
    measured = errors.measured | {("bound", column): bound for column, bound in bounds.items()}
    title = "Error in percent, and the bound"
    section.tables.append(Table(title, [*rows, "bound"], errors.columns, {}, measured, "synthetic"))
    points = chart_points(results, rows, BY_ANNOTATORS.by_value(scale))
    for column, bound in bounds.items():
        x = float(columns[column]["n_annotators"])
        high = bound.mean + bound.deviation
        low = max(bound.mean - bound.deviation, bound.mean / 10)
        points.append({"x": x, "y": bound.mean, "low": low, "high": high, "method": "bound"})
    chart = line_chart(points, "M", "error %", log_x=False)
    caption = "Error on a logarithmic axis against M, with the bound of the proof."
    section.figures.append(Figure(section.name, caption, chart))
    section.checks += _bound_checks(section.title, columns, errors, bounds)


def _bound_checks(
    title: str, columns: Columns, errors: Table, bounds: Mapping[str, RunSummary]
) -> list[Check]:
    oracle = {column: errors.measured["Oracle MAP", column] for column in errors.columns}
    positive = {
        float(columns[column]["n_annotators"]): error
        for column, error in oracle.items()
        if error.mean > 0
    }
    if len(positive) < 2:
        return []
    beta = -slope(positive, log_x=False)
    ratio = max(oracle[column].mean / bound.mean for column, bound in bounds.items())
    return [
        Check(
            f"{title}: rate β of the oracle's error, by least squares",
            "> 0",
            f"{beta:.3f}",
            beta > 0,
        ),
        Check(
            f"{title}: largest error of the oracle over the bound",
            "≤ 1 ×",
            f"{ratio:.3f} ×",
            ratio <= 1,
        ),
    ]


EXPERIMENTS = [
    Experiment(
        "theorem1",
        "Theorem 1",
        "Estimates converge to the truth as N grows: errors of Γ̂ and π̂ with fitted slopes. The "
        "theorem says that they vanish; sampling noise alone gives a slope of −½ on log axes.",
        _convergence_tasks,
        _show_convergence,
    ),
    Experiment(
        "theorem2",
        "Theorem 2",
        "Error ≤ αe^{−βM}, K = 3, π = (0.2318, 0.4713, 0.2969). The bound is the proof's sum of "
        "Chernoff bounds over pairs of classes, for the drawn confusion matrices.",
        partial(BY_ANNOTATORS.tasks, (ALG_2, ORACLE)),
        _show_bound,
    ),
]
