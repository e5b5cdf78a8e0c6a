"""What a page consists of: sections of paragraphs, charts and tables, and how values are shown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from blindfuse.errors import capitalize
from blindfuse.metrics import Interval
from blindfuse.result import Paragraph

MAX_NAME_LENGTH, MAX_PARAGRAPH_LENGTH = 120, 2_000
"""Characters that are shown of a name, and of a paragraph that may list names."""

_VISIBLE = {
    **{code: 0x2400 + code for code in range(0x20)},  # Unicode's pictures of control characters
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((0x2028, 0x2029), 0x2424),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),  # lone surrogates cannot be written as UTF-8
}

Row = dict[str, Any]


class Field(NamedTuple):
    """A field of rows, as a column of a table and an entry of a chart's tooltip.

    ``format`` is one of those that Python and Vega share, such as ``.1%``; empty for text, and
    ``#`` for a text that is aligned like a number. An interval is from ``name`` to ``to``.
    """

    name: str
    title: str
    format: str = ""
    to: str = ""

    @property
    def heading(self) -> str:
        """The title as the heading of a column."""
        return capitalize(self.title)

    def show(self, row: Mapping[str, Any]) -> str:
        """Return the value in a row as text, and a dash for None."""
        value = row[self.name]
        if value is None:
            return "–"
        text = str(value) if self.format in ("", "#") else format(value, self.format)
        if self.to:
            text = f"{text.removesuffix('%')} to {format(row[self.to], self.format)}"
        return text.replace("%", "\u00a0%") if self.format.endswith("%") else text


def remark(row: Row, flags: Mapping[str, str]) -> str:
    """Return what is remarkable about an annotator: its flag, as a text, and its group."""
    group = row.get("dependent_group")
    remarks = flags.get(row.get("flag", ""), ""), f"dependent group {group}" if group else ""
    return ", ".join(filter(None, remarks))


def interval_fields(name: str, title: str, format: str, level: str = "95 %") -> tuple[Field, ...]:
    """Return the fields of a column with its interval, in ``name_low`` and ``name_high``."""
    return Field(name, title, format), Field(
        f"{name}_low", f"{level} interval", format, f"{name}_high"
    )


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Key:
    """What the colours of a chart mean; ``bar`` and ``line`` are other shapes of the marks."""

    kind: ClassVar[str] = "key"
    blue: str
    orange: str
    shapes: tuple[str, str] = ("", "")


REMARK_KEY = Key("no remarks", "with remarks")


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification, and a description for screen readers."""

    kind: ClassVar[str] = "chart"
    name: str
    spec: dict[str, Any]
    description: str


@dataclass(frozen=True)
class Table:
    """A table whose first column names the rows.

    A ``folded`` table is shown when its heading "Numbers" is opened.
    """

    kind: ClassVar[str] = "table"
    caption: str
    fields: Sequence[Field]
    rows: Sequence[Row]
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


Block = Text | Key | Chart | Table | Listing


@dataclass(frozen=True)
class Section:
    """A part of the page: its name in the navigation, which is its id, its title and blocks."""

    name: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """Everything that the page shows.

    ``figures`` are the numbers at the top with their descriptions, ``warnings`` reasons to distrust
    the result, and ``notes`` what the reader of the file detected and skipped.
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

    def blocks(self, kind: type[Any]) -> list[Any]:
        """Return all blocks of one type."""
        return [
            block for section in self.sections for block in section.blocks if type(block) is kind
        ]


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as text, and a dash for None and NaN."""
    return "–" if share is None or share != share else f"{100 * share:.{digits}f}\u00a0%"


def coefficient(name: str, agreement: Interval) -> tuple[str, str]:
    """Return a coefficient of agreement as a number at the top of the page."""
    return f"{agreement.value:.2f}", f"{name} ({agreement.low:.2f} to {agreement.high:.2f})"


def how_many(shown: Sequence[Any], total: int, noun: str, which: str = "") -> str:
    """Return a sentence that says which of all rows are shown; empty if all of them are."""
    if len(shown) == total:
        return ""
    return f" Shown are {len(shown):,} of {total:,} {noun}{f': {which}' if which else ''}."


def visible(name: object, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return a name as text, with visible control characters, cut to ``max_length``.

    Direction marks are kept: the page isolates each name in an element of its own.
    """
    text = str(name)
    if not text.strip():
        return "(empty)"
    short = text if len(text) <= max_length else f"{text[: max_length - 1]}…"
    return short.translate(_VISIBLE)


def distinct_names(names: Iterable[object], max_length: int = MAX_NAME_LENGTH) -> list[str]:
    """Return visible names and number those that look alike, since charts identify by name."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        text = visible(name, max_length)
        seen[text] += 1
        distinct.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return distinct


def visible_paragraphs(paragraphs: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """Return paragraphs without control characters, cut to a length that many names have."""
    return tuple(
        replace(each, text=visible(each.text, MAX_PARAGRAPH_LENGTH)) for each in paragraphs
    )
