"""``Reader``: what a format module provides, and what it returns."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import polars as pl

from blindfuse.errors import BadFile, list_names, suggest
from blindfuse.readers.nested_values import (
    field_of_objects,
    first_labels,
    name_of,
    plain_labels,
    set_text,
)
from blindfuse.readers.tables import Table, cell_text, is_categorical
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.notes import count_note

EMPTY_SET = "[]"
"""The text of an empty set."""


@dataclass
class ParsedResponses:
    """The responses that a reader found, as text.

    Attributes
    ----------
    frame
        text columns ``item``, ``annotator`` and ``label``, one row per response. A label may be the
        text of a JSON list or object. A response with a null label is missing; its item and its
        annotator, if any, are kept.
    columns
        the column or field that holds the item, the annotator and the label.
    notes
        what the user should know, such as the number of skipped rows.
    abstain
        whether −1 may mark a missing response, as in wide tables of numbers.
    empty_cells_are_sets
        whether an empty cell of a CSV file is an empty set, if sets are read.
    gold
        gold labels in the same file: the column ``item``, and the one they were found in.
    """

    frame: pl.DataFrame
    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)
    abstain: bool = False
    empty_cells_are_sets: bool = False
    gold: pl.DataFrame | None = None


class Reader(Protocol):
    """A file format. A module that defines these names is a reader; see ``reading.READERS``.

    Attributes
    ----------
    TITLE
        the format as notes name it, as in "read as a long table".
    """

    TITLE: str

    def recognizes(self, tables: Sequence[Table], options: ColumnOptions) -> bool:
        """Return whether the tables look like this format."""

    def read(self, tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
        """Return the responses in the tables, which come from one or several files."""


def parse(reader: Reader, tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses in the tables, with plain labels in place of lists and objects.

    If sets are read, labels stay as they are, and empty cells of CSV files are empty sets; other
    files can tell null from an empty list.
    """
    options, field = split_path(tables[0], options)
    parsed = reader.read(tables, options)
    labels, notes = parsed.frame["label"], list[str]()
    if field:
        parsed.columns["label"] += f".{field}"
        labels = field_of_objects(labels, field)
    if not options.all_choices:
        labels, notes = plain_labels(tables[0].name, labels.alias(parsed.columns["label"]))
        if parsed.gold is not None:
            parsed.gold = parsed.gold.with_columns(first_labels(parsed.gold.to_series(1)))
    elif parsed.empty_cells_are_sets and all(table.records is None for table in tables):
        notes = count_note(
            labels.null_count(),
            "empty cell{s} read as empty sets: the annotator named no class. Write NA if the "
            "response is missing",
        )
        labels = labels.fill_null(EMPTY_SET)
    parsed.frame = parsed.frame.with_columns(label=labels)
    parsed.notes += notes
    return parsed


def split_path(table: Table, options: ColumnOptions) -> tuple[ColumnOptions, str]:
    """Split a label such as ``verdict.grade`` into a column and a field of the objects in it."""
    column, _, field = (options.label or "").partition(".")
    if field and options.label not in table.columns and column in table.columns:
        return replace(options, label=column), field
    return options, ""


# Formats of nested JSON

Row = tuple[str | None, Any, Any, Any]
"""Question, item, annotator, label. A row without a question only declares its item."""


def frame_of_rows(rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows with values of any type as text; labels that are lists or objects become JSON."""
    cells = [[*map(name_of, names), _label_text(label)] for *names, label in rows]
    schema = dict.fromkeys(("question", "item", "annotator", "label"), pl.String)
    return pl.DataFrame(cells, schema=schema, orient="row")


def _label_text(label: Any) -> str | None:
    if isinstance(label, list):
        return set_text(label)
    return cell_text(label) if isinstance(label, dict) else name_of(label)


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


def suggestion_note(count: int, what: str) -> list[str]:
    """Return a note if what models suggested to people is read as responses of annotators."""
    return count_note(
        count,
        f"{what}{{s}} of models read as responses. If annotators saw them, they are not "
        "independent: leave them out",
    )


# Several questions about each item


def select_question(
    name: str, frame: pl.DataFrame, options: ColumnOptions
) -> tuple[pl.DataFrame, str]:
    """Return the responses to one question, and the question.

    That is the question the user named, the only one, or the only one with categorical labels.
    Items without a response to it are kept, with a null annotator and a null label.
    """
    question = options.question
    if question is None or not options.question_exists:
        asked = frame["question"].drop_nulls().unique(maintain_order=True).to_list()
        question = _choose_question(name, frame, asked, question)
    numbered = frame.with_row_index("row")
    responses = numbered.filter(question=question)
    others = numbered.join(responses, on="item", how="anti").unique("item", keep="first")
    rows = pl.concat([responses, others.select("row", "item")], how="diagonal").sort("row")
    return rows.select("item", "annotator", "label"), question


def _choose_question(
    name: str, frame: pl.DataFrame, questions: Sequence[str], named: str | None
) -> str:
    if named is not None:
        check_question(name, named, questions)
        return named
    if not questions:
        raise BadFile(
            f"{name} contains no response that names a class, so there is nothing to fuse. "
            "Export the results of a classification task."
        )
    categorical = [
        question
        for question in questions
        if len(questions) == 1 or is_categorical(frame.filter(question=question)["label"])
    ]
    if len(categorical) != 1:
        raise BadFile(several_questions(name, questions))
    return categorical[0]


def check_question(name: str, question: str, questions: Sequence[str]) -> None:
    """Raise BadFile if the question is not among those of the file."""
    if question not in questions:
        raise BadFile(f"{name} has no question {question!r}: {suggest(question, questions)}")


def several_questions(name: str, questions: Sequence[str]) -> str:
    """Return the message for a file with several questions, none of which is chosen."""
    return (
        f"{name} contains several questions: {list_names(questions)}. "
        f"Pass question=, as in question={questions[0]!r}."
    )


def question_column(
    table: Table, candidates: Sequence[str], prefix: str, options: ColumnOptions
) -> str:
    """Return the label column of one question, where each question has a column of its own.

    That is the one the user named, with or without ``prefix``; the only candidate; or the only
    candidate with categorical labels.
    """
    wanted = options.label if options.label is not None else options.question
    if wanted is not None:
        column = prefix + wanted.removeprefix(prefix)
        if column in candidates or not candidates:
            return existing_column(table, column)
        raise BadFile(f"{table.name} has no question {wanted!r}: {suggest(column, candidates)}")
    if not candidates:
        raise BadFile(
            f"{table.name} has no column {prefix + '…'!r} with labels. Name one with label=."
        )
    if len(candidates) == 1:
        return candidates[0]
    categorical = [column for column in candidates if is_categorical(table.sample[column])]
    if len(categorical) == 1:
        return categorical[0]
    questions = [column.removeprefix(prefix) for column in categorical or candidates]
    raise BadFile(several_questions(table.name, questions))
