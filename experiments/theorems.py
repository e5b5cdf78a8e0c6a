"""Theorem 1: estimates approach the truth as N grows. Theorem 2: errors fall by e^{−βM}."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from experiments.common import Sweep, along, by_size, estimates
from experiments.drawing import lines
from experiments.methods import ORACLE, OURS
from experiments.outcome import (
    Check,
    Experiment,
    Picture,
    Section,
    Table,
    points,
    tabulate,
)
from experiments.running import Measured, Results, Scale
from experiments.settings import FIGURE_3, FIGURE_4, FIGURE_6, TABLE_1, TABLE_2
from experiments.tasks import Task, synthetic

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SETTINGS = (TABLE_1, TABLE_2, FIGURE_3, FIGURE_4)
THEORY, APART = -0.5, 0.1
"""The slope of errors on log axes that sampling noise gives, and how far one may be from it."""

SWEEP = Sweep(FIGURE_6, 100_000, "n_annotators", (3, 6, 9, 12, 15, 18), "M = {}")


def slope(found: Mapping[float, Measured], log_x: bool) -> float:
    """The slope of the logarithm of the means, against x or its logarithm, by least squares."""
    x = np.log(list(found)) if log_x else np.array(list(found))
    return float(np.polyfit(x, np.log([value.mean for value in found.values()]), 1)[0])


def _tasks_1(scale: Scale) -> list[Task]:
    sizes = scale.sizes(*SIZES)
    return [
        task for setting in SETTINGS for task in synthetic(setting, (OURS,), sizes, scale.seeds)
    ]


def _show_1(results: Results, scale: Scale, section: Section) -> None:
    settings = {setting.name: by_size(setting, SIZES, scale) for setting in SETTINGS}
    rows, slopes = [], {}
    for field, panel in (("confusion_error", "ε_CM"), ("prior_error", "ε_π")):
        table = estimates(f"{panel} of Algorithm 2", settings, field, results)
        section.tables.append(table)
        for name, columns in settings.items():
            where = along(columns, "n_items")
            for point in points(results, [OURS], where, field, panel=panel):
                rows.append({**point, "method": name})
            known = {
                x: table.measured[name, column]
                for x, column in zip(where, columns, strict=True)
                if (name, column) in table.measured
            }
            if len(known) > 1:
                slopes[name, panel] = Measured(slope(known, log_x=True), 0.0, 1)
        rows += _guide([row for row in rows if row["panel"] == panel], panel)
    if slopes:
        title, panels = "Slope of the error on log axes", ["ε_CM", "ε_π"]
        section.tables.append(Table(title, list(settings), panels, {}, slopes, "slope"))
    for (name, panel), fitted in slopes.items():
        what = f"{section.title}, {name}: slope of {panel} on log axes"
        holds = abs(fitted.mean - THEORY) <= APART
        asked = f"{THEORY} ± {APART}"
        section.checks.append(Check(what, asked, f"{fitted.mean:.3f}", holds))
    chart = lines(rows, "N", "mean error", panels=("ε_CM", "ε_π"))
    section.pictures.append(Picture(section.name, "Errors of Algorithm 2's estimates.", chart))


def _guide(rows: list[dict[str, object]], panel: str) -> list[dict[str, object]]:
    """A line of the theory's slope through the geometric middle of the first points."""
    if not rows:
        return []
    x = sorted({float(str(row["x"])) for row in rows})
    first = [float(str(row["y"])) for row in rows if row["x"] == x[0]]
    start = float(np.exp(np.mean(np.log(first))))
    heights = [start * (at / x[0]) ** THEORY for at in x]
    return [
        {"x": at, "y": y, "low": y, "high": y, "method": "slope −½", "panel": panel}
        for at, y in zip(x, heights, strict=True)
    ]


def _show_2(results: Results, scale: Scale, section: Section) -> None:
    where = SWEEP.columns(scale)
    rows = ("Oracle MAP", "Alg. 2 MAP")
    errors = tabulate(results, "Error in percent", rows, where, {}, kind="synthetic")
    bounds = {
        column: found
        for column, values in where.items()
        if (found := results.measured("bound", method=ORACLE, **values)) is not None
    }
    measured = errors.measured | {("bound", column): found for column, found in bounds.items()}
    section.tables.append(
        Table(
            "Error in percent, and the bound", [*rows, "bound"], errors.columns, {}, measured, "x"
        )
    )
    drawn = points(results, rows, along(where, "n_annotators"))
    for column, found in bounds.items():
        at = float(where[column]["n_annotators"])
        high = found.mean + found.deviation
        low = max(found.mean - found.deviation, found.mean / 10)
        drawn.append({"x": at, "y": found.mean, "low": low, "high": high, "method": "bound"})
    chart = lines(drawn, "M", "error %", log_x=False)
    caption = "Error on a logarithmic axis against M, with the bound of the proof."
    section.pictures.append(Picture(section.name, caption, chart))
    oracle = {
        float(where[column]["n_annotators"]): errors.measured["Oracle MAP", column]
        for column in errors.columns
        if errors.measured["Oracle MAP", column].mean > 0
    }
    over = [errors.measured["Oracle MAP", column].mean / bounds[column].mean for column in bounds]
    if len(oracle) > 1:
        beta = -slope(oracle, log_x=False)
        what = f"{section.title}: rate β of the oracle's error, by least squares"
        section.checks.append(Check(what, "> 0", f"{beta:.3f}", beta > 0))
        what = f"{section.title}: largest error of the oracle over the bound"
        section.checks.append(Check(what, "≤ 1 ×", f"{max(over):.3f} ×", max(over) <= 1))


EXPERIMENTS = [
    Experiment(
        "theorem1",
        "Theorem 1",
        "Estimates approach the truth as N grows: errors of Γ̂ and π̂ with fitted slopes. The "
        "theorem says that they vanish; sampling noise alone gives a slope of −½ on log axes.",
        _tasks_1,
        _show_1,
    ),
    Experiment(
        "theorem2",
        "Theorem 2",
        "Error ≤ αe^{−βM}, K = 3, π = (0.2318, 0.4713, 0.2969). The bound is the proof's sum over "
        "pairs of classes, each by Chernoff's, at the drawn confusion matrices.",
        partial(SWEEP.tasks, (OURS, ORACLE)),
        _show_2,
    ),
]
