"""Frames of any library, through narwhals, as arrays of values with None for null."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, meant


def is_frame(data: Any) -> bool:
    """Whether narwhals takes this for a table (arrays, lists and Series are none)."""
    if isinstance(data, np.ndarray | list | tuple):
        return False
    return isinstance(_native(data), nw.DataFrame | nw.LazyFrame)


def column_names(frame: Any) -> list[str]:
    """The names of a frame's columns, in order."""
    return list(_table(frame).collect_schema().names())


def columns(frame: Any, names: Sequence[str]) -> list[NDArray[Any]]:
    """The values of these columns; a column with nulls comes as objects, with None for null."""
    table, present = _table(frame), column_names(frame)
    for name in names:
        if name not in present:
            raise BadLabels(f"The table has no column {name!r}: {meant(name, present)}")
    if names and isinstance(table, nw.LazyFrame):
        table = table.select(*dict.fromkeys(names)).collect()
    return [_values(table.get_column(name)) for name in names]


def values(data: Any) -> Any:
    """A Series of any library as an array, like a column of a frame; anything else as it is."""
    series = nw.from_native(data, series_only=True, pass_through=True)
    return _values(series) if isinstance(series, nw.Series) else data


def _native(data: Any) -> Any:
    try:
        return nw.from_native(data, pass_through=True)
    except DuplicateError as error:
        raise BadLabels(
            f"The table has columns of the same name: {' '.join(str(error).split())}. "
            "Rename or drop all but one."
        ) from None


def _table(frame: Any) -> Any:
    table = _native(frame)
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        raise BadLabels(
            f"A {type(frame).__name__} is no table: pass a pandas, Polars, PyArrow or DuckDB "
            "table, a matrix, or Responses."
        )
    return table


def _values(series: Any) -> NDArray[Any]:
    null = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if not null.any() and (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        return np.asarray(series.to_numpy())
    found = np.fromiter(series.to_list(), dtype=object, count=len(null))
    found[null] = None
    return found
