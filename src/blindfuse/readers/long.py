"""Long tables: one row per response, with columns for the item, the annotator and the label."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile, BadParameter
from blindfuse.readers.detection import (
    QUESTION_NAMES,
    ColumnOptions,
    base_name,
    detect_column,
    existing_column,
    gold_column,
    require_column,
)
from blindfuse.readers.nested_values import names_of_objects
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.questions import select_question
from blindfuse.readers.tables import Table, load_columns

NAME = "long"
TITLE = "a long table"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether a label column is named or detected, or an annotator column is detected."""
    if options.label is not None:
        return True
    table = tables[0]
    return any(detect_column(role, table, None) is not None for role in ("annotator", "label"))


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per row, for one question if the table contains several."""
    table = tables[0]
    columns = detect_columns(table, options)
    question = _question_column(table, columns, options)
    gold = gold_column(tables, list(columns.values()))
    used = {**columns, "question": question, "gold": gold}
    roles = {column: role for role, column in used.items() if column is not None}
    frame = load_columns(tables, list(roles)).rename(roles)
    frame = frame.with_columns(names_of_objects(frame[role]) for role in ("item", "annotator"))
    if question and (options.question is not None or _has_several_questions(frame)):
        responses, chosen = select_question(table.name, frame, options.question)
        columns["question"] = f"{chosen!r} in column {question!r}"
        frame = frame.filter(pl.col("question") == chosen)
    else:
        responses = frame.select("item", "annotator", "label")
    gold_labels = None if gold is None else GoldLabels(frame.select("item", label="gold"), gold)
    return ParsedResponses(responses, columns, gold=gold_labels)


def detect_columns(table: Table, options: ColumnOptions) -> dict[str, str]:
    """Return the columns of item, annotator and label; no column has two roles."""
    if not isinstance(options.annotator, str | None):
        raise BadParameter("A long table has one annotator column: pass annotator= as text.")
    named = {"annotator": options.annotator, "label": options.label, "item": options.item}
    found: dict[str, str] = {}
    for role, column in named.items():  # detected in this order
        taken = {*filter(None, named.values()), *found.values()}
        found[role] = require_column(role, table, column, taken)
    columns = {role: found[role] for role in ("item", "annotator", "label")}
    if len(set(columns.values())) < 3:
        raise BadFile(
            f"{table.name}: one column cannot have two of the roles {columns}. "
            "Name three different columns."
        )
    return columns


def _question_column(table: Table, columns: dict[str, str], options: ColumnOptions) -> str | None:
    free = [column for column in table.columns if column not in columns.values()]
    candidates = [column for column in free if base_name(column) in QUESTION_NAMES]
    if options.question is not None and not candidates:
        return existing_column(table, "question")
    return candidates[0] if candidates else None


def _has_several_questions(frame: pl.DataFrame) -> bool:
    """Return whether some item has several questions; otherwise they are texts of the items."""
    return frame.select("item", "question").n_unique() > frame["item"].n_unique()
