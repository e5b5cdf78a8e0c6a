"""Wide tables: one row per item, one column per annotator."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import polars as pl

from blindfuse.errors import BadFile, BadParameter
from blindfuse.readers.nested_values import plain_labels
from blindfuse.readers.reader import ParsedResponses
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.coding import MAX_CLASSES
from blindfuse.responses.detection import SAMPLE_ROWS, ColumnOptions, gold_column
from blindfuse.responses.notes import sum_notes
from blindfuse.responses.wide_detection import transposed_note, wide_candidates, wide_columns

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
    table, gold = tables[0], gold_column(tables, options.annotators)
    named, candidates = wide_candidates(table, options)
    wanted = [*filter(None, (named, gold)), table.columns[0], *candidates]
    frame, header_notes = load_responses(tables, wanted)
    label_notes: dict[str, list[str]] = {}
    if len(candidates) > 1 and not options.all_choices:
        for name in candidates:
            with suppress(BadFile):  # objects without a clear label: not an annotator
                labels, label_notes[name] = plain_labels(table.name, frame[name])
                frame = frame.with_columns(labels)
    found = wide_columns(_LoadedTable(table, frame), options, gold)
    items = (
        pl.int_range(len(frame), eager=True).cast(pl.String)
        if found.item is None
        else frame[found.item]
    )
    notes = sum_notes(note for name in found.annotators for note in label_notes.get(name, ()))
    columns = {"item": "row number" if found.item is None else found.item}
    return ParsedResponses(
        pl.concat(
            frame.select(item=items, annotator=pl.lit(name), label=pl.col(name))
            for name in found.annotators
        ),
        {**columns, "annotator": "column name", "label": "cell value"},
        [
            *header_notes,
            *transposed_note(len(found.annotators), len(frame)),
            *found.notes,
            *notes,
        ],
        abstain=True,
        gold=None if found.gold is None else pl.DataFrame([items.alias("item"), frame[found.gold]]),
    )
