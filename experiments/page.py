"""docs/reproduction.md: everything that was measured, beside what the paper prints."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from blindfuse.files import beside, write_whole
from experiments.differences import differences, reproduced
from experiments.methods import SAID_OF
from experiments.outcome import Check, Section, Table
from experiments.running import Measured, Results, Scale

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "altair")
HOURS, MEMORY, MINUTES = 3.0, 4.0, 5.0
"""A full reproduction takes at most so many hours and GiB, a quick one so many minutes."""


def write_page(
    path: Path,
    sections: Sequence[Section],
    results: Results,
    scale: Scale,
    left_out: dict[str, str],
) -> None:
    """Write the page, and its pictures into a folder beside it, each whole or not at all."""
    pictures = path.parent / "figures"
    pictures.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for picture in section.pictures:
            with beside(pictures / f"{picture.name}.svg") as (place,):
                picture.chart.save(place, format="svg")
    write_whole(path, to_markdown(sections, results, scale, left_out).encode())


def to_markdown(
    sections: Sequence[Section], results: Results, scale: Scale, left_out: dict[str, str]
) -> str:
    """The whole page as text."""
    costs = cost_checks(results, scale)
    parts = [_head(results, scale, left_out), _summary(sections, costs), *map(_section, sections)]
    return "\n\n".join(part for part in parts if part) + "\n"


def cost_checks(results: Results, scale: Scale) -> list[Check]:
    """What all of it took."""
    spent = sum(float(found.get("spent", 0)) for found in results.found.values())
    peak = max((float(found.get("memory", 0)) for found in results.found.values()), default=0.0)
    if scale.name == "full":
        took = Check("All: hours", f"≤ {HOURS:.0f}", f"{spent / 3600:.2f}", spent / 3600 <= HOURS)
    else:
        took = Check("All: minutes", f"≤ {MINUTES:.0f}", f"{spent / 60:.1f}", spent / 60 <= MINUTES)
    return [
        took,
        Check("All: peak memory in GiB", f"≤ {MEMORY:.0f}", f"{peak:.2f}", peak <= MEMORY),
    ]


def _head(results: Results, scale: Scale, left_out: dict[str, str]) -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [
        "# The paper, reproduced",
        "Written by `blindfuse reproduce`; no number is typed by hand but the paper's own. Each "
        "cell has **printed → measured ± standard deviation** over Monte Carlo runs; a dash is a "
        "number that the paper does not print. The paper's figures are pictures without numbers: "
        "their tables have measured numbers only.",
        "Each seed draws annotators of its own, the same for every number of items, as the "
        "paper's oracles suggest, which hardly move with N. Skill says how they are drawn.",
        f"Scale: {scale.name}; Monte Carlo runs {scale.runs}, seeds from 0; at most "
        f"{scale.most_items:,} items; {len(results.found):,} results. blindfuse "
        f"{version('blindfuse')}, Python {platform.python_version()}, {libraries}; "
        f"{platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory.",
        _fewer_runs(scale),
        *(f"**Left out: {source}.** {reason}" for source, reason in left_out.items()),
        "Names of methods:\n\n"
        + "\n".join(f"- **{name}** — {said}." for name, said in SAID_OF.items()),
    ]
    return "\n\n".join(filter(None, lines))


def _fewer_runs(scale: Scale) -> str:
    fewer = [f"{name} ({runs})" for name, runs in scale.trained.items() if runs < scale.runs]
    if not fewer:
        return ""
    return (
        f"Some sets of Table VIII have fewer runs, because training and asking their classifiers "
        f"takes minutes a run: {', '.join(fewer)}."
    )


def _summary(sections: Sequence[Section], costs: Sequence[Check]) -> str:
    checks = [*costs, *(check for section in sections for check in section.checks)]
    missed = [check for check in checks if not check.holds]
    parts = [
        "## Figures asked",
        f"{len(checks) - len(missed)} of {len(checks)} hold; each is with its experiment below.",
        _check_table(costs),
    ]
    if missed:
        parts += ["Missed:", _check_table(missed)]
    return "\n\n".join(parts)


def _check_table(checks: Sequence[Check]) -> str:
    rows = ["| figure | asked | measured | |", "|---|---|---|---|"]
    rows += [
        f"| {check.what} | {check.asked} | {check.measured} | "
        f"{'holds' if check.holds else '**missed**'} |"
        for check in checks
    ]
    return "\n".join(rows)


def _section(section: Section) -> str:
    parts = [f"## {section.title}", section.what]
    parts += [
        f"![{picture.caption}](figures/{picture.name}.svg)\n\n*{picture.caption}*"
        for picture in section.pictures
    ]
    for table in section.tables:
        parts += [f"### {section.title}: {table.title}", table_text(table), _differing(table)]
    parts += section.notes
    if section.checks:
        parts.append(_check_table(section.checks))
    return "\n\n".join(filter(None, parts))


def table_text(table: Table) -> str:
    """The table in Markdown, one cell after the other: printed → measured."""
    lines = ["| | " + " | ".join(table.columns) + " |", "|---|" + "---|" * len(table.columns)]
    for row in table.rows:
        cells = [cell_text(table, row, column) for column in table.columns]
        if any(cell != "" for cell in cells):
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell_text(table: Table, row: str, column: str) -> str:
    """One cell: ``printed → measured ± deviation``, or what there is of it."""
    printed, measured = table.printed.get((row, column)), table.measured.get((row, column))
    if printed is None and measured is None:
        return ""
    if not table.printed:
        return "" if measured is None else number(measured)
    left = "–" if printed is None else f"{printed:g}"
    return f"{left} → {'–' if measured is None else number(measured)}"


def number(measured: Measured) -> str:
    """The mean with the digits that it deserves, and the deviation where there is one."""
    digits = 2 if abs(measured.mean) >= 1 else 3 if abs(measured.mean) >= 0.1 else 4
    text = f"{measured.mean:.{digits}f}"
    return f"{text} ± {measured.deviation:.{digits}f}" if measured.runs > 1 else text


def _differing(table: Table) -> str:
    if not table.printed:
        return ""
    same = reproduced(table)
    found = differences(table, os.cpu_count() or 1)
    lines = [
        f"- **{one.row}** is {'better' if one.better else 'worse'} than printed at "
        f"{'; '.join(one.cells)}. {one.why}"
        for one in found
    ]
    judged = {
        "time": "seconds",
        "synthetic": "the ratio to the oracle of the same column",
        "crowd": "points",
        "real": "the distance to the majority vote of the same column",
    }[table.kind]
    first = f"Reproduced, judged by {judged}: {same} of {len(table.printed)} printed cells."
    return "\n".join([f"{first} Where we differ:", "", *lines]) if lines else first
