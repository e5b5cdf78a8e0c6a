"""Tables of responses, and functions that several tests of responses share."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from blindfuse import Responses, ResponseSets
from blindfuse.errors import BadLabels, BlindfuseError
from blindfuse.responses.table import AnnotationTable

NAN = float("nan")
COLUMNS: dict[str, Any] = {"items": ["i", "j"], "annotators": ["a", "a"], "labels": ["x", "y"]}
"""A valid input of :meth:`Responses.from_long`."""

Columns = dict[str, list[Any]]
LIBRARIES: dict[str, Callable[[Columns], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
every_library = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES.keys())


@st.composite
def tables(draw: st.DrawFn) -> NDArray[np.int8]:
    """A table of codes below 4 with at least one response; −1 is missing."""
    shape = draw(st.tuples(st.integers(1, 7), st.integers(1, 5)))
    table = draw(arrays(np.int8, shape, elements=st.integers(-1, 3)))
    table.flat[draw(st.integers(0, table.size - 1))] = draw(st.integers(0, 3))
    return table


def four_classes(table: NDArray[Any], **names: Any) -> Responses:
    return Responses.from_matrix(table, classes=range(4), **names)


def typed(value: Any) -> tuple[type, Any]:
    """A value with its type, so that True differs from 1."""
    return type(value), value


def reported(table: AnnotationTable) -> dict[tuple[Any, Any], Any]:
    """What was reported, by item and annotator: symbols with their types, sets, or numbers."""
    values = table.by_item.symbols.tolist()
    if isinstance(table, Responses):
        symbols = table.symbols.tolist()
        values = [typed(symbols[code]) for code in values]
    if isinstance(table, ResponseSets):
        values = [set(table.classes[row].tolist()) for row in table.indicators()]
    names = table.items[table.item_of_response()], table.annotators[table.codes]
    return dict(
        zip(zip(*map(list, map(np.ndarray.tolist, names)), strict=True), values, strict=True)
    )


def error_message(make: Callable[[], Any], kind: type[BlindfuseError] = BadLabels) -> str:
    """The message of the error that ``make`` raises, which must be exactly of this class."""
    with pytest.raises(BlindfuseError) as caught:
        make()
    assert type(caught.value) is kind
    return str(caught.value)
