"""``Numbers``: the three ways to create it, bad input, and its views."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from blindfuse import BadLabels, BadParameter, Numbers, Responses
from blindfuse.numbers.table import as_numbers, check_numbers

NAN = float("nan")


def test_long_columns_frames_and_matrices_give_the_same_table() -> None:
    matrix = np.array([[1.0, NAN, 2.5], [NAN, -3.0, 4.0]])
    items, annotators = np.nonzero(~np.isnan(matrix))
    values = matrix[items, annotators]
    columns = {"item": items, "annotator": annotators, "value": values}
    tables = [
        Numbers.from_matrix(matrix),
        Numbers.from_matrix([[1.0, None, 2.5], [None, -3, 4]]),
        Numbers.from_matrix(np.ma.masked_invalid(matrix)),
        Numbers.from_matrix(pl.DataFrame(matrix)),
        Numbers.from_matrix(pd.DataFrame(matrix)),
        as_numbers(pl.DataFrame(columns)),
        as_numbers(pd.DataFrame(columns)),
        as_numbers(items, annotators, values),
    ]
    for table in tables:
        order = np.argsort(table.annotators.astype(str)), np.argsort(table.items.astype(str))
        dense = table.matrix()[order[1]][:, order[0]]
        np.testing.assert_array_equal(dense, matrix)
        assert table.n_responses == 4
        np.testing.assert_array_equal(table.responses_per_item, [2, 2])


def test_names_are_kept_in_order_of_first_appearance() -> None:
    table = Numbers.from_long(["b", "a", "b"], [7, 3, 3], [1, 2, 3])
    assert table.items.tolist() == ["b", "a"]
    assert table.annotators.tolist() == [7, 3]
    np.testing.assert_array_equal(table.matrix(), [[1, 3], [NAN, 2]])


@pytest.mark.parametrize(
    ("repeats", "kept"), [("mean", 3.5), ("median", 3.0), ("last", 7.5), ("first", 1.0)]
)
def test_repeated_ratings(repeats: Any, kept: float) -> None:
    columns = ["x"] * 5, ["a", "b", "a", "a", "a"], [1, 2, 5, 0.5, 7.5]
    table = Numbers.from_long(*columns, repeats=repeats)
    assert table.matrix().tolist() == [[kept, 2.0]]
    assert table.repeated == 3
    assert "3 repeated ratings: one per item and annotator counts" in repr(table)
    with pytest.raises(BadLabels, match="responded to item 'x' more than once"):
        Numbers.from_long(["x", "x"], ["a", "a"], [1, 5], repeats="error")


@pytest.mark.parametrize("repeats", ["mean", "median"])
def test_repeated_ratings_do_not_depend_on_the_order_of_rows(repeats: Any) -> None:
    rng = np.random.default_rng(0)
    items, annotators = rng.integers(0, 20, 400), rng.integers(0, 5, 400)
    values = rng.normal(size=400) * 10.0 ** rng.integers(-3, 4, 400)
    frame = pd.DataFrame({"i": items, "a": annotators, "v": values})
    expected = frame.groupby(["i", "a"])["v"].agg(repeats)
    found = []
    for _ in range(3):
        rows = rng.permutation(400)
        table = Numbers.from_long(items[rows], annotators[rows], values[rows], repeats=repeats)
        cells = zip(
            table.items[table.item_of_response()], table.annotators[table.codes], strict=True
        )
        found.append(dict(zip(cells, table.values.tolist(), strict=True)))
    assert found[0] == found[1] == found[2]
    assert found[0] == pytest.approx(expected.to_dict())


@pytest.mark.parametrize("repeats", ["mean", "median", "last", "first"])
def test_large_tables_are_read_as_pandas_groups_them(repeats: Any) -> None:
    rng = np.random.default_rng(0)
    n = 20_001
    items, annotators = 50 + rng.integers(0, 2000, n), rng.integers(0, 40, n)
    values = np.where(rng.random(n) < 0.01, NAN, rng.normal(size=n))
    table = Numbers.from_long(items, annotators, values, repeats=repeats)
    frame = pd.DataFrame({"i": items, "a": annotators, "v": values}).dropna()
    expected = frame.groupby(["i", "a"])["v"].agg(repeats)
    assert table.repeated == len(frame) - len(expected) > 0
    assert table.items.tolist() == pd.unique(items).tolist()
    assert table.annotators.tolist() == pd.unique(annotators).tolist()
    assert np.all((np.diff(table.codes) > 0) | (np.diff(table.item_of_response()) > 0))
    cells = zip(table.items[table.item_of_response()], table.annotators[table.codes], strict=True)
    assert dict(zip(cells, table.values, strict=True)) == pytest.approx(expected.to_dict())


def test_the_table_does_not_change_with_the_columns_of_the_caller() -> None:
    columns = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0])
    table = Numbers.from_long(*columns)
    for column in columns:
        column[:] = 0
    np.testing.assert_array_equal(table.matrix(), [[1, 2], [3, NAN]])


def test_frames_are_read_with_detected_columns() -> None:
    long = {"task_id": ["x", "x", "y"], "judge": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]}
    wide = {"item": ["x", "y"], "a": [1.0, 3.0], "b": [2.0, None]}
    for make in (pl.DataFrame, pd.DataFrame):
        for columns in (long, wide):
            table = as_numbers(make(columns))
            assert table.items.tolist() == ["x", "y"]
            np.testing.assert_array_equal(table.matrix(), [[1, 2], [3, NAN]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "high", 2], r"'high' \(row 1\) is not a number"),
        ([1, float("inf"), 2], r"inf \(row 1\) is not a finite number"),
        ([1, 1e200, 2], r"1e\+200 \(row 1\) is not a finite number"),
        ([1, [2], 2], r"\(row 1\) is not a number"),
    ],
)
def test_what_is_not_a_finite_number_is_refused_with_its_row(
    values: list[Any], message: str
) -> None:
    with pytest.raises(BadLabels, match=message):
        Numbers.from_long([0, 1, 2], ["a", "a", "a"], values)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(BadLabels, match="same length"):
        Numbers.from_long([1, 2], [1], [1.0, 2.0])
    with pytest.raises(BadLabels, match="Row 1 has 1 labels, but row 0 has 2"):
        Numbers.from_matrix([[1, 2], [3]])
    with pytest.raises(BadLabels, match="matrix"):
        Numbers.from_matrix([1, 2, 3])
    with pytest.raises(BadLabels, match="contains 'a' more than once"):
        Numbers.from_matrix([[1, 2]], annotators=["a", "a"])
    with pytest.raises(BadLabels, match="no ratings"):
        check_numbers([[NAN, NAN]])
    with pytest.raises(BadLabels, match="no item"):
        Numbers.from_long(["x", None], ["a", "b"], [1, 2])
    with pytest.raises(BadParameter, match="three columns"):
        as_numbers([1, 2], [3, 4])
    with pytest.raises(BadParameter, match="repeats="):
        Numbers.from_long([1], [1], [1], repeats="sum")  # type: ignore[arg-type]


def test_views_agree_with_the_matrix() -> None:
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((40, 6)) < 0.3, NAN, rng.normal(size=(40, 6)))
    table = Numbers.from_matrix(matrix)
    frame = pd.DataFrame(matrix)
    np.testing.assert_allclose(table.item_means(np.nan), frame.mean(axis=1))
    np.testing.assert_allclose(table.item_medians(np.nan), frame.median(axis=1))
    np.testing.assert_allclose(table.spreads(), frame.std(axis=1, ddof=1))
    low, high = table.ranges
    np.testing.assert_array_equal(low, frame.min())
    np.testing.assert_array_equal(high, frame.max())
    sums = np.column_stack([frame.count(), frame.sum(), (frame**2).sum()])
    np.testing.assert_allclose(table.power_sums, sums)
    places = np.array([5, 3, 30])
    np.testing.assert_array_equal(table.select_items(places).matrix(), matrix[places])
    mask = rng.random(table.n_responses) < 0.5
    kept = matrix.copy()
    kept[table.item_of_response()[~mask], table.codes[~mask]] = NAN
    np.testing.assert_array_equal(table.select_responses(mask).matrix(), kept)
    doubled = table.with_values(2 * table.values)
    np.testing.assert_array_equal(doubled.matrix(), 2 * matrix)
    np.testing.assert_array_equal(doubled.responses_per_annotator, frame.count())


def test_failed_ratings_are_noted() -> None:
    table = [[1, 2, -1], [3, 3, 4], [5, 4, 4]]
    assert "read as numbers: -1" in Numbers.from_matrix(table).notes[0]
    rows = [(item, rater, one) for item, row in enumerate(table) for rater, one in enumerate(row)]
    scores = Responses.from_scores(*map(list, zip(*rows, strict=True)))
    assert "read as numbers: -1" in " ".join(scores.notes)
