"""Wide tables: one row per item, one column per annotator."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from blindfuse.errors import BadParameter
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import ColumnOptions, wide_columns

NAME = "wide"
TITLE = "a wide table"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return True: any table can be read as a wide table."""
    return True


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per cell; empty cells and abstentions are missing."""
    if options.label is not None or options.question is not None:
        raise BadParameter(
            "The labels of a wide table are in its cells: leave out label= and question=."
        )
    found = wide_columns(tables, options)
    item, gold = found.item, found.gold
    used = [column for column in (item, gold, *found.annotators) if column is not None]
    frame = load_columns(tables, used)
    items = pl.Series(range(len(frame))).cast(pl.String) if item is None else frame[item]
    return ParsedResponses(
        _to_long(frame, items, found.annotators),
        {
            "item": "row number" if item is None else item,
            "annotator": "column name",
            "label": "cell value",
        },
        found.notes,
        abstain=True,
        gold=None
        if gold is None
        else GoldLabels(pl.DataFrame({"item": items, "label": frame[gold]}), gold),
    )


def _to_long(frame: pl.DataFrame, items: pl.Series, annotators: Sequence[str]) -> pl.DataFrame:
    annotator_of_row = np.repeat(range(len(annotators)), len(frame))
    return pl.DataFrame(
        {
            "item": pl.concat([items] * len(annotators)),
            "annotator": pl.Series(annotators).gather(annotator_of_row),
            "label": pl.concat([frame[name].alias("label") for name in annotators]),
        }
    )
