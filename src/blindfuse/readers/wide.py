"""Wide tables: one row per item, one column per annotator."""

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from blindfuse.errors import BadFile, BadParameter, list_names
from blindfuse.readers.detection import (
    GOLD_NAMES,
    ColumnOptions,
    base_name,
    detect_column,
    existing_column,
    gold_column,
)
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.notes import count_note

NAME = "wide"
TITLE = "a wide table"

_TEXT_NAMES = frozenset(
    [
        "text",
        "sentence",
        "prompt",
        "question",
        "url",
        "image",
        "file",
        "filename",
        "input",
        "comment",
    ]
)
"""Names of columns that describe the item."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return True: any table can be read as a wide table."""
    return True


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per cell; empty cells and abstentions are missing."""
    if options.label is not None or options.question is not None:
        raise BadParameter(
            "The labels of a wide table are in its cells: leave out label= and question=."
        )
    table = tables[0]
    named = _as_list(options.annotator)
    item = _item_column(table, options.item, named)
    annotators, skipped = _annotator_columns(table, item, named)
    gold = gold_column(tables, annotators)
    used = [column for column in (item, gold, *annotators) if column is not None]
    frame = load_columns(tables, used)
    items = pl.Series(range(len(frame))).cast(pl.String) if item is None else frame[item]
    responses = _to_long(frame, items, annotators)
    columns = {
        "item": "row number" if item is None else item,
        "annotator": "column name",
        "label": "cell value",
    }
    reason = "column{s} skipped, because the name suggests a text or gold labels: "
    return ParsedResponses(
        responses,
        columns,
        count_note(len(skipped), reason + list_names(skipped)),
        _abstentions(responses["label"]),
        None
        if gold is None
        else GoldLabels(pl.DataFrame({"item": items, "label": frame[gold]}), gold),
    )


def _as_list(annotator: str | Sequence[str] | None) -> list[str]:
    return [annotator] if isinstance(annotator, str) else [*(annotator or ())]


def _to_long(frame: pl.DataFrame, items: pl.Series, annotators: Sequence[str]) -> pl.DataFrame:
    annotator_of_row = np.repeat(range(len(annotators)), len(frame))
    return pl.DataFrame(
        {
            "item": pl.concat([items] * len(annotators)),
            "annotator": pl.Series(annotators).gather(annotator_of_row),
            "label": pl.concat([frame[name].alias("label") for name in annotators]),
        }
    )


def _item_column(table: Table, named: str | None, annotators: Sequence[str]) -> str | None:
    if named is None and table.columns[0] in ("", "Unnamed: 0"):
        return table.columns[0]
    return detect_column("item", table, named, annotators)


def _annotator_columns(
    table: Table, item: str | None, named: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the annotator columns, and the skipped columns of gold labels and texts."""
    if named:
        return [existing_column(table, name) for name in named], []
    others = [column for column in table.columns if column != item]
    skipped = [column for column in others if base_name(column) in GOLD_NAMES | _TEXT_NAMES]
    annotators = [column for column in others if column not in skipped]
    if not annotators:
        raise BadFile(
            f"{table.name} has no column with labels, only {list_names(table.columns)}. "
            "A wide table needs one column per annotator."
        )
    return annotators, skipped


def _abstentions(labels: pl.Series) -> frozenset[str]:
    """Return the spellings of −1 if all labels are whole numbers, other than only −1 and 1."""
    distinct = labels.drop_nulls().unique().head(100).to_list()
    are_numbers = all(re.fullmatch(r"\s*|-?\d+(\.0)?|(?i:nan)", label) for label in distinct)
    are_signs = {label.strip().removesuffix(".0") for label in distinct} <= {"-1", "1", ""}
    return frozenset(["-1", "-1.0"]) if are_numbers and not are_signs else frozenset()
