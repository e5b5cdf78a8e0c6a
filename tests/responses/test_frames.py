"""Long and wide tables of pandas, Polars (eager and lazy), PyArrow and DuckDB."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindfuse import Responses
from tests.responses.cases import Columns, error_message, every_library, typed

LABELS: dict[str, list[Any]] = {
    "text": ["yes", "no", "maybe"],
    "numbers as text": ["007", "7", "1e5"],
    "integers": [5, 0, 3],
    "wide integers": [2**40, 1, 7],
    "booleans": [True, False],
}

every_kind = pytest.mark.parametrize("words", LABELS.values(), ids=LABELS.keys())


def reported_matrix(responses: Responses) -> list[list[tuple[type, Any] | None]]:
    """The reported classes with their types, None if missing, ``[item][annotator]``."""
    classes = responses.classes.tolist()
    return [
        [None if code < 0 else typed(classes[code]) for code in row]
        for row in responses.matrix().tolist()
    ]


@st.composite
def wide_tables(draw: st.DrawFn, words: list[Any], nulls: bool = True) -> Columns:
    n_items = draw(st.integers(1, 5))
    label = st.sampled_from([None, *words] if nulls else words)
    columns = st.lists(label, min_size=n_items, max_size=n_items)
    table = {f"a{m}": draw(columns) for m in range(draw(st.integers(1, 4)))}
    table["a0"][0] = words[0]
    return table


# Wide and long tables


@every_library
@every_kind
@settings(max_examples=25)
@given(data=st.data())
def test_wide_and_long_tables_give_the_same_responses(
    library: Any, words: list[Any], data: st.DataObject
) -> None:
    columns = data.draw(wide_tables(words, nulls=data.draw(st.booleans())))
    expected = [
        [None if label is None else typed(label) for label in row]
        for row in zip(*columns.values(), strict=True)
    ]
    wide = Responses.from_wide(library(columns), classes=words)
    assert reported_matrix(wide) == expected
    assert wide.annotators.tolist() == list(columns)

    rows = [(n, name, label) for name in columns for n, label in enumerate(columns[name])]
    rows = data.draw(st.permutations(rows))
    item, annotator, label = (list(column) for column in zip(*rows, strict=True))
    table = library({"item": item, "annotator": annotator, "label": label})
    long = Responses.from_frame(table, classes=words)
    assert long.items.tolist() == list(dict.fromkeys(item))
    assert long.annotators.tolist() == list(dict.fromkeys(annotator))
    order = [int(name[1:]) for name in long.annotators]
    assert reported_matrix(long) == [[expected[n][m] for m in order] for n in long.items]


@every_library
def test_columns_are_selected_by_name(library: Any) -> None:
    table = library(
        {"note": ["?", "?"], "who": ["b", "a"], "what": [1, 0], "which": ["007", "1e5"]}
    )
    long = Responses.from_frame(table, item="which", annotator="who", label="what")
    table = library({"ann": ["x", None], "id": ["007", "1e5"], "bob": ["y", "x"]})
    wide = Responses.from_wide(table, item="id")
    assert long.items.tolist() == wide.items.tolist() == ["007", "1e5"]
    assert [long.annotators.tolist(), wide.annotators.tolist()] == [["b", "a"], ["ann", "bob"]]
    assert long.matrix().tolist() == [[1, -1], [-1, 0]]
    assert wide.matrix().tolist() == [[0, 1], [-1, 0]]


@every_library
def test_a_frame_read_as_a_matrix_keeps_its_types(library: Any) -> None:
    table = library({"a": [True, True], "b": [0, 1]})
    assert "mix types" in error_message(lambda: Responses.from_matrix(table))
    assert Responses.from_matrix(library({"a": [0, 1], "b": [1, -1]})).matrix().tolist() == [
        [0, 1],
        [1, -1],
    ]


# Types of columns

CATEGORICALS: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda values: pd.DataFrame({"a": pd.Categorical(values)}),
    "polars": lambda values: pl.DataFrame({"a": pl.Series(values, dtype=pl.Categorical)}),
    "polars lazy": lambda values: pl.LazyFrame({"a": pl.Series(values, dtype=pl.Categorical)}),
    "pyarrow": lambda values: pa.table({"a": pa.array(values).dictionary_encode()}),
}


CATEGORIES: list[tuple[list[Any], list[Any]]] = [
    (["y", None, "x"], ["x", "y"]),
    ([10, 9, None], [9, 10]),
    ([10, 9, 9], [9, 10]),
]


@pytest.mark.parametrize("library", CATEGORICALS)
@pytest.mark.parametrize(("values", "classes"), CATEGORIES)
def test_categories_keep_their_type(library: str, values: list[Any], classes: list[Any]) -> None:
    if isinstance(values[0], int) and library.startswith("polars"):
        return  # its categories are text
    responses = Responses.from_wide(CATEGORICALS[library](values))
    expected = [[None if value is None else typed(value)] for value in values]
    assert reported_matrix(responses) == expected
    assert responses.classes.tolist() == classes


GRADES = [" poor", "fair", "good", "unused"]
ORDERED: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda values: pd.Series(pd.Categorical(values, GRADES, ordered=True)),
    "polars": lambda values: pl.Series(values, dtype=pl.Enum(GRADES)),
}


@pytest.mark.parametrize("series", ORDERED.values(), ids=ORDERED.keys())
@pytest.mark.parametrize("seed", range(3))
def test_ordered_categories_give_their_order(series: Callable[[list[Any]], Any], seed: int) -> None:
    labels = [[None, *GRADES][k] for k in np.random.default_rng(seed).integers(0, 4, 60)]
    library = pd.DataFrame if isinstance(series([]), pd.Series) else pl.DataFrame
    columns = {"item": [*range(20)] * 3, "annotator": [*"abc"] * 20, "label": series(labels)}
    wide = {"a": series(labels[:30]), "b": series(labels[30:])}
    for responses in (
        Responses.from_long(*columns.values()),
        Responses.from_frame(library(columns)),
        Responses.from_wide(library(wide)),
    ):
        assert responses.classes.tolist() == ["poor", "fair", "good"]
    wide["a"] = pl.Series(labels[:30], dtype=pl.Enum(GRADES))
    wide["b"] = pl.Series(labels[30:], dtype=pl.Enum(GRADES[::-1]))
    assert Responses.from_wide(pl.DataFrame(wide)).classes.tolist() == ["fair", "good", "poor"]
    listed = Responses.from_frame(library(columns), classes=["good", "fair", "poor"])
    assert listed.classes.tolist() == ["good", "fair", "poor"]


@every_library
def test_columns_of_integers_and_whole_floats_are_merged(library: Any) -> None:
    table = library({"a": [1.0, 0.0], "b": [1, 2]})
    assert reported_matrix(Responses.from_wide(table)) == [
        [(int, 1), (int, 1)],
        [(int, 0), (int, 2)],
    ]


def test_pandas_columns_can_have_numbers_as_names() -> None:
    responses = Responses.from_wide(pd.DataFrame([[0, 1, 2], [2, 1, 0]], columns=[7, 1, 0]))
    assert responses.annotators.tolist() == [7, 1, 0]
    assert responses.matrix().tolist() == [[0, 1, 2], [2, 1, 0]]


def test_pivot_tables_of_pandas_have_columns_with_two_levels() -> None:
    wide = pd.DataFrame({("label", "a"): ["x", "y"], ("label", "b"): ["x", "x"]}, index=["i", "j"])
    for read in (Responses.from_frame, Responses.from_wide):
        assert read(wide).annotators.tolist() == ["a", "b"]
    assert Responses.from_matrix(wide).matrix().tolist() == [[0, 0], [1, 0]]
    wide["time", "a"] = [3, 4]
    assert "columns with 2 levels" in error_message(lambda: Responses.from_wide(wide))


def test_only_the_needed_columns_of_a_lazy_frame_are_computed() -> None:
    def fail(_: Any) -> Any:
        raise AssertionError("this column is not needed")

    table = pl.LazyFrame({"item": ["i"], "annotator": ["a"], "label": ["x"]}).with_columns(
        unused=pl.col("item").map_batches(fail, return_dtype=pl.String)
    )
    assert reported_matrix(Responses.from_frame(table)) == [[(str, "x")]]


# Invalid tables


@every_library
def test_tables_without_items_or_annotators_are_refused_with_what_there_is(library: Any) -> None:
    typo = library({"item": ["i"], "annotater": ["a"], "label": ["x"]})
    twice = library({"id": ["i", "j", "i"], "a": [0, 1, 0]})
    null = library({"id": ["i", None], "a": [0, 1]})
    none = library({"id": ["i", "j"]})
    for call, words in (
        (lambda: Responses.from_frame(typo), ("the annotator", "did you mean 'annotater'?")),
        (lambda: Responses.from_frame(typo), ("Responses.from_frame",)),
        (
            lambda: Responses.from_frame(typo, annotator="zzz"),
            ("'zzz'", "'item', 'annotater', 'label'"),
        ),
        (lambda: Responses.from_wide(typo, item="items"), ("'items'",)),
        (lambda: Responses.from_wide(none, item="id"), ("no annotator column",)),
        (lambda: Responses.from_wide(twice, item="id"), ("contains 'i' more than once",)),
        (lambda: Responses.from_wide(null, item="id"), ("Row 1 has no item",)),
    ):
        message = error_message(call)
        assert all(word in message for word in words)


def test_a_table_without_columns_is_refused() -> None:
    for library in (pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table):
        table = library({})
        assert "no annotator column" in error_message(lambda: Responses.from_wide(table))  # noqa: B023


# Types that NumPy does not have

NUMBERS: dict[str, Callable[[list[Any]], Any]] = {
    "Polars Decimal": lambda values: pl.Series(values).cast(pl.Decimal(9, 1)),
    "Polars Int128": lambda values: pl.Series(values).cast(pl.Int128),
    "Polars Float32": lambda values: pl.Series(values).cast(pl.Float32),
    "pandas Decimal": lambda values: pd.Series(
        [pd.NA if value is None else Decimal(value) for value in values],
        dtype=pd.ArrowDtype(pa.decimal128(9, 1)),
    ),
    "pandas Float64": lambda values: pd.Series(values, dtype="Float64"),
}


@pytest.mark.parametrize("convert", NUMBERS.values(), ids=NUMBERS.keys())
def test_whole_numbers_of_any_type_are_integers(convert: Callable[[list[Any]], Any]) -> None:
    labels, items = convert([1, 2, None, 1]), convert([7, 7, 8, 8])
    library = pl.DataFrame if isinstance(labels, pl.Series) else pd.DataFrame
    table = library({"item": items, "annotator": list("abab"), "label": labels})
    responses = Responses.from_frame(table)
    assert typed(responses.classes.tolist()[0]) == typed(1)
    assert [str(item) for item in responses.items.tolist()] == ["7", "8"]
    assert reported_matrix(responses) == [[typed(1), typed(2)], [None, typed(1)]]


def test_numbers_of_duckdb_are_read() -> None:
    table = duckdb.sql(
        "select item, annotator, label::hugeint as label from "
        "(values (1, 'a', 3), (1, 'b', 4), (2, 'a', 3)) as votes(item, annotator, label)"
    )
    assert Responses.from_frame(table).classes.tolist() == [3, 4]


def test_an_index_of_texts_names_the_items_and_must_not_repeat() -> None:
    table = pd.DataFrame({"ann": [0, 1, 1] * 4, "bob": [0, 1, 0] * 4}, index=["x", "y", "z"] * 4)
    assert "'x', 'y', 'z' more than once" in error_message(lambda: Responses.from_frame(table))
    joined = table.set_axis([*range(6), *range(6)])
    assert Responses.from_frame(joined).items.tolist() == list(range(12))
