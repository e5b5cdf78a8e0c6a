"""Sweeps: methods run at every value of one parameter. Their tables, figures and checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.charts import line_chart
from experiments.experiment import (
    Cell,
    Check,
    Columns,
    Figure,
    Section,
    Table,
    at_least,
    at_most,
    chart_points,
    mean_ratios,
    tabulate,
)
from experiments.methods import ALG_2, FUSE, NUMPY_ALG_1, PLAIN_ALG_1, SPECTRAL
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import Setting
from experiments.tasks import Task, synthetic_tasks

COLUMN_NAMES = {
    "n_items": "N = {:,}",
    "n_annotators": "M = {}",
    "skill": "skill {}",
    "adversaries": "α = {:.0%}",
}
"""Names of the columns by the parameter that varies."""
ORACLE_MIN_ITEMS = 10_000
"""Number of items from which the error must be close to that of the oracle."""


@dataclass(frozen=True)
class Sweep:
    """A setting, and values of one task parameter; ``n_items`` is fixed if another one varies."""

    setting: Setting
    parameter: str
    values: tuple[float, ...]
    n_items: int = 0

    def size(self, scale: Scale) -> int:
        """Return the fixed number of items at this scale."""
        return scale.sizes(self.n_items)[0]

    def points(self, scale: Scale) -> list[dict[str, Any]]:
        """Return the parameters of the tasks at every value."""
        if self.parameter == "n_items":
            return [{"n_items": size} for size in scale.sizes(*map(int, self.values))]
        return [{"n_items": self.size(scale), self.parameter: value} for value in self.values]

    def columns(self, scale: Scale) -> Columns:
        """Return one column per value."""
        name, source = COLUMN_NAMES[self.parameter], {"source": self.setting.name}
        return {name.format(point[self.parameter]): source | point for point in self.points(scale)}

    def by_value(self, scale: Scale) -> dict[float, Mapping[str, Any]]:
        """Return the columns by value."""
        return {float(where[self.parameter]): where for where in self.columns(scale).values()}

    def tasks(self, methods: Sequence[str], scale: Scale) -> list[Task]:
        """Return one task per value, seed and method."""
        return [
            task
            for point in self.points(scale)
            for task in synthetic_tasks(
                self.setting,
                methods,
                [point["n_items"]],
                scale.seeds,
                **{name: value for name, value in point.items() if name != "n_items"},
            )
        ]


def show_errors(
    sweep: Sweep,
    rows: Sequence[str],
    results: Results,
    scale: Scale,
    section: Section,
    printed: Mapping[Cell, float],
) -> Table:
    """Add a table of errors in percent; printed ones are compared by their ratio to the oracle."""
    is_fixed = sweep.parameter != "n_items"
    title = "Error in percent" + (f", N = {sweep.size(scale):,}" if is_fixed else "")
    table = tabulate(
        results,
        title,
        rows,
        sweep.columns(scale),
        printed,
        kind="synthetic",
        reference="Oracle MAP" if printed else "",
    )
    section.tables.append(table)
    return table


def draw_errors(
    sweep: Sweep, rows: Sequence[str], results: Results, scale: Scale, section: Section
) -> None:
    """Add a figure of errors against the parameter."""
    x, name, factor = {
        "n_items": ("N", "the number of items", 1),
        "n_annotators": ("M", f"the number of annotators, N = {sweep.size(scale):,}", 1),
        "skill": ("skill", "skill", 1),
        "adversaries": ("α %", "the share of adversaries", 100),
    }[sweep.parameter]
    columns = {factor * value: where for value, where in sweep.by_value(scale).items()}
    chart = line_chart(chart_points(results, rows, columns), x, "error %", log_x=x == "N")
    section.figures.append(Figure(section.name, f"Error against {name}.", chart))


def show_times(
    title: str,
    methods: Sequence[str],
    columns: Columns,
    printed: Mapping[Cell, float],
    results: Results,
    section: Section,
) -> None:
    """Add a table of seconds and its checks."""
    section.tables.append(
        tabulate(results, title, methods, columns, printed, kind="time", field="seconds")
    )
    section.checks += time_checks(section.title, results, columns)
    slower = [
        column
        for column, ratio in mean_ratios(results, ALG_2, columns, SPECTRAL, "seconds").items()
        if ratio > 1
    ]
    if slower:
        section.notes.append(_slower_note(slower, columns, results))


def _slower_note(names: Sequence[str], columns: Columns, results: Results) -> str:
    """Explain why Algorithm 2 is slower than EM + Spectral in these columns."""
    details = []
    for name in names:
        sweeps = results.summary("sweeps", method=ALG_2, **columns[name])
        spectral = results.summary("seconds", method=SPECTRAL, **columns[name])
        if sweeps and spectral:
            milliseconds = 1000 * spectral.mean
            details.append(f"{name} ({sweeps.mean:.0f} sweeps against {milliseconds:.0f} ms)")
    return (
        f"{SPECTRAL} is blindfuse's own compiled code, and its time is proportional to the number "
        f"of items. The time of a sweep of {ALG_2} does not depend on the number of items, because "
        "it uses moments, and classes with few items need many sweeps. So "
        f"{ALG_2} is slower at {'; '.join(details)}."
    )


def show_estimation_errors(
    sweeps: Mapping[str, Sweep], results: Results, scale: Scale, section: Section
) -> None:
    """Add ε_CM and ε_π of Algorithm 2, one line per sweep (Figures 2, 5 and 9)."""
    x = "N" if all(sweep.parameter == "n_items" for sweep in sweeps.values()) else "M"
    points = []
    for field, panel in (("confusion_error", "ε_CM"), ("prior_error", "ε_π")):
        for name, sweep in sweeps.items():
            for point in chart_points(results, [ALG_2], sweep.by_value(scale), field, panel=panel):
                points.append({**point, "method": name})
        columns = {name: sweep.columns(scale) for name, sweep in sweeps.items()}
        title = f"{panel} of Algorithm 2"
        section.tables.append(estimation_error_table(title, columns, field, results))
    chart = line_chart(points, x, "mean error", panels=("ε_CM", "ε_π"), log_x=x == "N")
    caption = f"Errors of the confusion matrices (left) and of the prior (right) against {x}."
    section.figures.append(Figure(section.name, caption, chart))


def estimation_error_table(
    title: str, settings: Mapping[str, Columns], field: str, results: Results
) -> Table:
    """Return the errors of Algorithm 2's estimates by setting and column."""
    measured = {
        (setting, column): summary
        for setting, columns in settings.items()
        for column, where in columns.items()
        if (summary := results.summary(field, method=ALG_2, **where)) is not None
    }
    names = list(dict.fromkeys(column for _, column in measured))
    return Table(title, list(settings), names, {}, measured, "estimate")


