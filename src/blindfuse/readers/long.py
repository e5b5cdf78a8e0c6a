"""Long tables: one row per response, with columns for the item, the annotator and the label."""

from collections.abc import Sequence

import polars as pl

from blindfuse.readers.reader import (
    ParsedResponses,
    names_of_objects,
    refuse_lists,
    select_question,
)
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.column_names import QUESTION_NAMES, base_name
from blindfuse.responses.detection import (
    ColumnOptions,
    existing_column,
    gold_column,
    is_long,
    long_columns,
)

TITLE = "a long table"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether a label column is named or detected, or an annotator column is detected."""
    return is_long(tables[0], options)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per row, for one question if the table contains several."""
    name, used = tables[0].name, columns_of_roles(tables, options)
    columns = {role: used[role] for role in ("item", "annotator", "label")}
    frame, notes = load_responses(tables, list(used.values()))
    frame = frame.rename({column: role for role, column in used.items()})
    for role in ("item", "annotator"):
        refuse_lists(name, frame[role].alias(columns[role]))
        frame = frame.with_columns(names_of_objects(frame[role]))
    responses = frame.select("item", "annotator", "label")
    if "question" in used and (options.question is not None or has_several_questions(frame)):
        responses, question = select_question(name, frame, options)
        columns["question"] = f"{question!r} in column {used['question']!r}"
        frame = frame.filter(question=question)
    gold = frame.select("item", pl.col("gold").alias(used["gold"])) if "gold" in used else None
    return ParsedResponses(responses, columns, notes, empty_cells_are_sets=True, gold=gold)


def columns_of_roles(tables: Sequence[Table], options: ColumnOptions) -> dict[str, str]:
    """Return the columns of item, annotator and label, and of question and gold labels, if any."""
    columns = long_columns(tables[0], options)
    others = {
        "question": _question_column(tables[0], columns, options),
        "gold": gold_column(tables, list(columns.values())),
    }
    return {**columns, **{role: column for role, column in others.items() if column is not None}}


def _question_column(table: Table, columns: dict[str, str], options: ColumnOptions) -> str | None:
    free = [column for column in table.columns if column not in columns.values()]
    candidates = [column for column in free if base_name(column) in QUESTION_NAMES]
    if options.question is not None and not candidates:
        return existing_column(table, "question")
    return candidates[0] if candidates else None


def has_several_questions(frame: pl.DataFrame | pl.LazyFrame) -> bool:
    """Return whether some item has several questions; otherwise they are texts of the items."""
    pairs, items = pl.struct("item", "question").n_unique(), pl.col("item").n_unique()
    return bool(frame.lazy().select(pairs > items).collect().item())
