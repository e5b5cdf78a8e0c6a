"""Coding of labels and names: what is a class, what is missing, and what is rejected."""

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.typing import NDArray

from blindfuse import Responses
from blindfuse.responses import coding
from tests.responses.cases import COLUMNS, NAN, error_message, tables, typed

# Classes


@given(tables())
def test_classes_are_the_sorted_labels_unless_given(table: NDArray[np.int8]) -> None:
    responses = Responses.from_matrix(10 * table.astype(int), missing=-10)
    assert responses.classes.tolist() == sorted({10 * v for v in table.flat if v >= 0})


def test_given_classes_keep_their_order_and_unreported_classes() -> None:
    for responses in (
        Responses.from_matrix([["b", "a"]], classes=["c", "b", "a"]),
        Responses.from_long([0, 0], [0, 1], ["b", "a"], classes=["c", "b", "a"]),
    ):
        assert responses.classes.tolist() == ["c", "b", "a"]
        assert responses.matrix().tolist() == [[1, 2]]
        assert any("'c'" in note for note in responses.notes)


def test_negative_labels_and_fractions_can_be_classes() -> None:
    responses = Responses.from_matrix(np.array([[-1, 1]]), missing=None, classes=[-1, 1])
    assert responses.matrix().tolist() == [[0, 1]]
    assert Responses.from_long([0], [0], [0.5], classes=[0.5]).classes.tolist() == [0.5]


def test_labels_outside_the_classes_are_rejected() -> None:
    labels = ["x", *"abcdefg"]
    ids = range(len(labels))
    message = error_message(lambda: Responses.from_long(ids, ids, labels, classes=["x", "y"]))
    assert "'a', 'b', 'c', 'd', 'e' and 2 more (row 1)" in message
    assert "'x', 'y'" in message
    assert "classes=" in message
    numbers = error_message(
        lambda: Responses.from_matrix(np.array([[0, 1], [2, 0]]), classes=[0, 1])
    )
    assert "2 (row 1, column 0)" in numbers


@pytest.mark.parametrize("classes", [None, range(1001)])
def test_more_than_a_thousand_classes_are_rejected(classes: Any) -> None:
    column = np.arange(1001)
    for message in (
        error_message(lambda: Responses.from_matrix(column[:, None], classes=classes)),
        error_message(lambda: Responses.from_long(column, column, column, classes=classes)),
    ):
        assert "1,001 classes" in message
        assert "1,000" in message
        assert "label column" in message
    assert Responses.from_matrix(column[:1000, None]).n_classes == 1000


@pytest.mark.parametrize(
    ("classes", "offender"),
    [
        (["a", "b", "a"], "'a'"),
        ([1, 2, 1.0], "1"),
        ([0, False], "0"),
        ([], "empty"),
        (["a", None], "contains None"),
        ([0, NAN], "nan"),
        (["a", ("b",)], "('b',)"),
        (["a", b"b"], "b'b'"),
        ([["a"], ["b"]], "['a']"),
        (np.array([["a"], ["b"]]), "(2, 1)"),
        ("ab", "'ab'"),
        ({"a", "b"}, "{'a', 'b'}"),
        (3, "3"),
        (np.array(3), "()"),
    ],
)
def test_invalid_classes_are_rejected(classes: Any, offender: str) -> None:
    assert offender in error_message(lambda: Responses.from_matrix([["a"]], classes=classes))
    assert offender in error_message(lambda: Responses.from_long([0], [0], ["a"], classes=classes))


# Missing responses


@pytest.mark.parametrize(
    ("array", "missing"),
    [
        (np.array([[0, 9], [1, 0]]), 9),
        (np.array([[0, 255], [1, 0]], dtype=np.uint8), 255),
        (np.array([[0.0, NAN], [1.0, 0.0]]), NAN),
        ([["no", ""], ["yes", "no"]], ""),
        ([[False, -1], [True, False]], -1),
        ([[0, None], [1, 0]], -1),
        ([[0, pd.NA], [1, 0]], -1),
        (np.ma.masked_equal([[0, 7], [1, 0]], 7), -1),
    ],
)
def test_the_missing_marker_means_no_response(array: Any, missing: Any) -> None:
    assert Responses.from_matrix(array, missing).matrix().tolist() == [[0, -1], [1, 0]]


