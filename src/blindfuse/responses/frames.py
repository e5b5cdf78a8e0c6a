"""Tables of any dataframe library, read through narwhals, as arrays with None for null."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from blindfuse.errors import BadLabels, BlindfuseError, suggest
from blindfuse.responses.coding import MAX_CLASSES
from blindfuse.responses.detection import SAMPLE_ROWS
from blindfuse.responses.scalars import is_null, plain_number
from blindfuse.typing import Array


def is_frame(data: Any) -> bool:
    """Whether narwhals recognises the data as a table; arrays, lists and Series are not tables."""
    if isinstance(data, np.ndarray | list | tuple):
        return False
    return isinstance(_native(data), nw.DataFrame | nw.LazyFrame)


_MAX_SAMPLED_ROWS = 20_000
"""Maximum number of rows of which the values of a frame are counted."""

HOW_TO_PASS = (
    "Pass a frame, such as polars.DataFrame(data) or series.reset_index(), to from_frame; a "
    "matrix, such as array.toarray(), to from_matrix; columns to from_long; or, of a file, "
    "blindfuse.read(path).responses."
)
"""What to do with data that are neither a frame nor a matrix."""


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
        return len(self._counted_rows(self.columns[0])) if self.columns else 0

    def texts(self, column: str) -> list[str | None]:
        """Return the first rows of a column as text, None for null."""
        (values,) = columns(_table(self.frame).head(SAMPLE_ROWS).to_native(), [column])
        return _texts(values)

    def value_counts(self, column: str) -> Counter[str] | None:
        """Count the distinct values of a column as text; None if there are too many classes."""
        texts = _texts(_values(self._counted_rows(column)))
        counts = Counter(text for text in texts if text is not None)
        return counts if len(counts) <= MAX_CLASSES else None

    def is_unique(self, column: str) -> bool:
        """Return whether every row has another value, and none is null."""
        return not _column(self.frame, column).null_count() and self.distinct_share([column]) == 1

    def distinct_share(self, names: Sequence[str]) -> float:
        """Return the number of distinct rows of these columns, relative to all rows."""
        rows = _collected(self.frame, names)
        try:
            distinct = rows.unique()
        except TypeError:  # pandas compares no lists
            distinct = set(map(str, rows.rows()))
        return len(distinct) / max(len(rows), 1)

    def _counted_rows(self, column: str) -> Any:
        """Return rows from the whole column, evenly spaced."""
        series = _column(self.frame, column)
        return series.gather_every(1 + len(series) // _MAX_SAMPLED_ROWS)


def _texts(values: Array) -> list[str | None]:
    return [None if is_null(value) else str(value) for value in values.tolist()]


def with_index(frame: Any) -> Any:
    """Return a pandas frame with the named levels of its index as columns; others unchanged.

    Of columns with several levels, as pivot tables have them, those with one value are dropped.
    """
    frame = with_flat_columns(frame)
    names = [name for name in getattr(getattr(frame, "index", None), "names", []) if name]
    if not names or not is_frame(frame) or set(names) & set(frame.columns):
        return frame
    return frame.reset_index(level=names)


def with_flat_columns(frame: Any) -> Any:
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
    """Return the index of a pandas frame if it names the rows; row numbers do not."""
    if not hasattr(frame, "index") or not is_frame(frame):
        return None
    values = np.asarray(frame.index)
    is_number = values.dtype.kind in "iu"
    if is_number and (not frame.index.is_unique or np.array_equal(values, np.arange(len(values)))):
        return None
    return None if values.ndim != 1 else values


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a frame, in order."""
    return list(_table(frame).collect_schema().names())


def columns(frame: Any, names: Sequence[str]) -> list[Array]:
    """Return the values of these columns; a column with nulls is an array of objects with None."""
    present = column_names(frame)
    for name in names:
        if name not in present:
            raise BadLabels(f"The table has no column {name!r}: {suggest(name, present)}")
    table = _collected(frame, names) if names else frame
    return [_values(table.get_column(name)) for name in names]


def _collected(frame: Any, names: Sequence[str]) -> Any:
    """Return these columns as an eager frame of narwhals."""
    table = _table(frame).select(*map(nw.col, dict.fromkeys(names)))
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def _column(frame: Any, name: str) -> Any:
    return _collected(frame, [name]).get_column(name)


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
    if type(data).__module__.startswith("datasets."):  # of Hugging Face
        data = data.with_format("arrow")[:]
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
            f"{HOW_TO_PASS}"
        )
    return table


def _values(series: Any) -> Array:
    dtype = series.dtype
    if dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128):
        # NumPy has no decimal and no longer numbers
        numbers = [None if is_null(value) else plain_number(value) for value in series.to_list()]
        return np.fromiter(numbers, dtype=object, count=len(numbers))
    if not series.null_count() and (dtype.is_numeric() or dtype == nw.Boolean):
        return np.asarray(series.to_numpy())
    null = np.asarray(series.is_null().to_numpy(), dtype=bool)
    values = np.fromiter(series.to_list(), dtype=object, count=len(null))
    values[null] = None
    return values
