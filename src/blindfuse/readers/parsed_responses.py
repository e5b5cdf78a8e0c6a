"""``ParsedResponses``: the responses of a file as text, before they are encoded."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.tables import Table
from blindfuse.responses.notes import count_note


class GoldLabels(NamedTuple):
    """Gold labels found beside the responses.

    ``frame`` has the text columns ``item`` and ``label``; ``column`` is where they were found.
    """

    frame: pl.DataFrame
    column: str


@dataclass
class ParsedResponses:
    """The responses that a reader found.

    Attributes
    ----------
    frame
        text columns ``item``, ``annotator`` and ``label``, one row per response. A response with a
        null label is missing; its item and its annotator, if any, are kept.
    columns
        the column or field that holds the item, the annotator and the label.
    notes
        what the user should know, such as the number of skipped rows.
    abstain
        whether −1 may mark a missing response, as in wide tables of numbers.
    several
        number of responses with several labels, of which the first is used. If sets are read,
        labels are texts of whole sets, such as JSON lists.
    gold
        gold labels in the same file, or None.
    """

    frame: pl.DataFrame
    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)
    abstain: bool = False
    several: int = 0
    gold: GoldLabels | None = None


EMPTY_SET = "[]"
"""The text of an empty set."""


def with_empty_sets(tables: Sequence[Table], label: pl.Series) -> tuple[pl.Series, list[str]]:
    """Replace empty cells of CSV files by the text of an empty set, and return a note.

    Other files can tell null from an empty list, so that null is missing there.
    """
    n_empty = label.null_count()
    if not n_empty or any(table.records is not None for table in tables):
        return label, []
    note = count_note(
        n_empty,
        "empty cell{s} read as empty sets: the annotator named no class. Write NA if the response "
        "is missing",
    )
    return label.fill_null(EMPTY_SET), note


def suggestion_note(count: int, what: str) -> list[str]:
    """Return a note if what models suggested to people is read as responses of annotators."""
    return count_note(
        count,
        f"{what}{{s}} of models read as responses. If annotators saw them, they are not "
        "independent: leave them out",
    )


@contextmanager
def expected_structure(name: str, tool: str) -> Iterator[None]:
    """Raise BadFile where the JSON objects lack the structure that ``tool`` writes."""
    try:
        yield
    except (KeyError, AttributeError, TypeError) as error:
        raise BadFile(
            f"{name} does not have the structure of an export from {tool} ({error!r}). "
            "Export it again, or pass another format=."
        ) from error
