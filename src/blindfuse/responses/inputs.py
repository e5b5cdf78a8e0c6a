"""What all tables (labels, sets, numbers) are read from: columns, matrices and names."""

from collections.abc import Callable, Mapping, Sequence, Sized
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, list_names
from blindfuse.kernels.threads import map_threads
from blindfuse.responses import frames
from blindfuse.responses.coding import CodedNames, as_column, as_names, as_values, code_names
from blindfuse.responses.keys import key_value, name_key
from blindfuse.responses.values import LabelOptions
from blindfuse.typing import Array

Names = Sequence[Any] | Array
Values = ArrayLike | Sequence[Any]


def check_equal_lengths(columns: Mapping[str, Sized]) -> None:
    """Raise BadLabels unless all columns have the same length."""
    lengths = [f"{len(column):,}" for column in columns.values()]
    if len(set(lengths)) > 1:
        *first, last = columns
        raise BadLabels(
            f"{', '.join(first)} and {last} must have the same length, but have "
            f"{', '.join(lengths[:-1])} and {lengths[-1]} entries. Pass one entry per response."
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
    ragged = next((row for row, width in enumerate(widths) if width != widths[0]), None)
    if ragged is not None:
        raise BadLabels(
            f"Row {ragged} has {widths[ragged]} labels, but row 0 has {widths[0]}. Every row needs "
            "one entry per annotator; use the missing marker for missing responses."
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
