"""``ResponseSets``: every spelling of a set gives the same table, and notes say what was done."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import BadLabels, BadParameter, ResponseSets
from blindfuse.responses.set_coding import parse_set
from tests.responses.cases import reported

ITEMS = ["i", "i", "j", "j", "k"]
ANNOTATORS = ["ann", "bob", "ann", "bob", "ann"]
SETS: list[Any] = [["a", "b"], ["b"], [], ["c", "a"], None]
EXPECTED = {
    ("i", "ann"): {"a", "b"},
    ("i", "bob"): {"b"},
    ("j", "ann"): set(),
    ("j", "bob"): {"a", "c"},
}


@pytest.mark.parametrize(
    "sets",
    [
        SETS,
        [("a", "b"), ("b",), (), ("c", "a"), None],
        [{"a", "b"}, {"b"}, set(), frozenset(["c", "a"]), float("nan")],
        ["a|b", "b", "", "c|a", None],
        ["a;b", " b ", "", "c; a", "NA"],
        ["a, b", "b", "", "c, a", "null"],
        ['["a", "b"]', '["b"]', "[]", '["c", "a"]', "NA"],
        ["['a', 'b']", "['b']", "set()", "{'c', 'a'}", None],
        [{"a": True, "b": 1, "c": False}, {"b": True}, {"a": 0}, {"c": 1.0, "a": 1}, None],
        ['{"a": true, "b": true}', '{"b": true}', "{}", '{"c": true, "a": true}', None],
        [np.array(["a", "b"]), np.array(["b"]), np.array([]), np.array(["c", "a"]), None],
        [["a", "b"], "b", "", "c|a", None],
    ],
)
def test_every_spelling_of_a_set_is_read(sets: list[Any]) -> None:
    table = ResponseSets.from_long(ITEMS, ANNOTATORS, sets)
    assert reported(table) == EXPECTED
    assert table.classes.tolist() == ["a", "b", "c"]
    assert table.items.tolist() == ["i", "j", "k"]
    assert "1 item without a response" in "\n".join(table.notes)


def test_indicator_columns_are_sets() -> None:
    ticks = [[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1], [None, None, None]]
    texts = [["TRUE", "x", "0"], ["", "yes", "no"], ["0", "0", "0"], ["1", "", "1.0"], [""] * 3]
    for indicators in (ticks, texts):
        table = ResponseSets.from_indicators(ITEMS, ANNOTATORS, indicators, classes=["a", "b", "c"])
        assert reported(table) == EXPECTED
    frame = {"item": ITEMS, "annotator": ANNOTATORS}
    columns = dict(zip("abc", np.array(ticks, dtype=float).T, strict=True))
    for make in (pd.DataFrame, pl.DataFrame):
        table = ResponseSets.from_frame(make({**frame, **columns}), indicators=["a", "b", "c"])
        assert reported(table) == EXPECTED
    with pytest.raises(BadLabels, match="row 1: 2 does not say whether class 'b' applies"):
        ResponseSets.from_indicators([0, 0], [1, 2], [[0, 1], [1, 2]], classes=["a", "b"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("sets", [SETS, ["a|b", "b", "", "c|a", None]])
def test_frames_are_read_with_detected_columns(make: Any, sets: list[Any]) -> None:
    frame = make({"task": ITEMS, "worker": ANNOTATORS, "labels": sets})
    assert reported(ResponseSets.from_frame(frame)) == EXPECTED


def test_wide_frames_have_one_column_of_sets_per_annotator() -> None:
    wide = pl.DataFrame({"item": ["i", "j"], "ann": ["a|b", "[]"], "bob": ["b", "c|a"]})
    table = ResponseSets.from_frame(wide, item="item", annotator=["ann", "bob"])
    assert reported(table) == EXPECTED


def test_a_class_named_twice_counts_once_and_is_said() -> None:
    table = ResponseSets.from_long([0, 0, 1], ["a", "b", "a"], ["x|y|x", ["x"], "x | x"])
    assert reported(table) == {(0, "a"): {"x", "y"}, (0, "b"): {"x"}, (1, "a"): {"x"}}
    assert "2 responses named a class more than once: counted once" in table.notes


def test_one_row_per_class_is_one_set() -> None:
    rows = [("i", "ann", "a"), ("i", "bob", "b"), ("i", "ann", "b"), ("j", "ann", ""), *[]]
    table = ResponseSets.from_long(*zip(*rows, strict=True))
    assert reported(table) == {("i", "ann"): {"a", "b"}, ("i", "bob"): {"b"}, ("j", "ann"): set()}
    assert any("one row per class" in note for note in table.notes)


def test_the_most_frequent_set_counts() -> None:
    table = ResponseSets.from_long([0] * 4, ["ann"] * 4, ["b", "a|b", "b|a", "c"])
    assert reported(table) == {(0, "ann"): {"a", "b"}}
    assert "3 repeated responses" in "\n".join(table.notes)


def test_given_classes_may_contain_the_separator() -> None:
    names = ["a,b", "c"]
    table = ResponseSets.from_long([0, 1], ["x", "x"], ["a,b", "c"], classes=names)
    assert reported(table) == {(0, "x"): {"a,b"}, (1, "x"): {"c"}}
    table = ResponseSets.from_long([0, 1], ["x", "x"], ["a,b/c", "c"], separator="/")
    assert reported(table) == {(0, "x"): {"a,b", "c"}, (1, "x"): {"c"}}


def test_labels_are_converted_as_those_of_responses() -> None:
    sets = [["Cat ", "NA"], ["cat", "dog"], ["NA"], ["none"]]
    table = ResponseSets.from_long([0, 1, 2, 3], ["a"] * 4, sets, fold_case=True, missing="none")
    assert reported(table) == {(0, "a"): {"cat"}, (1, "a"): {"cat", "dog"}}
    numbers = ResponseSets.from_long([0, 1], ["a", "a"], ["1.0|2", "1|10"])
    assert numbers.classes.tolist() == ["1", "2", "10"]


def test_the_table_counts_and_describes_itself() -> None:
    table = ResponseSets.from_long(ITEMS, ANNOTATORS, SETS, classes=["c", "b", "a", "z"])
    assert table.responses_per_class.tolist() == [1, 2, 2, 0]
    assert table.responses_per_annotator.tolist() == [2, 2]
    np.testing.assert_array_equal(table.shares()[0], [0, 1, 0.5, 0])
    assert table.question(1).matrix().tolist() == [[1, 1], [0, 0], [-1, -1]]
    assert "3 items × 2 annotators, 4 classes, 4 responses (1.3 per item, 1.2" in repr(table)
    assert "1 class that no response contains: 'z'" in repr(table)
    assert not table.are_single


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ResponseSets.from_long([0], [0], [["a"]], separator=""), BadParameter, "separate"),
        (lambda: ResponseSets.from_long([None], [0], [["a"]]), BadLabels, "Row 0 has no item"),
        (lambda: ResponseSets.from_long([0], [0], [[("a", "b")]]), BadLabels, "cannot be a class"),
        (
            lambda: ResponseSets.from_long([0], [0], [{"label": "yes"}]),
            BadLabels,
            "'yes' does not say",
        ),
        (lambda: ResponseSets.from_long([0], [0], [5]), BadLabels, "row 0: 5 is not a set"),
        (lambda: ResponseSets.from_long([0], [0], [""]), BadLabels, "No response names a class"),
        (lambda: ResponseSets.from_long([0], [0], [[["a"]]]), BadLabels, "cannot be a label"),
        (
            lambda: ResponseSets.from_indicators([0], [0], [[1]], classes=["a", "b"]),
            BadLabels,
            "one column for each",
        ),
    ],
)
def test_bad_input_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("['a' 'b']", ["a", "b"]),
        ("['a'\n 'b' 'c']", ["a", "b", "c"]),
        ("""['a' "b's" 'c']""", ["a", "b's", "c"]),
        ("""['x "y" "z"']""", ['x "y" "z"']),
        ("['a', 'b']", ["a", "b"]),
        ("['a b']", ["a b"]),
        ("[1 2 3]", [1, 2, 3]),
        ("{a,b}", ["a", "b"]),
        ('{"big cat",dog}', ["big cat", "dog"]),
        ('[{"label": "a", "start": 3}, {"label": "b", "start": 9}]', ["a", "b"]),
        ('[{"name": "a"}]', ["a"]),
    ],
)
def test_arrays_of_numpy_and_databases_are_sets(text: str, classes: list[Any]) -> None:
    assert parse_set(text, ",") == classes


@given(st.lists(st.text("ab c'\"\\", min_size=1, max_size=5), min_size=1, max_size=5))
def test_printed_arrays_of_texts_are_read_back(texts: list[str]) -> None:
    assert parse_set(str(np.array(texts, dtype=object)), None) == texts
    assert parse_set(str(texts), None) == texts