def test_the_missing_marker_cannot_be_a_class() -> None:
    assert "-1" in error_message(lambda: Responses.from_matrix([[1]], classes=[-1, 1]))
    assert "'x'" in error_message(
        lambda: Responses.from_long(**COLUMNS, classes=["x", "y"], missing="x")
    )


def test_a_numeric_missing_marker_does_not_match_a_boolean() -> None:
    responses = Responses.from_matrix([[True, False]], missing=1)
    assert responses.matrix().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "labels", [[], [None, None], [-1, -1], np.array([], dtype=np.int8), np.full(3, -1)]
)
def test_input_without_labels_is_rejected(labels: Any) -> None:
    ids = range(len(labels))
    for message in (
        error_message(lambda: Responses.from_long(ids, ids, labels, missing=-1)),
        error_message(lambda: Responses.from_matrix(np.array(labels).reshape(-1, 1))),
    ):
        assert "no labels" in message
        assert "missing marker" in message


# Values that look alike


@pytest.mark.parametrize(
    "labels", [[1, True], [0, False], [True, 2.0], ["1", 1], ["True", True], ["a", 1]]
)
@pytest.mark.parametrize("as_array", [False, True])
def test_mixed_types_that_look_alike_are_rejected(labels: list[Any], as_array: bool) -> None:
    row: Any = np.array(labels, dtype=object) if as_array else labels
    for message in (
        error_message(lambda: Responses.from_long([0, 1], [0, 0], row)),
        error_message(lambda: Responses.from_matrix([row])),
    ):
        assert "mix types" in message
        assert repr(labels[0]) in message
        assert "classes=" in message


def test_text_and_number_can_be_two_classes() -> None:
    responses = Responses.from_long([0, 1, 2], [0, 0, 0], ["1", 1, "1"], classes=[1, "1"])
    assert responses.matrix().ravel().tolist() == [1, 0, 1]


def test_a_boolean_does_not_match_a_class_that_is_a_number() -> None:
    assert "True" in error_message(lambda: Responses.from_long([0], [0], [True], classes=[0, 1]))
    assert "1" in error_message(lambda: Responses.from_matrix([[1]], classes=[False, True]))


def test_names_that_look_alike_stay_different() -> None:
    responses = Responses.from_long([1, True, "1"], ["a", "a", "a"], ["x", "y", "z"])
    assert [typed(name) for name in responses.items.tolist()] == [
        (int, 1),
        (bool, True),
        (str, "1"),
    ]


# Names


def test_tuples_can_be_item_names() -> None:
    ids = [("doc", 1), ("doc", 2), ("doc", 1)]
    responses = Responses.from_long(ids, [0, 0, 1], ["x", "y", "y"])
    assert responses.items.tolist() == ids[:2]
    assert responses.matrix().tolist() == [[0, 1], [1, -1]]


@pytest.mark.parametrize("null", [None, NAN, pd.NA, pd.NaT, np.float64("nan")])
@pytest.mark.parametrize("name", ["items", "annotators"])
def test_null_names_are_rejected(null: Any, name: str) -> None:
    message = error_message(lambda: Responses.from_long(**{**COLUMNS, name: ["i", null]}))
    assert f"Row 1 has no {name[:-1]}" in message
    matrix = error_message(
        lambda: Responses.from_matrix(np.eye(2), **{name: ["i", null]})  # type: ignore[arg-type]
    )
    assert f"Row 1 has no {name[:-1]}" in matrix


# Invalid labels


@pytest.mark.parametrize("bad", [["x"], {"x": 1}, {"x"}, ("x", []), np.array(["x", "y"])])
def test_unhashable_labels_and_names_are_rejected(bad: Any) -> None:
    column = np.empty(2, dtype=object)
    column[:] = ["x", bad]
    for name in COLUMNS:
        for same in (column, ["x", bad]):
            message = error_message(lambda: Responses.from_long(**{**COLUMNS, name: same}))  # noqa: B023
            assert type(bad).__name__ in message
            assert "text" in message
    error_message(lambda: Responses.from_matrix(column[:, None]))
    error_message(lambda: Responses.from_matrix([["x"]], missing=bad))


