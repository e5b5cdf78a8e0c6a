"""Wide tables: one row per item, one column per annotator."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from blindfuse.errors import BadFile, BadParameter
from blindfuse.readers.nested_values import plain_labels
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.coding import MAX_CLASSES
from blindfuse.responses.detection import SAMPLE_ROWS, ColumnOptions, gold_column
from blindfuse.responses.wide_detection import transposed_note, wide_candidates, wide_columns

NAME = "wide"
TITLE = "a wide table"


@dataclass(frozen=True)
class _LoadedTable:
    """A table whose candidate columns were loaded, so that detection sees all rows."""

    table: Table
    frame: pl.DataFrame

    error = Table.error
    call = Table.call

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def columns(self) -> list[str]:
        return self.table.columns

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def texts(self, column: str) -> list[str | None]:
        """Return the first rows of a column."""
        if column not in self.frame.columns:
            return self.table.texts(column)
        return self.frame[column].head(SAMPLE_ROWS).to_list()

    def value_counts(self, column: str) -> dict[str, int] | None:
        """Count the distinct values of a column; None if there are too many classes."""
        values = self.frame[column].drop_nulls()
        if values.n_unique() > MAX_CLASSES:
            return None
        return dict(values.value_counts().iter_rows())

    def is_unique(self, column: str) -> bool:
        """Return whether every row has another value, and none is null."""
        values = self.frame[column]
        return values.n_unique() == len(values) and not values.null_count()

    def distinct_share(self, columns: Sequence[str]) -> float:
        """Return the number of distinct rows of these columns, relative to all rows."""
        return self.frame.select(columns).n_unique() / max(len(self.frame), 1)


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return True: any table can be read as a wide table."""
    return True


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per cell; empty cells and abstentions are missing."""
    if options.label is not None or options.question is not None:
        raise BadParameter(
            "The labels of a wide table are in its cells: leave out label= and question=."
        )
    gold = gold_column(tables, options.annotators)
    named, candidates = wide_candidates(tables[0], options)
    wanted = [*filter(None, (named, gold)), tables[0].columns[0], *candidates]
    frame, header_notes = load_responses(tables, wanted)
    frame, several = _with_plain_labels(tables[0], frame, candidates, options)
    found = wide_columns(_LoadedTable(tables[0], frame), options, gold)
    item, gold = found.item, found.gold
    items = pl.Series(range(len(frame))).cast(pl.String) if item is None else frame[item]
    return ParsedResponses(
        _to_long(frame, items, found.annotators),
        {
            "item": "row number" if item is None else item,
            "annotator": "column name",
            "label": "cell value",
        },
        [*header_notes, *transposed_note(len(found.annotators), len(frame)), *found.notes],
        several=sum(several.get(name, 0) for name in found.annotators),
        abstain=True,
        gold=None
        if gold is None
        else GoldLabels(pl.DataFrame({"item": items, "label": frame[gold]}), gold),
    )


def _with_plain_labels(
    table: Table, frame: pl.DataFrame, columns: Sequence[str], options: ColumnOptions
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Replace JSON in cells by the label it contains, and count cells with several labels.

    Columns without a clear label stay as they are, and are no annotators.
    """
    several: dict[str, int] = {}
    if len(columns) < 2:  # may be objects with an item and an annotator of their own
        return frame, several
    for name in columns:
        try:
            labels, several[name], _ = plain_labels(table.name, frame[name], options.all_choices)
        except BadFile:
            continue
        frame = frame.with_columns(labels.alias(name))
    return frame, several


def _to_long(frame: pl.DataFrame, items: pl.Series, annotators: Sequence[str]) -> pl.DataFrame:
    annotator_of_row = np.repeat(range(len(annotators)), len(frame))
    return pl.DataFrame(
        {
            "item": pl.concat([items] * len(annotators)),
            "annotator": pl.Series(annotators).gather(annotator_of_row),
            "label": pl.concat([frame[name].alias("label") for name in annotators]),
        }
    )
