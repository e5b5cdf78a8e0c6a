"""What an experiment shows: tables of printed and measured cells, pictures, and figures asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.methods import ROWS
from experiments.running import Measured, Results, Scale
from experiments.tasks import Task

Cell = tuple[str, str]
Columns = Mapping[str, Mapping[str, Any]]
"""Names of columns, and the parameters of the tasks that belong to each."""


@dataclass(frozen=True)
class Table:
    """Cells by row and column, printed and measured.

    ``kind`` says how differences are judged: "synthetic" (by the ratio to ``reference``, the oracle
    of the same column), "time", "crowd" (the same answers as the paper's, so by the error itself),
    or "real" (by the gain over ``reference``, the majority vote).
    """

    title: str
    rows: list[str]
    columns: list[str]
    printed: dict[Cell, float]
    measured: dict[Cell, Measured]
    kind: str
    reference: str = ""
    note: str = ""


@dataclass(frozen=True)
class Check:
    """One figure: what was asked, and what was measured."""

    what: str
    asked: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Picture:
    """A chart with the name of its file and what it shows."""

    name: str
    caption: str
    chart: Any


@dataclass
class Section:
    """All that one experiment shows."""

    name: str
    title: str
    what: str
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """A table or figure: which tasks it needs, and how it shows what they gave."""

    name: str
    title: str
    what: str
    tasks: Callable[[Scale], list[Task]]
    show: Callable[[Results, Scale, Section], None]

    def section(self, results: Results, scale: Scale) -> Section:
        """What it shows of these results."""
        section = Section(self.name, self.title, self.what)
        self.show(results.restricted(self.tasks(scale)), scale, section)
        return section


def at_most(what: str, measured: float, limit: float, unit: str = "") -> Check:
    """A figure that must not exceed a limit."""
    return Check(what, f"≤ {limit:.4g}{unit}", f"{measured:.4g}{unit}", measured <= limit)


def at_least(what: str, measured: float, limit: float, unit: str = "") -> Check:
    """A figure that must reach a limit."""
    return Check(what, f"≥ {limit:.4g}{unit}", f"{measured:.4g}{unit}", measured >= limit)


def cell(results: Results, row: str, field: str, **where: Any) -> Measured | None:
    """What a row of a table has at these parameters; rows by ML have errors of their own."""
    method, error = ROWS.get(row, (row, "error"))
    if field in ("error", "all_error"):
        field = field.replace("error", error)
    return results.measured(field, method=method, **where)


def printed_cells(
    columns: Sequence[str], rows: Mapping[str, Sequence[float | None]]
) -> dict[Cell, float]:
    """The paper's numbers by row and column; None where it prints a dash."""
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
    note: str = "",
) -> Table:
    """A table of methods by columns; columns that were not run are left out."""
    measured, there = {}, []
    for column, where in columns.items():
        found = {row: cell(results, row, field, **where) for row in rows}
        for row, value in found.items():
            if value is not None:
                measured[row, column] = value
        if any(value is not None for value in found.values()):
            there.append(column)
    numbers = {place: value for place, value in printed.items() if place[1] in there}
    return Table(title, list(rows), there, numbers, measured, kind, reference, note)


def points(
    results: Results,
    rows: Sequence[str],
    columns: Mapping[float, Mapping[str, Any]],
    field: str = "error",
    **more: Any,
) -> list[dict[str, Any]]:
    """Points of a chart: ``x``, ``y`` with ``low`` and ``high`` a standard deviation away."""
    found = []
    for x, where in columns.items():
        for row in rows:
            value = cell(results, row, field, **where)
            if value is not None and value.mean > 0:
                low = max(value.mean - value.deviation, value.mean / 10)
                high = value.mean + value.deviation
                high = min(high, 100.0) if field == "error" else high
                found.append(
                    {"x": x, "y": value.mean, "low": low, "high": high, "method": row, **more}
                )
    return found


def ratios(
    results: Results, row: str, columns: Columns, over: str = "Oracle MAP", field: str = "error"
) -> dict[str, float]:
    """The mean of a row over that of another, by column."""
    found = {}
    for column, where in columns.items():
        ours, best = cell(results, row, field, **where), cell(results, over, field, **where)
        if ours is not None and best is not None and best.mean > 0:
            found[column] = ours.mean / best.mean
    return found
