"""An experiment, and what its section of the page shows: tables, figures and checks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.methods import ROWS
from experiments.results import Results, RunSummary
from experiments.scale import Scale
from experiments.tasks import Task

Cell = tuple[str, str]
Columns = Mapping[str, Mapping[str, Any]]
"""Column names, and the parameters of the tasks in each column."""


@dataclass(frozen=True)
class Table:
    """Printed and measured values by row and column.

    ``kind`` says how the two are compared:

    - "synthetic": by the ratio to ``reference``, the oracle of the same column.
    - "time": by seconds.
    - "crowd": by the error itself, because the responses are those of the paper.
    - "real": by the difference from ``reference``, the majority vote of the same column.
    """

    title: str
    rows: list[str]
    columns: list[str]
    printed: dict[Cell, float]
    measured: dict[Cell, RunSummary]
    kind: str
    reference: str = ""


@dataclass(frozen=True)
class Check:
    """A requirement on a measured quantity, and whether it holds."""

    name: str
    required: str
    measured: str
    passed: bool


@dataclass(frozen=True)
class Figure:
    """A chart with its file name and caption."""

    name: str
    caption: str
    chart: Any


@dataclass
class Section:
    """The part of the page that shows one experiment."""

    name: str
    title: str
    description: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper: the tasks it needs, and a function that fills its section."""

    name: str
    title: str
    description: str
    tasks: Callable[[Scale], list[Task]]
    show: Callable[[Results, Scale, Section], None]

    def section(self, results: Results, scale: Scale) -> Section:
        """Return the section of the page for these results."""
        section = Section(self.name, self.title, self.description)
        self.show(results.restrict_to(self.tasks(scale)), scale, section)
        return section


def at_most(name: str, measured: float, limit: float, unit: str = "") -> Check:
    """Return a check that the quantity does not exceed the limit."""
    return Check(name, f"≤ {limit:.4g}{unit}", f"{measured:.4g}{unit}", measured <= limit)


def at_least(name: str, measured: float, limit: float, unit: str = "") -> Check:
    """Return a check that the quantity reaches the limit."""
    return Check(name, f"≥ {limit:.4g}{unit}", f"{measured:.4g}{unit}", measured >= limit)


def row_summary(results: Results, row: str, field: str, **where: Any) -> RunSummary | None:
    """Return the mean of a table row at these parameters; ML rows read the ML errors."""
    method, error = ROWS.get(row, (row, "error"))
    if field in ("error", "all_error"):
        field = field.replace("error", error)
    return results.summary(field, method=method, **where)


def printed_cells(
    columns: Sequence[str], rows: Mapping[str, Sequence[float | None]]
) -> dict[Cell, float]:
    """Return the paper's numbers by row and column; None stands for a dash."""
    return {
        (row, column): value
        for row, values in rows.items()
        for column, value in zip(columns, values, strict=True)
        if value is not None
    }


def tabulate(
    results: Results,
    title: str,
    rows: Sequence[str],
    columns: Columns,
    printed: Mapping[Cell, float],
    *,
    kind: str,
    field: str = "error",
    reference: str = "",
) -> Table:
    """Return a table of methods by columns, without the columns that were not run."""
    measured = {
        (row, column): summary
        for column, where in columns.items()
        for row in rows
        if (summary := row_summary(results, row, field, **where)) is not None
    }
    run = list(dict.fromkeys(column for _, column in measured))
    printed_run = {cell: value for cell, value in printed.items() if cell[1] in run}
    return Table(title, list(rows), run, printed_run, measured, kind, reference)


def chart_points(
    results: Results,
    rows: Sequence[str],
    columns: Mapping[float, Mapping[str, Any]],
    field: str = "error",
    **more: Any,
) -> list[dict[str, Any]]:
    """Return chart points ``x``, ``y`` with ``low`` and ``high`` one standard deviation away."""
    points = []
    for x, where in columns.items():
        for row in rows:
            value = row_summary(results, row, field, **where)
            if value is not None and value.mean > 0:
                low = max(value.mean - value.deviation, value.mean / 10)
                high = value.mean + value.deviation
                high = min(high, 100.0) if field == "error" else high
                points.append(
                    {"x": x, "y": value.mean, "low": low, "high": high, "method": row, **more}
                )
    return points


def mean_ratios(
    results: Results, row: str, columns: Columns, over: str = "Oracle MAP", field: str = "error"
) -> dict[str, float]:
    """Return the mean of a row divided by that of another row, by column."""
    ratios = {}
    for column, where in columns.items():
        numerator = row_summary(results, row, field, **where)
        denominator = row_summary(results, over, field, **where)
        if numerator is not None and denominator is not None and denominator.mean > 0:
            ratios[column] = numerator.mean / denominator.mean
    return ratios
