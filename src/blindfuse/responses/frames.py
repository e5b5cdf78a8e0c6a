"""Tables of any dataframe library, read through narwhals, as arrays with None for null."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from blindfuse.errors import BadLabels, BlindfuseError, list_names, suggest
from blindfuse.responses.coding import MAX_CLASSES
from blindfuse.responses.detection import SAMPLE_ROWS
from blindfuse.responses.keys import is_null
from blindfuse.typing import Array


def is_frame(data: Any) -> bool:
    """Whether narwhals recognises the data as a table; arrays, lists and Series are not tables."""
    if isinstance(data, np.ndarray | list | tuple):
        return False
    return isinstance(_native(data), nw.DataFrame | nw.LazyFrame)


MAX_SAMPLED_ROWS = 20_000
"""Maximum number of rows of which the values of a frame are counted."""


@dataclass(frozen=True)
class FrameSample:
    """A frame, of which detection reads the names of the columns and some rows."""

    frame: Any
    name: str = "The table"
    call: str = " to Responses.from_frame"
    error: type[BlindfuseError] = BadLabels

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return column_names(self.frame)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows that ``value_counts`` counts."""
        return len(self._sample(self.columns[0])) if self.columns else 0

    def texts(self, column: str) -> list[str | None]:
        """Return the first rows of a column as text, None for null."""
        (values,) = columns(_table(self.frame).head(SAMPLE_ROWS).to_native(), [column])
        return _texts(values)

    def value_counts(self, column: str) -> Counter[str] | None:
        """Count the distinct values of a column as text; None if there are too many classes."""
        counts = Counter(text for text in _texts(self._sample(column)) if text is not None)
        return counts if len(counts) <= MAX_CLASSES else None

    def is_unique(self, column: str) -> bool:
        """Return whether every row has another value, and none is null."""
        texts = _texts(columns(self.frame, [column])[0])
        return None not in texts and len(set(texts)) == len(texts)

    def distinct_share(self, names: Sequence[str]) -> float:
        """Return the number of distinct rows of these columns, relative to all rows."""
        rows = list(zip(*map(_texts, columns(self.frame, names)), strict=True))
        return len(set(rows)) / max(len(rows), 1)

    def _sample(self, column: str) -> Array:
        """Return rows from the whole column, evenly spaced."""
        (values,) = columns(self.frame, [column])
        return values[:: 1 + len(values) // MAX_SAMPLED_ROWS]


def _texts(values: Array) -> list[str | None]:
    return [None if is_null(value) else str(value) for value in values.tolist()]


def with_index(frame: Any) -> Any:
    """Return a pandas frame with the named levels of its index as columns; others unchanged.

    Of columns with several levels, as pivot tables have them, those with one value are dropped.
    """
    frame = _with_flat_columns(frame)
    names = [name for name in getattr(getattr(frame, "index", None), "names", []) if name]
    if not names or not is_frame(frame) or set(names) & set(frame.columns):
        return frame
    return frame.reset_index(level=names)


def _with_flat_columns(frame: Any) -> Any:
    """Return a pandas frame whose columns have one level; refuse several that differ."""
    levels = frame.columns.nlevels if hasattr(frame, "index") and is_frame(frame) else 1
    if levels == 1:
        return frame
    single = [at for at in range(levels) if frame.columns.get_level_values(at).nunique() == 1]
    if len(single) < levels - 1:
        raise BadLabels(
            f"The table has columns with {levels} levels, such as {frame.columns[0]!r}. Pass one "
            "of them, as in frame['label'], or flatten the names."
        )
    return frame.droplevel(single[: levels - 1], axis=1)


def index_values(frame: Any) -> Array | None:
    """Return the index of a pandas frame if it names the rows: without repetition, not 0, 1, …."""
    index = getattr(frame, "index", None)
    if index is None or not is_frame(frame) or not getattr(index, "is_unique", False):
        return None
    values = np.asarray(index)
    is_row_number = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return None if is_row_number or values.ndim != 1 else values


def repeated_index_note(frame: Any) -> list[str]:
    """Return a note if the index of a pandas frame has texts, but not one per row."""
    index = getattr(frame, "index", None)
    if index is None or not is_frame(frame) or getattr(index, "is_unique", True):
        return []
    texts = [value for value in index[index.duplicated()].tolist() if isinstance(value, str)]
    if not texts:
        return []
    names = list_names(dict.fromkeys(texts))
    return [
        f"items are row numbers, because the index contains {names} more than once. If it holds "
        "the items, pass one row per item"
    ]


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a frame, in order."""
    return list(_table(frame).collect_schema().names())


def columns(frame: Any, names: Sequence[str]) -> list[Array]:
    """Return the values of these columns; a column with nulls is an array of objects with None."""
    table, present = _table(frame), column_names(frame)
    for name in names:
        if name not in present:
            raise BadLabels(f"The table has no column {name!r}: {suggest(name, present)}")
    if names and isinstance(table, nw.LazyFrame):
        table = table.select(*dict.fromkeys(names)).collect()
    return [_values(table.get_column(name)) for name in names]


def values(data: Any) -> Any:
    """Convert a Series of any library to an array; return anything else unchanged."""
    series = nw.from_native(data, series_only=True, pass_through=True)
    return _values(series) if isinstance(series, nw.Series) else data


def category_order(frame: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the categories that columns of ordered categories share, in order; else nothing."""
    schema = _table(frame).collect_schema()
    orders = sorted((_categories(schema[name]) for name in names), key=len)
    shared = orders[-1] if orders else ()
    is_shared = all([each for each in shared if each in order] == [*order] for order in orders)
    return shared if is_shared else ()


def series_order(data: Any) -> tuple[Any, ...]:
    """Return the ordered categories of a Series; nothing for other data."""
    series = nw.from_native(data, series_only=True, pass_through=True)
    return _categories(series.dtype) if isinstance(series, nw.Series) else ()


def _categories(dtype: Any) -> tuple[Any, ...]:
    """The categories of an Enum, which an ordered Categorical of pandas is, too."""
    return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else ()


def _native(data: Any) -> Any:
    try:
        return nw.from_native(data, pass_through=True)
    except DuplicateError as error:
        raise BadLabels(
            f"The table has several columns of the same name: {' '.join(str(error).split())}. "
            "Rename or drop all but one."
        ) from None


def _table(frame: Any) -> Any:
    table = _native(frame)
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        raise BadLabels(
            f"A {type(frame).__name__} is not a table of pandas, Polars, PyArrow or DuckDB. "
            f"{how_to_pass(frame)}"
        )
    return table


def how_to_pass(array: Any) -> str:
    """Say how data of this type become a table."""
    if isinstance(array, str | os.PathLike):
        return "Read a file with blindfuse.read(path).responses; columns with from_long."
    if hasattr(array, "toarray"):
        return "Pass array.toarray(), with a missing marker for empty cells."
    if hasattr(array, "to_frame"):
        return "Pass a frame: series.reset_index() has the index as columns."
    if isinstance(array, Mapping) or _has_records(array):
        return "Make it a frame first: polars.DataFrame(data), or pandas.DataFrame(data)."
    if isinstance(array, Iterator):
        return "Pass a list of rows, list(data), or the columns of a long table to from_long."
    return "Pass the columns of a long table to from_long, or a frame to from_frame."


def is_batch(data: Any) -> bool:
    """Whether these are rows of Arrow that are not yet a table."""
    return hasattr(data, "__arrow_c_stream__") and not is_frame(data) and not hasattr(data, "dtype")


def _has_records(array: Any) -> bool:
    """Return whether these are dictionaries, records of NumPy, or batches of Arrow."""
    if is_batch(array) or getattr(getattr(array, "dtype", None), "names", None):
        return True
    return isinstance(array, Sequence) and bool(array) and isinstance(array[0], Mapping)


def _values(series: Any) -> Array:
    dtype = series.dtype
    if dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128):
        return _plain_numbers(series)
    if not series.null_count() and (dtype.is_numeric() or dtype == nw.Boolean):
        return np.asarray(series.to_numpy())
    null = np.asarray(series.is_null().to_numpy(), dtype=bool)
    values = np.fromiter(series.to_list(), dtype=object, count=len(null))
    values[null] = None
    return values


def _plain_numbers(series: Any) -> Array:
    """Return decimal and long numbers, which NumPy does not have, as integers and floats."""
    numbers = [None if is_null(value) else _plain_number(value) for value in series.to_list()]
    return np.fromiter(numbers, dtype=object, count=len(numbers))


def _plain_number(value: Any) -> int | float:
    return int(value) if value == int(value) else float(value)
