"""Long and wide tables of any dataframe library: their columns, and notes about those detected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.errors import list_names
from blindfuse.responses import frames
from blindfuse.responses.coding import as_names, as_plain_names
from blindfuse.responses.column_names import QUESTION_NAMES, base_name
from blindfuse.responses.detection import ColumnOptions, gold_column, is_long, long_columns
from blindfuse.responses.inputs import Names, Values, as_matrix, stack_columns
from blindfuse.responses.wide_detection import wide_columns
from blindfuse.typing import Array


@dataclass(frozen=True, eq=False)
class LongTable:
    """Columns of items, annotators and responses, with one row per response.

    ``order`` are the categories of a column of ordered categories.
    """

    items: Values
    annotators: Values
    values: Values
    notes: Sequence[str] = ()
    order: Sequence[Any] = ()


@dataclass(frozen=True, eq=False)
class WideTable:
    """``matrix[item, annotator]`` of responses; items and annotators without names are None."""

    matrix: Array
    items: Names | None = None
    annotators: Names | None = None
    notes: Sequence[str] = ()
    order: Sequence[Any] = ()

    def long(self) -> LongTable:
        """Return one row per cell. Items that occur twice are one item."""
        n_items, n_annotators = self.matrix.shape
        items = np.arange(n_items) if self.items is None else self.items
        names = self.annotators
        annotators = np.arange(n_annotators) if names is None else as_names(names)
        return LongTable(
            np.repeat(items, n_annotators),
            np.tile(annotators, n_items),
            self.matrix.reshape(-1),
            self.notes,
            self.order,
        )


def read_frame(frame: Any, named: ColumnOptions, reader: str) -> LongTable | WideTable:
    """Read the columns of a long or a wide frame; ``reader`` is the function that the user called.

    Columns that are not named are detected, and notes say so.
    """
    frame = frames.with_index(frame)
    sample = frames.FrameSample(frame, call=f" to {reader}")
    if is_long(sample, named):
        return _long_table(frame, sample, named)
    found = wide_columns(sample, named, gold_column([sample], named.annotators))
    notes = list(found.notes) if len(found.annotators) < len(sample.columns) else []
    return _wide_table(frame, found.item, found.annotators, [*notes, *_gold_note(found.gold)])


def read_long(frame: Any, named: ColumnOptions, reader: str) -> LongTable:
    """As :func:`read_frame`, of a frame with one row per response."""
    frame = frames.with_index(frame)
    return _long_table(frame, frames.FrameSample(frame, call=f" to {reader}"), named)


def read_wide(frame: Any, item: str | None) -> WideTable:
    """Read a frame with one row per item; all columns but ``item`` are annotators."""
    frame = frames.with_index(frame) if item is not None else frame
    annotators = [name for name in frames.column_names(frame) if name != item]
    return _wide_table(frame, item, annotators)


def read_cells(data: Any, named: ColumnOptions, reader: str) -> LongTable:
    """Read a frame or a matrix ``[item, annotator]`` as one row per response."""
    is_frame = frames.is_frame(data)
    table = read_frame(data, named, reader) if is_frame else WideTable(as_matrix(data))
    return table.long() if isinstance(table, WideTable) else table


def _long_table(frame: Any, sample: frames.FrameSample, named: ColumnOptions) -> LongTable:
    columns = long_columns(sample, named)
    _refuse_questions(sample, columns)
    gold = gold_column([sample], list(columns.values()))
    notes = [*_detection_note(columns, named), *_gold_note(gold)]
    items, annotators, values = frames.columns(frame, list(columns.values()))
    order = frames.category_order(frame, [columns["label"]])
    return LongTable(items, annotators, values, notes, order)


def _wide_table(
    frame: Any, item: str | None, annotators: Sequence[str], notes: Sequence[str] = ()
) -> WideTable:
    """Read these columns. Without an item column, items are the index of pandas, if it names."""
    if item is None:
        items, columns = frames.index_values(frame), frames.columns(frame, annotators)
    else:
        items, *columns = frames.columns(frame, [item, *annotators])
        items = as_plain_names(items)
    order = frames.category_order(frame, annotators)
    return WideTable(stack_columns(columns), items, annotators, notes, order)


def _refuse_questions(table: frames.FrameSample, columns: Mapping[str, str]) -> None:
    """Raise BadLabels if a column says that the items of a long table have several questions."""
    free = [name for name in table.columns if name not in columns.values()]
    for column in (name for name in free if base_name(name) in QUESTION_NAMES):
        item = columns["item"]
        if table.distinct_share([item, column]) > table.distinct_share([item]):
            questions = dict.fromkeys(text for text in table.texts(column) if text is not None)
            raise table.error(
                f"The table contains several questions in column {column!r}: "
                f"{list_names(questions)}. Pass the rows of one of them."
            )


def _detection_note(columns: Mapping[str, str], options: ColumnOptions) -> list[str]:
    """Return a note about columns of other names than the user's or those of their roles."""
    named = (options.item, options.annotator, options.label)
    if all(column in (role, *named) for role, column in columns.items()):
        return []
    found = ", ".join(f"{role} = {column!r}" for role, column in columns.items())
    return [f"read as a long table: {found} (detected)"]


def _gold_note(column: str | None) -> list[str]:
    """Return a note about a column that is not read because its name says gold labels."""
    if column is None:
        return []
    return [f"{column!r} looks like gold labels and is not read: pass them to fuse as gold="]