def oracle_checks(title: str, results: Results, columns: Columns) -> list[Check]:
    """From 10⁴ items on, Algorithm 2 must be within 10 % of the oracle and ``fuse`` within 2 %."""
    large = {name: where for name, where in columns.items() if where["n_items"] >= ORACLE_MIN_ITEMS}
    return [
        at_most(f"{title}, {column}: {row} over Oracle MAP", ratio, limit, " ×")
        for row, limit in (("Alg. 2 MAP", 1.1), (FUSE, 1.02))
        for column, ratio in mean_ratios(results, row, large).items()
    ]


def time_checks(title: str, results: Results, columns: Columns) -> list[Check]:
    """Compare the time of Algorithm 2 with EM + Spectral and unaccelerated Algorithm 1."""
    checks = []
    for column, ratio in mean_ratios(results, ALG_2, columns, SPECTRAL, "seconds").items():
        name = f"{title}, {column}: seconds of {ALG_2} over {SPECTRAL}"
        checks.append(at_most(name, ratio, 1.0, " ×"))
    first_run = {column: {**where, "seed": 0} for column, where in columns.items()}
    baselines = (
        (NUMPY_ALG_1, "seconds", "whole fit"),
        (PLAIN_ALG_1, "sweep_seconds", "sweeps only"),
    )
    for method, field, scope in baselines:
        for column, ratio in mean_ratios(results, method, first_run, ALG_2, field).items():
            name = f"{title}, {column}: seconds of {method} over {ALG_2}, {scope}"
            checks.append(at_least(name, ratio, 10.0, " ×"))
    return checks
