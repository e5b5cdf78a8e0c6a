"""Responses: construction, selection, notes, and the input that is rejected."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from blindfuse import Responses
from blindfuse.errors import BlindfuseError
from blindfuse.responses.responses import as_responses
from tests.responses.cases import error_message, four_classes, reported, tables

VOCABULARIES: list[list[Any]] = [
    ["no", "yes", "perhaps"],
    ["007", "1e5", "seven"],
    [False, True],
    [0, 1, 2],
    [3, 40, 500],
    [2**40, 2**41],
    [1, 2**70],
]


# Construction


@given(tables(), st.sampled_from([np.int8, np.int16, np.int64, np.float32]), st.booleans())
def test_matrix_returns_the_given_codes_of_any_type_and_layout(
    table: NDArray[np.int8], kind: type, flip: bool
) -> None:
    same = np.asfortranarray(table) if flip else np.repeat(table, 2, axis=1)[:, ::2]
    for responses in (four_classes(same.astype(kind, order="K")), four_classes(table.tolist())):
        np.testing.assert_array_equal(responses.matrix(), table)
        assert responses.is_complete == (table >= 0).all()
        assert responses.n_responses == (table >= 0).sum()
        np.testing.assert_array_equal(responses.responses_per_item, (table >= 0).sum(axis=1))
        np.testing.assert_array_equal(responses.responses_per_annotator, (table >= 0).sum(axis=0))
    np.testing.assert_array_equal(as_responses(table, np.arange(4)).matrix(), table)


@given(tables(), st.sampled_from(VOCABULARIES), st.randoms(use_true_random=False))
def test_matrix_and_long_list_give_the_same_responses(
    table: NDArray[np.int8], words: list[Any], shuffler: Any
) -> None:
    table = np.where(table >= len(words), 0, table)
    named = [[None if code < 0 else words[code] for code in row] for row in table.tolist()]
    dense = Responses.from_matrix(named, None, classes=words)
    rows = [(n, m, label) for n, row in enumerate(named) for m, label in enumerate(row)]
    shuffler.shuffle(rows)
    columns = list(map(list, zip(*rows, strict=True)))
    sparse = Responses.from_long(*columns, classes=words)
    assert sparse.items.tolist() == list(dict.fromkeys(columns[0]))
    assert sparse.annotators.tolist() == list(dict.fromkeys(columns[1]))
    sorted_labels = sorted({label for label in columns[2] if label is not None})
    assert Responses.from_long(*columns).classes.tolist() == sorted_labels
    assert reported(sparse) == reported(dense)
    np.testing.assert_array_equal(dense.matrix(), table)
    np.testing.assert_array_equal(sparse.matrix(), table[np.ix_(sparse.items, sparse.annotators)])
    np.testing.assert_array_equal(
        sparse.recoded(dense.annotators, dense.classes).matrix()[np.argsort(sparse.items)], table
    )


@pytest.mark.parametrize("column", [pd.Series, pl.Series, np.array, tuple, pd.Index])
def test_from_long_accepts_any_kind_of_column(column: Callable[[Any], Any]) -> None:
    responses = Responses.from_long(column(["b", "a"]), column([4, 2]), column([True, False]))
    assert reported(responses) == {("b", 4): (bool, True), ("a", 2): (bool, False)}


def test_a_table_without_responses_is_allowed_with_classes() -> None:
    matrix = Responses.from_matrix(np.full((3, 2), -1), classes=["a", "b"])
    long = Responses.from_long([], [], [], classes=["a", "b"])
    assert matrix.matrix().tolist() == [[-1, -1]] * 3
    assert (matrix.n_items, matrix.n_annotators, matrix.n_classes, matrix.n_responses) == (
        3,
        2,
        2,
        0,
    )
    assert (long.n_items, long.n_annotators, long.n_classes, long.n_responses) == (0, 0, 2, 0)
    assert matrix.by_annotator.starts.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("n_items", "n_annotators", "n_classes", "kinds"),
    [
        (2, 2, 2, (np.int32, np.int16, np.int8)),
        (2, 2, 200, (np.int32, np.int16, np.int16)),
        (1, 40_000, 127, (np.int32, np.int32, np.int8)),
    ],
)
def test_codes_have_the_smallest_integer_type(
    n_items: int, n_annotators: int, n_classes: int, kinds: tuple[type, ...]
) -> None:
    matrix = Responses.from_matrix(
        np.zeros((n_items, n_annotators), np.int8), classes=range(n_classes)
    )
    items = np.repeat(range(n_items), n_annotators)
    annotators = np.tile(range(n_annotators), n_items)
    long = Responses.from_long(items, annotators, 0 * items, classes=range(n_classes))
    for each in (matrix, long):
        types = each.by_annotator.codes.dtype, each.codes.dtype, each.by_item.symbols.dtype
        assert types == tuple(map(np.dtype, kinds))
        assert each.starts.dtype == np.int32


# Repeated responses


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("abc")), min_size=1),
    st.randoms(use_true_random=False),
)
def test_the_most_frequent_response_counts_whatever_the_order(
    rows: list[tuple[int, int, str]], random: Random
) -> None:
    counts: dict[tuple[int, int], Counter[str]] = {}
    for item, annotator, label in rows:
        counts.setdefault((item, annotator), Counter())[label] += 1
    expected, n_tied = {}, 0
    for cell, times in counts.items():
        (label, best), *others = times.most_common()
        if others and others[0][1] == best:
            n_tied += 1
        else:
            expected[cell] = (str, label)
    for _ in range(3):
        columns = [list(column) for column in zip(*rows, strict=True)]
        responses = Responses.from_long(*columns, classes=list("abc"))
        assert reported(responses) == expected
        assert responses.repeated == len(rows) - len(counts)
        assert responses.contradictory == n_tied
        noted = any(f"{n_tied} contradictory" in note for note in responses.notes)
        assert noted == (n_tied > 0)
        random.shuffle(rows)


# Selection and recoding


@given(tables(), st.data())
def test_recoded_matches_names(table: NDArray[np.int8], data: st.DataObject) -> None:
    n_annotators = table.shape[1]
    annotators = data.draw(st.permutations(range(n_annotators + 2)))
    classes = data.draw(st.permutations(range(6)))
    found = four_classes(table).recoded(np.array(annotators), np.array(classes)).matrix()
    padded = np.hstack([table, np.full((len(table), 2), -1)])
    code_of = np.append(np.argsort(classes), -1)
    np.testing.assert_array_equal(found, code_of[padded[:, annotators]])


def test_recoded_drops_inactive_annotators_and_rejects_unknown_names() -> None:
    responses = Responses.from_matrix([[0, -1, 1]], annotators=["a", "b", "c"])
    assert responses.recoded(np.array(["a", "b", "c"]), np.arange(2)) is responses
    kept = responses.recoded(np.array(["c", "a"]), np.arange(2))
    assert kept.matrix().tolist() == [[1, 0]]
    assert "'c'" in error_message(lambda: responses.recoded(np.array(["a", "b"]), np.arange(2)))
    assert "1" in error_message(lambda: responses.recoded(responses.annotators, np.array([0, 2])))
    assert "0" in error_message(
        lambda: responses.recoded(responses.annotators, np.array([False, True]))
    )


# Immutability


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, object, "U1"])
def test_changing_the_input_does_not_change_the_responses(kind: Any) -> None:
    matrix = np.array([[0, 1], [1, 0]]).astype(kind)
    items, annotators, labels = (np.array([0, 1]).astype(kind) for _ in range(3))
    classes = np.array([0, 1]).astype(kind)
    made = [
        Responses.from_matrix(matrix, items=items, annotators=annotators, classes=classes),
        Responses.from_long(items, annotators, labels, classes=classes),
    ]
    if kind not in (object, "U1"):
        names: dict[str, Any] = {"items": items, "annotators": annotators, "classes": classes}
        made.append(Responses.from_codes(items, annotators, labels, **names))
    before = [(reported(responses), repr(responses)) for responses in made]
    for array in (matrix, items, annotators, labels, classes):
        array[...] = array.flat[1]
    assert [(reported(responses), repr(responses)) for responses in made] == before


# Notes and repr


def test_items_and_annotators_without_responses_are_kept_and_noted() -> None:
    responses = Responses.from_matrix(
        [["x", None], [None, None], ["y", None]], items=["i", "j", "k"], annotators=["ann", "bob"]
    )
    assert responses.matrix().tolist() == [[0, -1], [-1, -1], [1, -1]]
    cells, empty, inactive = responses.notes
    assert cells == "4 empty labels treated as missing"
    assert "1 item without a response" in empty
    assert "'j'" in empty
    assert "1 annotator without a response" in inactive
    assert "'bob'" in inactive
    long = Responses.from_long(["i", "j"], ["ann", "bob"], ["x", None])
    assert long.items.tolist() == ["i", "j"]
    assert len(long.notes) == 3


def test_notes_list_at_most_five_names() -> None:
    (note,) = Responses.from_matrix(np.append(np.full(20, -1), 5)[:, None]).notes
    assert note.startswith("20 items")
    assert "0, 1, 2, 3, 4 and 15 more" in note


def test_repr_has_counts_and_notes() -> None:
    text = repr(Responses.from_long(["i"] * 3 + ["j"], [1, 2, 2, 1], ["a", "b", "c", "c"]))
    for text_part in (
        "2 items",
        "2 annotators",
        "3 classes",
        "2 responses (1.0 per item)",
        "1 repeated response:",
        "1 contradictory response treated as missing",
    ):
        assert text_part in text
    assert "1,500 items" in repr(four_classes(np.zeros((1500, 2), np.int8)))
    assert "\n" not in repr(Responses.from_matrix([[0, 1]]))


# Invalid input

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=2)
    | st.binary(max_size=2)
    | st.dates()
    | st.sampled_from([pd.NA, pd.NaT, np.int8(1), np.bool_(True), np.float32("nan"), np.str_("")])
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=1), inner, max_size=2)
        | arrays(object, st.tuples(st.integers(0, 3), st.integers(0, 3)), elements=inner)
    ),
    max_leaves=12,
)


@settings(max_examples=400)
@given(ANYTHING, st.lists(SCALARS, max_size=4), st.none() | ANYTHING, SCALARS)
def test_any_input_is_read_or_rejected_with_our_own_error(
    table: Any, column: list[Any], classes: Any, missing: Any
) -> None:
    """No other error and no warning is raised for any input."""
    attempts: list[Callable[[], Responses]] = [
        lambda: Responses.from_matrix(table, missing, classes=classes),
        lambda: Responses.from_matrix([column, column], missing, items=table),
        lambda: Responses.from_long(table, table, table, classes=classes, missing=missing),
        lambda: Responses.from_long(column, column[::-1], column, missing=missing),
        lambda: Responses.from_frame(table),
        lambda: Responses.from_wide(table),
        lambda: as_responses(table),
    ]
    for make in attempts:
        try:
            responses = make()
        except BlindfuseError as error:
            assert str(error).endswith((".", "?"))  # noqa: PT017
        else:
            assert np.count_nonzero(responses.matrix() >= 0) == responses.n_responses
            assert repr(responses)
