"""Coding of labels and names: what is a class, what is missing, and what is rejected."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindfuse import Responses
from blindfuse.responses import coding
from tests.responses.cases import NAN, error_message, typed

# Classes


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


# Missing responses

NULLS: dict[str, tuple[Any, Any]] = {
    "float matrix": (np.array([[0, 1, NAN], [1, NAN, 0]]), NAN),
    "float32 matrix": (np.array([[0, 1, NAN], [1, NAN, 0]], dtype=np.float32), -1),
    "None": ([[0, 1, None], [1, None, 0]], -1),
    "pandas NA": ([[0, 1, pd.NA], [1, pd.NA, 0]], -1),
    "NaN and None": ([[0, 1, NAN], [1, None, 0]], -1),
    "masked": (np.ma.masked_equal([[0.0, 1, 9], [1, 9, 0]], 9), -1),
    "masked and NaN": (np.ma.masked_equal([[0, 1, 9.0], [1, NAN, 0]], 9), -1),
    "text": ([["0", "1", "NA"], ["1", "N/A", "0"]], -1),
    "text and NaN": ([["0", "1", NAN], ["1", "<NA>", "0"]], -1),
    "empty text": ([["no", "yes", ""], ["yes", "", "no"]], ""),
    "marker": (np.array([[0, 1, 9], [1, 9, 0]]), 9),
    "unsigned": (np.array([[0, 1, 255], [1, 255, 0]], dtype=np.uint8), 255),
    "booleans": ([[False, True, -1], [True, -1, False]], -1),
}


@pytest.mark.parametrize(("table", "missing"), NULLS.values(), ids=NULLS.keys())
def test_null_of_every_kind_and_the_marker_are_missing(table: Any, missing: Any) -> None:
    expected = [[0, 1, -1], [1, -1, 0]]
    assert Responses.from_matrix(table, missing).matrix().tolist() == expected
    for row, codes in zip(table, expected, strict=True):
        long = Responses.from_long([0] * 3, [0, 1, 2], row, missing=missing)
        assert long.matrix()[0].tolist() == codes
    frame = pd.DataFrame(np.ma.filled(table, NAN) if np.ma.isMaskedArray(table) else table)
    assert Responses.from_wide(frame, missing=missing).matrix().tolist() == expected


def test_a_numeric_missing_marker_does_not_match_a_boolean() -> None:
    responses = Responses.from_matrix([[True, False]], missing=1)
    assert responses.matrix().tolist() == [[1, 0]]


# Values that look alike


def test_text_and_number_can_be_two_classes() -> None:
    responses = Responses.from_long([0, 1, 2], [0, 0, 0], ["1", 1, "1"], classes=[1, "1"])
    assert responses.matrix().ravel().tolist() == [1, 0, 1]


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


# Invalid labels


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
