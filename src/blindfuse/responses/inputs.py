"""What tables of labels, sets and numbers are read from: columns, matrices and frames."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, list_names
from blindfuse.kernels.threads import map_threads
from blindfuse.responses import frames
from blindfuse.responses.coding import (
    CodedNames,
    as_column,
    as_names,
    as_plain_names,
    as_values,
    check_equal_lengths,
    code_names,
)
from blindfuse.responses.column_names import QUESTION_NAMES, base_name
from blindfuse.responses.comparison_detection import refuse_comparisons
from blindfuse.responses.detection import ColumnOptions, gold_column, is_long, long_columns
from blindfuse.responses.scalars import key_value, name_key
from blindfuse.responses.values import LabelOptions
from blindfuse.responses.wide_detection import wide_candidates, wide_columns
from blindfuse.typing import Array

Names = Sequence[Any] | Array
Values = ArrayLike | Sequence[Any]


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


def code_columns(
    items: Any, annotators: Any, responses: Sized, noun: str
) -> tuple[CodedNames, CodedNames]:
    """Return the codes of the items and the annotators of a long table with these responses."""
    columns = [as_column(frames.values(column)) for column in (items, annotators)]
    check_equal_lengths({"items": columns[0], "annotators": columns[1], noun: responses})
    kinds = "item", "annotator"

    def code(first: int, last: int) -> list[CodedNames]:
        return [code_names(columns[at], kinds[at]) for at in range(first, last)]

    item, annotator = chain.from_iterable(map_threads(code, 2, None, 1))
    return item, annotator


def row_description(row: int) -> str:
    """Name a row of a long table, for errors."""
    return f"row {row}"


def label_options(
    classes: Names | None, missing: Any, keep_na: bool, fold_case: bool, abstain: bool = False
) -> LabelOptions:
    """Return what the user says about labels; ``missing`` is one value or several."""
    several = isinstance(missing, list | tuple | set | frozenset)
    markers = tuple(missing) if several else (missing,)
    names = None if classes is None else as_names(classes).tolist()
    both = {name_key(one) for one in markers} & {name_key(name) for name in names or ()} - {None}
    if both:
        raise BadLabels(
            f"{list_names(map(key_value, both))} is both a class and the missing marker. "
            "Pass another value as missing=."
        )
    return LabelOptions(names, markers, keep_na, fold_case, abstain)


def as_matrix(array: Any) -> Array:
    """Convert to a two-dimensional array; an error names the first row of another length.

    Masked entries become None.
    """
    if frames.is_frame(array):
        return stack_columns(frames.columns(array, frames.column_names(array)))
    try:
        matrix = as_values(array)
    except ValueError:  # rows that are arrays of different shapes
        matrix = np.fromiter(array, dtype=object)
    is_arrow = hasattr(array, "__arrow_c_stream__")  # rows whose columns differ in meaning
    if matrix.ndim == 2 and matrix.shape[1] and not is_arrow:
        return matrix
    widths = [_width(row) for row in matrix.tolist()] if matrix.ndim == 1 else []
    for row, width in enumerate(widths):
        if width != widths[0]:
            raise BadLabels(
                f"Row {row} has {width} labels, but row 0 has {widths[0]}. Every row needs one "
                "entry per annotator; use the missing marker for missing responses."
            )
    is_array = isinstance(array, np.ndarray | list | tuple)
    given = f"an array of shape {matrix.shape}" if is_array else f"a {type(array).__name__}"
    raise BadLabels(f"Expected a matrix [item, annotator], not {given}. {frames.HOW_TO_PASS}")


def _width(row: Any) -> int:
    try:
        return 1 if isinstance(row, str) else len(row)
    except TypeError:
        return 1


def stack_columns(columns: list[Array]) -> Array:
    """Stack columns into a matrix, of objects if their types differ, to keep True and 1 apart."""
    if not columns:
        raise BadLabels("The wide table has no annotator column. Pass one column per annotator.")
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)


def cell_description(annotators: Array) -> Callable[[int], str]:
    """Return a function that names a cell of a flat matrix ``[item, annotator]``, for errors."""

    def describe(at: int) -> str:
        row, column = divmod(at, len(annotators))
        return f"row {row}, column {list_names(annotators[[column]])}"

    return describe


def names_or_numbers(names: Names | None, count: int, kind: str) -> Array:
    """Return the names of rows or columns, which must be unique; by default numbers from 0."""
    if names is None:
        return np.arange(count)
    array = as_names(names)
    if len(array) != count:
        raise BadLabels(
            f"{kind}= has {len(array):,} names, but the matrix has {count:,} {kind}. "
            "Pass one name each."
        )
    codes, distinct, _ = code_names(array, kind[:-1], plain=False)
    if len(distinct) < count:
        repeated = distinct[np.bincount(codes) > 1]
        raise BadLabels(
            f"{kind}= contains {list_names(repeated)} more than once. Names must be unique."
        )
    return array


# Frames


def read_frame(frame: Any, named: ColumnOptions, reader: str) -> LongTable | WideTable:
    """Read the columns of a long or a wide frame; ``reader`` is the function that the user called.

    Columns that are not named are detected, and notes say so.
    """
    frame = frames.with_index(frame)
    sample = frames.FrameSample(frame, call=f" to {reader}")
    refuse_comparisons(sample, named)
    if is_long(sample, named):
        return _long_table(frame, sample, named)
    gold = gold_column([sample], named.annotators)
    found = wide_columns(sample, *wide_candidates(sample, named), gold, named)
    is_all = len(found.annotators) == len(sample.columns)
    notes = [] if is_all else found.notes([] if named.annotators else sample.columns)
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
    if all(column in (role, *options.names) for role, column in columns.items()):
        return []
    found = ", ".join(f"{role} = {column!r}" for role, column in columns.items())
    return [f"read as a long table: {found} (detected)"]


def _gold_note(column: str | None) -> list[str]:
    """Return a note about a column that is not read because its name says gold labels."""
    note = f"{column!r} looks like gold labels and is not read: pass them to fuse as gold="
    return [] if column is None else [note]
