"""What tables of labels, sets and numbers are read from: columns, matrices and frames."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from blindfuse.responses.detection import (
    ColumnOptions,
    gold_column,
    is_long,
    long_columns,
    refuse_comparisons,
)
from blindfuse.responses.rows import annotator_dtype, item_dtype
from blindfuse.responses.scalars import key_value, name_key
from blindfuse.responses.table import Cells
from blindfuse.responses.values import LabelOptions
from blindfuse.responses.wide_detection import transposed_note, wide_candidates, wide_columns
from blindfuse.typing import Array

Names = Sequence[Any] | Array
Values = ArrayLike | Sequence[Any]


row_description = "row {}".format
"""Name a row of a long table, for errors."""


def long_cells(items: Any, annotators: Any, values: Any, noun: str) -> Cells:
    """Return the responses of three columns; ``noun`` names the third, for errors."""
    columns = [as_column(frames.values(column)) for column in (items, annotators, values)]
    check_equal_lengths(dict(zip(("items", "annotators", noun), columns, strict=True)))
    kinds = "item", "annotator"

    def code(first: int, last: int) -> list[CodedNames]:
        return [code_names(columns[at], kinds[at]) for at in range(first, last)]

    item, annotator = chain.from_iterable(map_threads(code, 2, None, 1))
    return Cells(item, annotator, columns[2], row_description, order=frames.series_order(values))


def matrix_cells(
    array: Any, items: Names | None = None, annotators: Names | None = None, unique: bool = True
) -> Cells:
    """Return the cells of ``array[item, annotator]``; rows and columns without names are numbered.

    Unless items must be ``unique``, those that occur twice are one item.
    """
    matrix = as_matrix(array)
    shape = matrix.shape
    item = _code_lines(items, shape[0], "items", unique)
    annotator = _code_lines(annotators, shape[1], "annotators")
    columns = annotator.codes.astype(annotator_dtype(shape[1]))

    def describe(at: int) -> str:
        row, column = divmod(at, shape[1])
        return f"row {row}, column {list_names(annotator.names[[column]])}"

    return Cells(
        item._replace(codes=np.repeat(item.codes, shape[1])),
        annotator._replace(codes=np.tile(columns, shape[0])),
        matrix.reshape(-1),
        describe,
        transposed_note(shape[1], shape[0]),
        is_wide=True,
        is_sorted=len(item.names) == shape[0],
    )


def _code_lines(names: Names | None, count: int, kind: str, unique: bool = True) -> CodedNames:
    """Return the codes of rows or columns, by default with numbers from 0 as names."""
    codes = np.arange(count, dtype=item_dtype(count))
    if names is None:
        return CodedNames(codes, np.arange(count))
    array = as_names(names)
    if len(array) != count:
        raise BadLabels(
            f"{kind}= has {len(array):,} names, but the matrix has {count:,} {kind}. "
            "Pass one name each."
        )
    coded = code_names(array, kind[:-1], plain=False)
    if len(coded.names) == count:
        return CodedNames(codes, array)
    if unique:
        repeated = coded.names[np.bincount(coded.codes) > 1]
        raise BadLabels(
            f"{kind}= contains {list_names(repeated)} more than once. Names must be unique."
        )
    return coded


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
        array = frames.with_flat_columns(array)
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


# Frames


def read_frame(frame: Any, named: ColumnOptions, reader: str, unique: bool = False) -> Cells:
    """Read a long or a wide frame; ``reader`` is the function that the user called.

    Columns that are not named are detected, and notes say so. ``unique`` is that of matrices.
    """
    frame = frames.with_index(frame)
    sample = frames.FrameSample(frame, call=f" to {reader}")
    refuse_comparisons(sample, named)
    if is_long(sample, named):
        return _long_frame(frame, sample, named)
    gold = gold_column([sample], named.annotators)
    found = wide_columns(sample, *wide_candidates(sample, named), gold, named)
    is_all = len(found.annotators) == len(sample.columns)
    notes = [] if is_all else found.notes([] if named.annotators else sample.columns)
    notes += _gold_note(found.gold)
    return _wide_frame(frame, found.item, found.annotators, notes, unique)


def read_long(frame: Any, named: ColumnOptions, reader: str) -> Cells:
    """As :func:`read_frame`, of a frame with one row per response."""
    frame = frames.with_index(frame)
    return _long_frame(frame, frames.FrameSample(frame, call=f" to {reader}"), named)


def read_wide(frame: Any, item: str | None) -> Cells:
    """Read a frame with one row per item; all columns but ``item`` are annotators."""
    frame = frames.with_flat_columns(frame) if item is None else frames.with_index(frame)
    annotators = [name for name in frames.column_names(frame) if name != item]
    return _wide_frame(frame, item, annotators)


def _long_frame(frame: Any, sample: frames.FrameSample, named: ColumnOptions) -> Cells:
    columns = long_columns(sample, named)
    _refuse_questions(sample, columns)
    gold = gold_column([sample], list(columns.values()))
    items, annotators, labels = frames.columns(frame, list(columns.values()))
    cells = long_cells(items, annotators, labels, "labels")
    notes = [*_detection_note(columns, named), *_gold_note(gold)]
    return replace(cells, notes=notes, order=frames.category_order(frame, [columns["label"]]))


def _wide_frame(
    frame: Any,
    item: str | None,
    annotators: Sequence[str],
    notes: Sequence[str] = (),
    unique: bool = True,
) -> Cells:
    """Read these columns. Without an item column, items are the index of pandas, if it names."""
    items, columns = frames.index_values(frame), frames.columns(frame, annotators)
    if item is not None:
        items = as_plain_names(*frames.columns(frame, [item]))
    cells = matrix_cells(stack_columns(columns), items, annotators, unique)
    order = frames.category_order(frame, annotators)
    return replace(cells, notes=[*notes, *cells.notes], order=order)


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