@pytest.mark.parametrize(
    ("label", "rule"),
    [
        (0.5, "not a whole number"),
        (float("inf"), "not a whole number"),
        (float("-inf"), "not a whole number"),
        (-7, "missing=-7"),
        (-7.0, "missing=-7"),
    ],
)
@pytest.mark.parametrize("kind", [None, float, object])
def test_fractions_and_negative_numbers_are_rejected(label: Any, rule: str, kind: Any) -> None:
    row: Any = [0, 1, label] if kind is None else np.array([0, 1, label], dtype=kind)
    long = error_message(lambda: Responses.from_long([0, 1, 2], [0, 0, 0], row))
    matrix = error_message(
        lambda: Responses.from_matrix([[0, 1, 0], row], annotators=["a", "b", "c"])
    )
    assert "row 2" in long
    assert "row 1, column 'c'" in matrix
    for message in (long, matrix):
        assert rule in message
        assert repr(int(label) if label == -7 else float(label)) in message


NULLS: dict[str, Any] = {
    "float matrix": np.array([[0, 1, NAN], [1, NAN, 0]]),
    "float32 matrix": np.array([[0, 1, NAN], [1, NAN, 0]], dtype=np.float32),
    "None": [[0, 1, None], [1, None, 0]],
    "pandas NA": [[0, 1, pd.NA], [1, pd.NA, 0]],
    "NaN and None": [[0, 1, NAN], [1, None, 0]],
    "masked": np.ma.masked_array([[0.0, 1, 9], [1, 9, 0]], np.array([[0, 0, 1], [0, 1, 0]], bool)),
    "masked floats": np.ma.masked_array(
        [[0, 1, 9.0], [1, NAN, 0]], np.array([[0, 0, 1], [0, 0, 0]], bool)
    ),
    "text": [["0", "1", "NA"], ["1", "N/A", "0"]],
    "text and NaN": [["0", "1", NAN], ["1", "<NA>", "0"]],
}


@pytest.mark.parametrize("table", NULLS.values(), ids=NULLS.keys())
def test_null_of_every_kind_is_missing(table: Any) -> None:
    expected = [[0, 1, -1], [1, -1, 0]]
    assert Responses.from_matrix(table).matrix().tolist() == expected
    for row, codes in zip(table, expected, strict=True):
        assert Responses.from_long([0] * 3, [0, 1, 2], row).matrix()[0].tolist() == codes
    frame = pd.DataFrame(np.ma.filled(table, NAN) if np.ma.isMaskedArray(table) else table)
    assert Responses.from_wide(frame).matrix().tolist() == expected


@pytest.mark.parametrize("bad", [b"x", 1j, ("x", NAN), date(2020, 1, 1), Decimal(1)])
def test_values_that_are_neither_text_nor_numbers_are_rejected(bad: Any) -> None:
    message = error_message(lambda: Responses.from_long([0, 1], [0, 0], [bad, "x"]))
    assert f"{bad!r} (row 0)" in message
    assert "text" in message


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[s]", complex, "i4,i4"])
def test_arrays_of_dates_complex_numbers_and_records_are_rejected(kind: Any) -> None:
    labels = np.zeros(2, dtype=kind)
    assert "text" in error_message(lambda: Responses.from_long([0, 1], [0, 1], labels))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_whole_numbers_are_coded_in_order_of_appearance(dtype: type[np.integer[Any]]) -> None:
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    for size in (1, 7, 300):
        for low, high in [(0, 9), (info.max - 9, info.max), (info.min, info.max)]:
            values = rng.integers(low, high, size=size, dtype=dtype, endpoint=True)
            codes, names, _ = coding.code_names(values, "item")
            expected = list(dict.fromkeys(values.tolist()))
            assert names.tolist() == expected
            assert names.dtype == dtype
            np.testing.assert_array_equal(names[codes], values)
