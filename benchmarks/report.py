"""Sections of docs/benchmarks.md: a table, its checks, and their text."""

import csv
import os
import platform
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from statistics import fmean

import altair as alt

MAX_SAME_CHECKS = 1
"""Checks of the same quantity that the page lists one by one."""


class NoData(Exception):
    """The section needs public datasets, and BLINDFUSE_DATA does not name their folder."""


def public_data() -> Path:
    """The folder of public datasets; without it, the section is left out."""
    if "BLINDFUSE_DATA" not in os.environ:
        raise NoData
    return Path(os.environ["BLINDFUSE_DATA"])


@dataclass(frozen=True)
class Check:
    """A measured quantity and its limit. The text after the last colon says which quantity."""

    name: str
    measured: float
    limit: float
    at_most: bool = True

    @property
    def passed(self) -> bool:
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit

    @property
    def quantity(self) -> tuple[str, bool]:
        return self.name.rpartition(": ")[2], self.at_most

    def __str__(self) -> str:
        sign = "≤" if self.at_most else "≥"
        verdict = "passed" if self.passed else "FAILED"
        return f"{self.name}: {self.measured:.4g} (required {sign} {self.limit:.4g}) {verdict}"


@dataclass
class Section:
    """A table of measurements with its checks."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class View:
    """How the page shows a long table: means and ranges of columns over groups of rows.

    ``by`` is the column that groups rows, by its text before a comma, a colon or a number at its
    end; without it, all rows are one group. ``drawn`` is a column to draw by group, with a dot per
    row of the table; then the table has one row.
    """

    by: str
    averaged: tuple[str, ...]
    drawn: str | None = None


def to_text(section: Section) -> str:
    table = [section.header, *section.rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(section.header))]
    lines = ["  ".join(map(str.ljust, row, widths)) for row in table]
    notes = [section.note] if section.note else []
    return "\n".join([f"\n## {section.title}", *lines, *notes, *map(str, section.checks)])


def to_markdown(section: Section, view: View | None = None, figure: str | None = None) -> str:
    """Return a section of the page without its title, with the file name of its figure."""
    header, rows = (section.header, section.rows) if view is None else grouped(section, view)
    lines = [header, ["---"] * len(header), *rows]
    blocks = ["\n".join("| " + " | ".join(row) + " |" for row in lines)]
    if view is not None and figure is not None:
        blocks.append(f"![{view.drawn} by {view.by}](figures/{figure})")
    if section.note:
        blocks.append(section.note)
    if section.checks:
        blocks.append("\n".join(f"- {line}" for line in summarize(section.checks)))
    return "\n\n".join(blocks)


def grouped(section: Section, view: View) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of means, each with the lowest and the highest value."""
    columns = [section.header.index(name) for name in view.averaged]
    name = group_of(section, "" if view.drawn else view.by)
    groups: dict[str, list[list[str]]] = {}
    for row in section.rows:
        groups.setdefault(name(row), []).append(row)
    rows = [
        [group, f"{len(members)}", *(_mean([row[at] for row in members]) for at in columns)]
        for group, members in groups.items()
    ]
    return ["" if view.drawn else view.by, "rows", *view.averaged], rows


def group_of(section: Section, by: str) -> Callable[[list[str]], str]:
    """The name of the group of a row, by the text in this column."""
    if not by:
        return lambda row: "all"
    at = section.header.index(by)
    return lambda row: re.split(r"[:,] | \d+$", row[at])[0]


def _mean(cells: list[str]) -> str:
    """The mean and the range of numbers, with the digits of the first, or the most common text."""
    numbers = [value for cell in cells if (value := number(cell)) is not None]
    if not numbers or len(set(cells)) == 1:
        return Counter(cells).most_common(1)[0][0]
    first = next(cell for cell in cells if number(cell) is not None)
    digits = len(re.sub(r"[^\d.].*", "", first.lstrip("+-")).partition(".")[2])
    three = fmean(numbers), min(numbers), max(numbers)
    return "{} ({} to {})".format(*(f"{value:,.{digits}f}" for value in three))


def number(cell: str) -> float | None:
    """The number at the start of a cell."""
    match = re.match(r"[+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?", cell)
    return float(match.group().replace(",", "")) if match else None


def draw(section: Section, view: View, path: Path) -> None:
    """Draw one column as a dot per row of the table, by group."""
    at, name = section.header.index(view.drawn or ""), group_of(section, view.by)
    values = [{"group": name(row), "value": number(row[at])} for row in section.rows]
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_circle(size=24, opacity=0.5)
        .encode(
            x=alt.X("value:Q", title=view.drawn, scale=alt.Scale(zero=False)),
            y=alt.Y("group:N", title=None, sort=list(dict.fromkeys(map(name, section.rows)))),
        )
        .properties(width=420, height=alt.Step(16))
    )
    chart.save(path)


def summarize(checks: list[Check]) -> list[str]:
    """The checks; of many of the same quantity, how many passed, their range, and those failed."""
    lines: list[str] = []
    ordered = sorted(checks, key=lambda check: [c.quantity for c in checks].index(check.quantity))
    for (quantity, at_most), group in groupby(ordered, key=lambda check: check.quantity):
        same = list(group)
        if len(same) <= MAX_SAME_CHECKS:
            lines += map(str, same)
            continue
        measured, limits = (
            {f"{one:.4g}": one for one in values}
            for values in ([check.measured for check in same], [check.limit for check in same])
        )
        sign = "≤" if at_most else "≥"
        failed = [check for check in same if not check.passed]
        verdict = f"{len(failed)} FAILED" if failed else "all passed"
        lines.append(
            f"{quantity}, {len(same)} checks: {_range(measured)} "
            f"(required {sign} {_range(limits)}) {verdict}"
        )
        lines += map(str, failed)
    return lines


def _range(values: dict[str, float]) -> str:
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return low if low == high else f"{low} to {high}"


def write_table(section: Section, path: Path) -> None:
    """Write the whole table and all checks as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([section.header, *section.rows])
        writer.writerows(["check", str(check)] for check in section.checks)


def to_page(sections: dict[str, str], environment: str) -> str:
    """Return the page with these sections by title."""
    head = ["# Benchmarks", f"Generated by `make bench`. {environment}"]
    blocks = [f"## {title}\n\n{text}" for title, text in sections.items()]
    return "\n\n".join([*head, *blocks]) + "\n"


def from_page(page: str) -> dict[str, str]:
    """Return the sections of a page by title."""
    blocks = (block.partition("\n\n") for block in page.rstrip("\n").split("\n\n## ")[1:])
    return {title: text for title, _, text in blocks}


def environment() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    return (
        f"blindfuse {version('blindfuse')}, Python {platform.python_version()}, {libraries}, "
        f"{platform.machine()}. Whole tables, of which long sections show means and ranges, are "
        "written to `bench/`."
    )
