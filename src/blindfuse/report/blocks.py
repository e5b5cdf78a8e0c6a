"""What a page consists of: sections of paragraphs, charts and tables, as dataclasses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from blindfuse.report.names import visible
from blindfuse.result import Paragraph

MAX_PARAGRAPH_LENGTH = 2_000
"""Characters of a paragraph that may list names."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Paragraphs:
    """Texts under headings."""

    kind: ClassVar[str] = "paragraphs"
    paragraphs: Sequence[Paragraph]


@dataclass(frozen=True)
class Key:
    """What the colours of a chart mean; ``bar`` and ``line`` are other shapes of the marks."""

    kind: ClassVar[str] = "key"
    blue: str
    orange: str
    shapes: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification, and a description for screen readers."""

    kind: ClassVar[str] = "chart"
    name: str
    spec: dict[str, Any]
    description: str


@dataclass(frozen=True)
class Table:
    """A table of texts, whose first column names the rows.

    Columns whose heading ends in ``#`` hold numbers and are aligned to the right. A ``folded``
    table is shown when its heading "Numbers" is opened.
    """

    kind: ClassVar[str] = "table"
    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False


@dataclass(frozen=True)
class Listing:
    """A table that readers sort and search: the template ``name.html``, drawn by ``report.js``.

    ``rows`` have equal keys; ``data`` is what the script needs besides. ``caption`` says which of
    all rows the page has.
    """

    kind: ClassVar[str] = "listing"
    name: str
    rows: Sequence[Row]
    caption: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


Block = Text | Paragraphs | Key | Chart | Table | Listing


@dataclass(frozen=True)
class Section:
    """A part of the page: its id, its name in the navigation, its title and what it shows."""

    name: str
    link: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """Everything that the page shows.

    Attributes
    ----------
    kind
        the kind of result: ``labels``, ``sets``, ``numbers`` or ``clusters``.
    size, method, why
        what was fused, by which method and why, as text.
    figures
        the numbers at the top, with their descriptions.
    warnings, paragraphs
        what is a reason to distrust the result, and what else was measured.
    notes
        what the reader of the file detected and skipped.
    classes
        the names that class codes in listings stand for.
    """

    kind: str
    title: str
    size: str
    method: str
    why: str
    figures: tuple[tuple[str, str], ...]
    warnings: tuple[Paragraph, ...]
    paragraphs: tuple[Paragraph, ...]
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    classes: tuple[str, ...] = ()

    def blocks(self, kind: type[Any]) -> list[Any]:
        """Return all blocks of one type."""
        return [
            block for section in self.sections for block in section.blocks if type(block) is kind
        ]


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as text, and a dash for None and NaN."""
    return "–" if share is None or share != share else f"{100 * share:.{digits}f}\u00a0%"


def percent_range(low: float | None, high: float | None, digits: int = 1) -> str:
    """Return an interval of shares as text, and a dash for None and NaN."""
    missing = low is None or high is None or low != low
    return "–" if missing else f"{percent(low, digits)} to {percent(high, digits)}"


def how_many(shown: Sequence[Any], total: int, noun: str, which: str = "") -> str:
    """Return a sentence that says which of all rows are shown; empty if all of them are."""
    if len(shown) == total:
        return ""
    return f" {len(shown):,} of {total:,} {noun}{f': {which}' if which else ''}."


def visible_paragraphs(paragraphs: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """Return paragraphs without control characters, cut to a length that many names have."""
    return tuple(
        Paragraph(each.heading, visible(each.text, MAX_PARAGRAPH_LENGTH), each.warning, each.detail)
        for each in paragraphs
    )
