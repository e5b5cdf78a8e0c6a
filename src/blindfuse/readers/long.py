"""Long tables: one row per response, with columns for the item, the annotator and the label."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from blindfuse.readers.nested_values import (
    field_of_objects,
    names_of_objects,
    plain_labels,
    refuse_lists,
)
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses, with_empty_sets
from blindfuse.readers.questions import select_question
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.column_names import QUESTION_NAMES, base_name
from blindfuse.responses.detection import (
    ColumnOptions,
    existing_column,
    gold_column,
    is_long,
    long_columns,
)

NAME = "long"
TITLE = "a long table"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether a label column is named or detected, or an annotator column is detected."""
    return is_long(tables[0], options)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per row, for one question if the table contains several."""
    table, used = tables[0], columns_of_roles(tables, options)
    columns = {role: str(used[role]) for role in ("item", "annotator", "label")}
    question, gold, field = used["question"], used["gold"], _split_path(table, options.label)[1]
    roles = {column: role for role, column in used.items() if column is not None}
    frame, header_notes = load_responses(tables, list(roles))
    frame = frame.rename(roles)
    cells = frame["label"].alias(columns["label"])
    cells = field_of_objects(cells, field) if field else cells
    labels, several, notes = plain_labels(table.name, cells, options.all_choices)
    if options.all_choices:
        labels, empty_notes = with_empty_sets(tables, labels)
        notes = notes + empty_notes
    for role in ("item", "annotator"):
        refuse_lists(table.name, frame[role].alias(columns[role]))
    frame = frame.with_columns(
        *(names_of_objects(frame[role]) for role in ("item", "annotator")), label=labels
    )
    if field:
        columns["label"] = f"{columns['label']}.{field}"
    if question and (options.question is not None or has_several_questions(frame)):
        responses, chosen = select_question(table.name, frame, options)
        columns["question"] = f"{chosen!r} in column {question!r}"
        frame = frame.filter(pl.col("question") == chosen)
    else:
        responses = frame.select("item", "annotator", "label")
    gold_labels = None if gold is None else GoldLabels(frame.select("item", label="gold"), gold)
    return ParsedResponses(
        responses, columns, header_notes + notes, several=several, gold=gold_labels
    )


def columns_of_roles(tables: Sequence[Table], options: ColumnOptions) -> dict[str, str | None]:
    """Return the columns of item, annotator, label, question and gold labels."""
    table = tables[0]
    label, _ = _split_path(table, options.label)
    columns = long_columns(table, replace(options, label=label))
    question = _question_column(table, columns, options)
    gold = gold_column(tables, list(columns.values()))
    return {**columns, "question": question, "gold": gold}


def _split_path(table: Table, label: str | None) -> tuple[str | None, str]:
    """Split ``verdict.grade`` into a column and a field, if there is no column of that name."""
    if label is None or label in table.columns:
        return label, ""
    column, _, field = label.partition(".")
    return (column, field) if field and column in table.columns else (label, "")


def _question_column(table: Table, columns: dict[str, str], options: ColumnOptions) -> str | None:
    free = [column for column in table.columns if column not in columns.values()]
    candidates = [column for column in free if base_name(column) in QUESTION_NAMES]
    if options.question is not None and not candidates:
        return existing_column(table, "question")
    return candidates[0] if candidates else None


def has_several_questions(frame: pl.DataFrame) -> bool:
    """Return whether some item has several questions; otherwise they are texts of the items."""
    return frame.select("item", "question").n_unique() > frame["item"].n_unique()
