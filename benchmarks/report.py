"""A measured section: a table, the figures asked of it, and how they are written down."""

import platform
from dataclasses import dataclass, field
from importlib.metadata import version


@dataclass(frozen=True)
class Check:
    """One figure: what was asked, and what was measured."""

    what: str
    measured: float
    limit: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit

    def __str__(self) -> str:
        sign = "≤" if self.at_most else "≥"
        verdict = "holds" if self.holds else "MISSED"
        return f"{self.what}: {self.measured:.4g} (asked {sign} {self.limit:.4g}) {verdict}"


@dataclass
class Section:
    """One table of measurements with the figures asked of it."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    note: str = ""


def to_text(section: Section) -> str:
    table = [section.header, *section.rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(section.header))]
    lines = ["  ".join(map(str.ljust, row, widths)) for row in table]
    notes = [section.note] if section.note else []
    return "\n".join([f"\n## {section.title}", *lines, *notes, *map(str, section.checks)])


def to_markdown(sections: list[Section], where: str) -> str:
    parts = ["# Benchmarks", f"Written by `make bench`; no number is typed by hand. {where}"]
    for section in sections:
        parts.append(f"## {section.title}")
        rule = ["---"] * len(section.header)
        rows = [section.header, rule, *section.rows]
        parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows))
        if section.note:
            parts.append(section.note)
        if section.checks:
            parts.append("\n".join(f"- {check}" for check in section.checks))
    return "\n\n".join(parts) + "\n"


def environment() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    return (
        f"blindfuse {version('blindfuse')}, Python {platform.python_version()}, {libraries}, "
        f"{platform.machine()}."
    )
