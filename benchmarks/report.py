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


def to_markdown(section: Section) -> str:
    """A section of the page, without its title."""
    rule = ["---"] * len(section.header)
    rows = [section.header, rule, *section.rows]
    parts = ["\n".join("| " + " | ".join(row) + " |" for row in rows)]
    if section.note:
        parts.append(section.note)
    if section.checks:
        parts.append("\n".join(f"- {check}" for check in section.checks))
    return "\n\n".join(parts)


def to_page(sections: dict[str, str], where: str) -> str:
    """The page of these sections by title."""
    head = ["# Benchmarks", f"Written by `make bench`; no number is typed by hand. {where}"]
    parts = [f"## {title}\n\n{text}" for title, text in sections.items()]
    return "\n\n".join([*head, *parts]) + "\n"


def from_page(page: str) -> dict[str, str]:
    """The sections of a page by title."""
    parts = (part.partition("\n\n") for part in page.rstrip("\n").split("\n\n## ")[1:])
    return {title: text for title, _, text in parts}


def environment() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    return (
        f"blindfuse {version('blindfuse')}, Python {platform.python_version()}, {libraries}, "
        f"{platform.machine()}."
    )
