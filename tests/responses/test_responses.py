"""Responses from matrices and lists: what is kept, what is refused, and that views agree."""

import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from types import FrameType
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
from blindfuse.errors import BadLabels, BadParameter, BlindfuseError
from blindfuse.responses import rows
from blindfuse.responses.responses import as_responses

NAN = float("nan")
VOCABULARIES: list[list[Any]] = [
    ["no", "yes", "perhaps"],
    ["007", "1e5", " 7"],
    [False, True],
    [0, 1, 2],
    [3, 40, 500],
    [2**40, 2**41],
    [1, 2**70],
]


@st.composite
def tables(draw: st.DrawFn) -> NDArray[np.int8]:
    """A table of codes below 4 with −1 for no answer, and at least one answer."""
    shape = draw(st.tuples(st.integers(1, 7), st.integers(1, 5)))
    table = draw(arrays(np.int8, shape, elements=st.integers(-1, 3)))
    table.flat[draw(st.integers(0, table.size - 1))] = draw(st.integers(0, 3))
    return table


def four(table: NDArray[Any], **names: Any) -> Responses:
    return Responses.from_matrix(table, classes=range(4), **names)


def typed(value: Any) -> tuple[type, Any]:
    return type(value), value


def answers(responses: Responses) -> dict[tuple[Any, Any], tuple[type, Any]]:
    """What was said, by name, read from the view by item; the type tells True from 1."""
    starts, codes, labels = responses.by_item
    items, annotators = responses.items.tolist(), responses.annotators.tolist()
    classes = responses.classes.tolist()
    return {
        (items[row], annotators[codes[at]]): typed(classes[labels[at]])
        for row in range(len(items))
        for at in range(starts[row], starts[row + 1])
    }


def refusal(make: Callable[[], Any], kind: type[BlindfuseError] = BadLabels) -> str:
    with pytest.raises(BlindfuseError) as caught:
        make()
    assert type(caught.value) is kind
    return str(caught.value)


# What is kept


@given(tables(), st.sampled_from([np.int8, np.int16, np.int64, np.float32]))
def test_matrix_returns_the_codes_that_came_in(table: NDArray[np.int8], kind: type) -> None:
    responses = four(table.astype(kind))
    np.testing.assert_array_equal(responses.matrix(), table)
    assert responses.is_complete == (table >= 0).all()
    assert responses.n_responses == (table >= 0).sum()
    np.testing.assert_array_equal(responses.responses_per_item, (table >= 0).sum(axis=1))
    np.testing.assert_array_equal(responses.responses_per_annotator, (table >= 0).sum(axis=0))


@given(tables(), st.booleans())
def test_layout_and_kind_of_the_array_do_not_matter(table: NDArray[np.int8], flip: bool) -> None:
    same = np.asfortranarray(table) if flip else np.repeat(table, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(four(same).matrix(), table)
    np.testing.assert_array_equal(four(table.tolist()).matrix(), table)
    np.testing.assert_array_equal(as_responses(table, np.arange(4)).matrix(), table)


@given(tables())
def test_without_classes_those_reported_are_taken_sorted(table: NDArray[np.int8]) -> None:
    responses = Responses.from_matrix(10 * table.astype(int), missing=-10)
    assert responses.classes.tolist() == sorted({10 * v for v in table.flat if v >= 0})


@pytest.mark.parametrize("words", VOCABULARIES)
@given(data=st.data())
def test_long_lists_keep_every_answer(words: list[Any], data: st.DataObject) -> None:
    cells = st.tuples(st.sampled_from("cab"), st.sampled_from([9, 2, 5]), st.sampled_from(words))
    rows = data.draw(st.lists(cells, min_size=1, unique_by=lambda row: row[:2]))
    items, annotators, labels = (list(column) for column in zip(*rows, strict=True))
    responses = Responses.from_long(items, annotators, labels)
    assert answers(responses) == {(i, a): typed(label) for i, a, label in rows}
    assert responses.items.tolist() == list(dict.fromkeys(items))
    assert responses.annotators.tolist() == list(dict.fromkeys(annotators))
    assert responses.classes.tolist() == sorted(set(labels))
    assert responses.repeated == 0


@given(tables(), st.sampled_from(VOCABULARIES), st.randoms(use_true_random=False))
def test_dense_and_sparse_agree(table: NDArray[np.int8], words: list[Any], shuffler: Any) -> None:
    table = np.where(table >= len(words), 0, table)
    named = [[None if code < 0 else words[code] for code in row] for row in table.tolist()]
    dense = Responses.from_matrix(named, None, classes=words)
    rows = [(n, m, label) for n, row in enumerate(named) for m, label in enumerate(row)]
    shuffler.shuffle(rows)
    sparse = Responses.from_long(*map(list, zip(*rows, strict=True)), classes=words)
    assert answers(sparse) == answers(dense)
    np.testing.assert_array_equal(dense.matrix(), table)
    np.testing.assert_array_equal(sparse.matrix(), table[np.ix_(sparse.items, sparse.annotators)])
    np.testing.assert_array_equal(
        sparse.recoded(dense.annotators, dense.classes).matrix()[np.argsort(sparse.items)], table
    )


@given(tables())
def test_by_annotator_is_the_transpose_of_by_item(table: NDArray[np.int8]) -> None:
    across, along = four(table).by_annotator, four(table.T.copy()).by_item
    for ours, transposed in zip(across, along, strict=True):
        np.testing.assert_array_equal(ours, transposed)


def test_names_keep_the_order_and_text_they_came_in() -> None:
    long = Responses.from_long(["1e5", "007", "7"], ["b", "a", "b"], ["x", "x", "y"])
    assert long.items.tolist() == ["1e5", "007", "7"]
    assert long.annotators.tolist() == ["b", "a"]
    wide = Responses.from_matrix([[0, 1], [1, 0]], items=["1e5", "007"], annotators=[8, 3])
    assert wide.items.tolist() == ["1e5", "007"]
    assert wide.annotators.tolist() == [8, 3]


def test_tuples_name_items() -> None:
    ids = [("doc", 1), ("doc", 2), ("doc", 1)]
    responses = Responses.from_long(ids, [0, 0, 1], ["x", "y", "y"])
    assert responses.items.tolist() == ids[:2]
    assert responses.matrix().tolist() == [[0, 1], [1, -1]]


@pytest.mark.parametrize("column", [pd.Series, pl.Series, np.array, tuple, pd.Index])
def test_any_kind_of_column_makes_a_long_table(column: Callable[[Any], Any]) -> None:
    responses = Responses.from_long(column(["b", "a"]), column([4, 2]), column([True, False]))
    assert answers(responses) == {("b", 4): (bool, True), ("a", 2): (bool, False)}


@pytest.mark.parametrize("column", [pd.Series, pl.Series])
def test_a_null_in_a_series_is_no_answer(column: Callable[[Any], Any]) -> None:
    ids = column([1, 2])
    assert Responses.from_long(ids, ids, column([True, None])).n_responses == 1
    assert Responses.from_long(ids, ids, column(["x", None])).n_responses == 1
    assert Responses.from_long(ids, ids, column([3, None])).classes.tolist() == [3]


def test_given_classes_keep_their_order_and_the_unreported() -> None:
    for responses in (
        Responses.from_matrix([["b", "a"]], classes=["c", "b", "a"]),
        Responses.from_long([0, 0], [0, 1], ["b", "a"], classes=["c", "b", "a"]),
    ):
        assert responses.classes.tolist() == ["c", "b", "a"]
        assert responses.matrix().tolist() == [[1, 2]]
        assert any("'c'" in note for note in responses.notes)


def test_an_empty_table_with_classes_is_allowed() -> None:
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
def test_the_missing_marker_is_no_answer(array: Any, missing: Any) -> None:
    assert Responses.from_matrix(array, missing).matrix().tolist() == [[0, -1], [1, 0]]


@pytest.mark.parametrize(("count", "kind"), [(2, np.int8), (127, np.int8), (200, np.int16)])
def test_labels_have_the_smallest_type(count: int, kind: type) -> None:
    row = np.arange(count)[None]
    for responses in (
        Responses.from_matrix(row),
        Responses.from_matrix([[0]], classes=range(count)),
        Responses.from_long(row[0], row[0], row[0]),
    ):
        assert responses.by_item.labels.dtype == kind
        assert responses.by_annotator.labels.dtype == kind


def test_annotators_items_and_starts_have_the_smallest_type() -> None:
    few = Responses.from_long([0, 1], [0, 1], [0, 1])
    many = Responses.from_long([0, 0], [0, 0], [0, 1]).recoded(np.arange(40_000), np.arange(2))
    wide = Responses.from_matrix(np.zeros((1, 40_000), np.int8))
    assert [few.by_item.codes.dtype, many.by_item.codes.dtype, wide.by_item.codes.dtype] == [
        np.int16,
        np.int32,
        np.int32,
    ]
    assert few.by_annotator.codes.dtype == np.int32
    assert few.by_item.starts.dtype == few.by_annotator.starts.dtype == np.int32


def test_a_clean_matrix_costs_no_python_step_per_label() -> None:
    """Ten thousand rows run no more bytecodes than ten, but for odd finalisers."""

    def steps(rows: int) -> int:
        matrix = np.tile(np.array([[0, 1, 2], [2, 1, 0]], dtype=np.int8), (rows // 2, 1))
        count = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal count
            frame.f_trace_opcodes = True
            count += event == "opcode"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            Responses.from_matrix(matrix)
        finally:
            sys.settrace(before)
        return count

    steps(10)
    assert steps(10) > 0
    assert steps(10_000) < steps(10) + 1_000


# Values that look alike


def test_whole_floats_are_integers() -> None:
    responses = Responses.from_long([0, 1, 2], [0, 0, 0], [1.0, 1, 0])
    assert [typed(name) for name in responses.classes.tolist()] == [(int, 0), (int, 1)]
    assert responses.matrix().tolist() == [[1], [1], [0]]
    assert Responses.from_matrix(np.array([[2.0, 0.0]])).classes.tolist() == [0, 2]


@pytest.mark.parametrize("labels", [[1, True], [0, False], [True, 2.0], ["1", 1], ["True", True]])
@pytest.mark.parametrize("as_array", [False, True])
def test_look_alikes_are_refused(labels: list[Any], as_array: bool) -> None:
    row: Any = np.array(labels, dtype=object) if as_array else labels
    for message in (
        refusal(lambda: Responses.from_long([0, 1], [0, 0], row)),
        refusal(lambda: Responses.from_matrix([row])),
    ):
        assert "mix types" in message
        assert repr(labels[0]) in message
        assert "classes=" in message


def test_text_and_number_are_two_classes_if_both_are_named() -> None:
    responses = Responses.from_long([0, 1, 2], [0, 0, 0], ["1", 1, "1"], classes=[1, "1"])
    assert responses.matrix().ravel().tolist() == [1, 0, 1]


def test_a_boolean_is_no_number_even_if_the_number_is_a_class() -> None:
    assert "True" in refusal(lambda: Responses.from_long([0], [0], [True], classes=[0, 1]))
    assert "1" in refusal(lambda: Responses.from_matrix([[1]], classes=[False, True]))


def test_a_numeric_missing_marker_is_no_boolean() -> None:
    responses = Responses.from_matrix([[True, False]], missing=1)
    assert responses.matrix().tolist() == [[1, 0]]


def test_names_that_look_alike_stay_apart() -> None:
    responses = Responses.from_long([1, True, "1"], ["a", "a", "a"], ["x", "y", "z"])
    assert [typed(name) for name in responses.items.tolist()] == [
        (int, 1),
        (bool, True),
        (str, "1"),
    ]


def test_text_of_numpy_and_of_python_is_one() -> None:
    responses = Responses.from_long([np.str_("i"), "i"], [0, 1], [np.str_("x"), "x"])
    assert responses.matrix().tolist() == [[0, 0]]


# Repeated answers


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from("abc")), min_size=1)
)
def test_repeats_keep_the_last_or_the_first(rows: list[tuple[int, int, str]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    last = {(i, a): (str, label) for i, a, label in rows}
    first = {(i, a): (str, label) for i, a, label in reversed(rows)}
    again = len(rows) - len(last)
    for repeats, expected in (("last", last), ("first", first)):
        responses = Responses.from_long(*columns, repeats=repeats)  # type: ignore[arg-type]
        assert answers(responses) == expected
        assert responses.repeated == again
        assert any("dropped" in note for note in responses.notes) == (again > 0)
    assert answers(Responses.from_long(*columns)) == last
    if again:
        refusal(lambda: Responses.from_long(*columns, repeats="error"))
    else:
        assert answers(Responses.from_long(*columns, repeats="error")) == last


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 70))), st.sampled_from(["last", "first"])
)
def test_answers_are_sorted_once_in_pieces_as_in_one(
    cells: list[tuple[int, int]], repeats: Any
) -> None:
    places = list(enumerate(cells))
    place = {cell: at for at, cell in (places if repeats == "last" else reversed(places))}
    expected = sorted(place)
    items, codes = np.array(cells, dtype=np.int32).reshape(-1, 2).T
    answers = items, codes, np.arange(len(cells))
    for least in (1, len(cells) + 1):  # as many pieces as there are threads, and one
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rows, "LEAST_ANSWERS", least)
            found, repeated = rows.sorted_once(*answers, (6, 71), repeats)
        assert np.repeat(np.arange(6), np.diff(found.starts)).tolist() == [c[0] for c in expected]
        assert found.codes.tolist() == [cell[1] for cell in expected]
        assert found.labels.tolist() == [place[cell] for cell in expected]
        assert repeated == len(cells) - len(place)


def test_a_repeat_is_refused_by_name() -> None:
    message = refusal(
        lambda: Responses.from_long(
            ["i", "j", "j"], ["ann", "bob", "bob"], ["x", "y", "y"], repeats="error"
        )
    )
    assert "'bob'" in message
    assert "'j'" in message
    assert "'ann'" not in message


def test_no_answer_does_not_repeat_an_answer() -> None:
    responses = Responses.from_long([0, 0, 1], [0, 0, 0], ["x", None, "y"], repeats="error")
    assert responses.matrix().tolist() == [[0], [1]]


def test_repeats_must_be_one_of_three() -> None:
    make = Responses.from_long
    message = refusal(lambda: make([0], [0], ["x"], repeats="sometimes"), BadParameter)  # type: ignore[arg-type]
    assert "'sometimes'" in message
    assert "'last', 'first', 'error'" in message


# Parts


@given(tables(), st.data())
def test_select_items_is_indexing(table: NDArray[np.int8], data: st.DataObject) -> None:
    n_items = len(table)
    picks: list[Any] = data.draw(
        st.lists(st.integers(-n_items, n_items - 1))
        | st.lists(st.booleans(), min_size=n_items, max_size=n_items)
    )
    where = np.array(picks) if picks else np.array([], dtype=int)
    part = four(table, items=[f"i{n}" for n in range(n_items)]).select_items(picks)
    np.testing.assert_array_equal(part.matrix(), table[where])
    assert part.items.tolist() == [f"i{n}" for n in np.arange(n_items)[where]]
    np.testing.assert_array_equal(part.by_annotator.labels, four(table[where]).by_annotator.labels)


@given(tables(), st.data())
def test_select_annotators_is_indexing(table: NDArray[np.int8], data: st.DataObject) -> None:
    n_annotators = table.shape[1]
    picks = data.draw(st.lists(st.integers(0, n_annotators - 1), unique=True))
    part = four(table, annotators=[f"a{m}" for m in range(n_annotators)]).select_annotators(picks)
    np.testing.assert_array_equal(part.matrix(), table[:, picks])
    assert part.annotators.tolist() == [f"a{m}" for m in picks]
    mask = np.isin(np.arange(n_annotators), picks)
    np.testing.assert_array_equal(four(table).select_annotators(mask).matrix(), table[:, mask])


@given(tables(), st.data())
def test_recoded_is_a_lookup_by_name(table: NDArray[np.int8], data: st.DataObject) -> None:
    n_annotators = table.shape[1]
    annotators = data.draw(st.permutations(range(n_annotators + 2)))
    classes = data.draw(st.permutations(range(6)))
    found = four(table).recoded(np.array(annotators), np.array(classes)).matrix()
    padded = np.hstack([table, np.full((len(table), 2), -1)])
    code_of = np.append(np.argsort(classes), -1)
    np.testing.assert_array_equal(found, code_of[padded[:, annotators]])


def test_recoded_to_the_same_names_is_the_same() -> None:
    responses = four(np.array([[0, 1], [2, 3]]))
    assert responses.recoded(np.arange(2), np.arange(4)) is responses


def test_recoded_drops_the_silent_and_refuses_the_unknown() -> None:
    responses = Responses.from_matrix([[0, -1, 1]], annotators=["a", "b", "c"])
    kept = responses.recoded(np.array(["c", "a"]), np.arange(2))
    assert kept.matrix().tolist() == [[1, 0]]
    assert "'c'" in refusal(lambda: responses.recoded(np.array(["a", "b"]), np.arange(2)))
    assert "1" in refusal(lambda: responses.recoded(responses.annotators, np.array([0, 2])))
    assert "0" in refusal(lambda: responses.recoded(responses.annotators, np.array([False, True])))


@pytest.mark.parametrize("chosen", [[5], [-3], ["a"], [0.5], [[0, 1]], [True], None, slice(2)])
def test_parts_that_are_not_there_are_refused(chosen: Any) -> None:
    responses = four(np.zeros((2, 2), np.int8))
    assert "items" in refusal(lambda: responses.select_items(chosen), BadParameter)
    assert "annotators" in refusal(lambda: responses.select_annotators(chosen), BadParameter)


def test_an_annotator_cannot_be_chosen_twice() -> None:
    responses = four(np.zeros((2, 2), np.int8))
    assert "once" in refusal(lambda: responses.select_annotators([1, 1]), BadParameter)


# Nothing changes afterwards


def test_arrays_are_read_only() -> None:
    ones = [0, 1]
    for responses in (
        Responses.from_matrix(np.array([[0, 1], [1, -1]]), items=ones, annotators=ones),
        Responses.from_matrix(np.array([[0, 1], [1, 0]])),
        Responses.from_long(["a", "b"], ["a", "b"], ["a", "b"]),
        four(np.zeros((2, 2), np.int8)).select_items([1]),
        four(np.zeros((2, 2), np.int8)).select_annotators([1]),
    ):
        for array in (
            responses.items,
            responses.annotators,
            responses.classes,
            *responses.by_item,
            *responses.by_annotator,
            responses.responses_per_annotator,
        ):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = array[0]
        with pytest.raises(AttributeError):
            responses.items = np.arange(2)  # type: ignore[misc]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, object, "U1"])
def test_changing_the_input_changes_nothing(kind: Any) -> None:
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
    before = [(answers(responses), repr(responses)) for responses in made]
    for array in (matrix, items, annotators, labels, classes):
        array[...] = array.flat[1]
    assert [(answers(responses), repr(responses)) for responses in made] == before


def test_inputs_are_not_changed() -> None:
    matrix = np.array([[3, -1], [5, 3]])
    matrix.flags.writeable = False
    Responses.from_matrix(matrix)
    assert matrix.tolist() == [[3, -1], [5, 3]]


# What a person is told


def test_the_silent_and_the_unanswered_are_kept_and_noted() -> None:
    responses = Responses.from_matrix(
        [["x", None], [None, None], ["y", None]], items=["i", "j", "k"], annotators=["ann", "bob"]
    )
    assert responses.matrix().tolist() == [[0, -1], [-1, -1], [1, -1]]
    unanswered, silent = responses.notes
    assert "1 items without an answer" in unanswered
    assert "'j'" in unanswered
    assert "1 annotators without an answer" in silent
    assert "'bob'" in silent
    long = Responses.from_long(["i", "j"], ["ann", "bob"], ["x", None])
    assert long.items.tolist() == ["i", "j"]
    assert len(long.notes) == 2


def test_notes_name_five_at_most() -> None:
    (note,) = Responses.from_matrix(np.append(np.full(20, -1), 0)[:, None]).notes
    assert note.startswith("20 items")
    assert "0, 1, 2, 3, 4 and 15 more" in note


def test_repr_counts_and_notes() -> None:
    text = repr(Responses.from_long(["i"] * 3 + ["j"], [1, 2, 2, 1], ["a", "b", "c", "c"]))
    for part in ("2 items", "2 annotators", "3 classes", "3 labels", "1 answers dropped"):
        assert part in text
    assert "1,500 items" in repr(four(np.zeros((1500, 2), np.int8)))
    assert "\n" not in repr(Responses.from_matrix([[0, 1]]))


# What is refused

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
def test_anything_is_read_or_refused_in_our_words(
    table: Any, column: list[Any], classes: Any, missing: Any
) -> None:
    """No error from inside, and no warning, whatever comes in."""
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
        except BlindfuseError as refused:
            assert str(refused).endswith((".", "?"))  # noqa: PT017
        else:
            assert np.count_nonzero(responses.matrix() >= 0) == responses.n_responses
            assert repr(responses)


ROW: dict[str, Any] = {"items": ["i", "j"], "annotators": ["a", "a"], "labels": ["x", "y"]}


@pytest.mark.parametrize(
    "labels", [[], [None, None], [-1, -1], np.array([], dtype=np.int8), np.full(3, -1)]
)
def test_no_label_at_all(labels: Any) -> None:
    ids = range(len(labels))
    for message in (
        refusal(lambda: Responses.from_long(ids, ids, labels, missing=-1)),
        refusal(lambda: Responses.from_matrix(np.array(labels).reshape(-1, 1))),
    ):
        assert "no label at all" in message
        assert "missing marker" in message


@pytest.mark.parametrize(
    ("label", "rule"),
    [
        (NAN, "missing=float('nan')"),
        (np.float32("nan"), "missing=float('nan')"),
        (0.5, "not a whole number"),
        (float("inf"), "not a whole number"),
        (float("-inf"), "not a whole number"),
        (-7, "missing=-7"),
        (-7.0, "missing=-7"),
    ],
)
@pytest.mark.parametrize("kind", [None, float, object])
def test_numbers_that_are_no_class(label: Any, rule: str, kind: Any) -> None:
    row: Any = [0, 1, label] if kind is None else np.array([0, 1, label], dtype=kind)
    long = refusal(lambda: Responses.from_long([0, 1, 2], [0, 0, 0], row))
    matrix = refusal(lambda: Responses.from_matrix([[0, 1, 0], row], annotators=["a", "b", "c"]))
    assert "row 2" in long
    assert "row 1, column 'c'" in matrix
    for message in (long, matrix):
        assert rule in message
        assert repr(int(label) if label == -7 else float(label)) in message


def test_negative_labels_are_fine_as_named_classes() -> None:
    responses = Responses.from_matrix(np.array([[-1, 1]]), missing=None, classes=[-1, 1])
    assert responses.matrix().tolist() == [[0, 1]]
    assert Responses.from_long([0], [0], [0.5], classes=[0.5]).classes.tolist() == [0.5]


def test_labels_outside_the_classes() -> None:
    labels = ["x", *"abcdefg"]
    ids = range(len(labels))
    message = refusal(lambda: Responses.from_long(ids, ids, labels, classes=["x", "y"]))
    assert "'a', 'b', 'c', 'd', 'e' and 2 more (row 1)" in message
    assert "'x', 'y'" in message
    assert "classes=" in message
    numbers = refusal(lambda: Responses.from_matrix(np.array([[0, 1], [2, 0]]), classes=[0, 1]))
    assert "2 (row 1, column 0)" in numbers


@pytest.mark.parametrize("classes", [None, range(1001)])
def test_more_than_a_thousand_classes(classes: Any) -> None:
    column = np.arange(1001)
    for message in (
        refusal(lambda: Responses.from_matrix(column[:, None], classes=classes)),
        refusal(lambda: Responses.from_long(column, column, column, classes=classes)),
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
        (["a", None], "holds None"),
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
def test_classes_that_are_no_classes(classes: Any, offender: str) -> None:
    assert offender in refusal(lambda: Responses.from_matrix([["a"]], classes=classes))
    assert offender in refusal(lambda: Responses.from_long([0], [0], ["a"], classes=classes))


def test_the_missing_marker_is_no_class() -> None:
    assert "-1" in refusal(lambda: Responses.from_matrix([[1]], classes=[-1, 1]))
    assert "'x'" in refusal(lambda: Responses.from_long(**ROW, classes=["x", "y"], missing="x"))


@pytest.mark.parametrize("bad", [["x"], {"x": 1}, {"x"}, ("x", []), np.array(["x", "y"])])
def test_unhashable_labels_and_names(bad: Any) -> None:
    column = np.empty(2, dtype=object)
    column[:] = ["x", bad]
    for name in ROW:
        for same in (column, ["x", bad]):
            message = refusal(lambda: Responses.from_long(**{**ROW, name: same}))  # noqa: B023
            assert type(bad).__name__ in message
            assert "text" in message
    refusal(lambda: Responses.from_matrix(column[:, None]))
    refusal(lambda: Responses.from_matrix([["x"]], missing=bad))


@pytest.mark.parametrize("labels", [["a", 1], ["a", True], [1, 2, 3, 4, 5, 6, "a"]])
def test_labels_that_do_not_sort(labels: list[Any]) -> None:
    ids = range(len(labels))
    message = refusal(lambda: Responses.from_long(ids, ids, labels))
    assert repr(labels[-1]) in message
    assert "classes=" in message


@pytest.mark.parametrize("bad", [b"x", 1j, ("x", NAN), date(2020, 1, 1), Decimal(1)])
def test_values_that_are_neither_text_nor_numbers(bad: Any) -> None:
    message = refusal(lambda: Responses.from_long([0, 1], [0, 0], [bad, "x"]))
    assert f"{bad!r} (row 0)" in message
    assert "text" in message


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[s]", complex, "i4,i4"])
def test_arrays_of_odd_types_are_no_labels(kind: Any) -> None:
    labels = np.zeros(2, dtype=kind)
    assert "text" in refusal(lambda: Responses.from_long([0, 1], [0, 1], labels))


@pytest.mark.parametrize("null", [None, NAN, pd.NA, pd.NaT, np.float64("nan")])
@pytest.mark.parametrize("name", ["items", "annotators"])
def test_ids_must_not_be_null(null: Any, name: str) -> None:
    message = refusal(lambda: Responses.from_long(**{**ROW, name: ["i", null]}))
    assert f"Row 1 has no {name[:-1]}" in message
    matrix = refusal(lambda: Responses.from_matrix(np.eye(2), **{name: ["i", null]}))
    assert f"Row 1 has no {name[:-1]}" in matrix


def test_null_ids_in_typed_arrays() -> None:
    assert "Row 1" in refusal(lambda: Responses.from_long(**{**ROW, "items": np.array([0, NAN])}))
    times = np.array(["2020-01-01", "NaT"], dtype="datetime64[s]")
    assert "Row 1" in refusal(lambda: Responses.from_long(**{**ROW, "annotators": times}))


@pytest.mark.parametrize("name", ["items", "annotators", "labels"])
@pytest.mark.parametrize("column", [["x"], ["x", "y", "z"], []])
def test_columns_of_different_lengths(name: str, column: list[str]) -> None:
    message = refusal(lambda: Responses.from_long(**{**ROW, name: column}))
    assert str(len(column)) in message
    assert "2" in message


@pytest.mark.parametrize("name", ["items", "annotators", "labels"])
@pytest.mark.parametrize("column", [None, 5, "xy", np.array(5), np.eye(2), {"x": 1, "y": 2}])
def test_columns_that_are_no_columns(name: str, column: Any) -> None:
    refusal(lambda: Responses.from_long(**{**ROW, name: column}))


@pytest.mark.parametrize(
    ("rows", "offender"),
    [
        ([[0, 1], [0, 1], [0]], "Row 2 has 1 labels where row 0 has 2"),
        ([[0], [0, 1]], "Row 1 has 2 labels where row 0 has 1"),
        ([["a", "b"], []], "Row 1 has 0 labels where row 0 has 2"),
        ([[0, 1], 0], "Row 1 has 1 labels where row 0 has 2"),
        ([np.array(1), [0, 1]], "Row 1 has 2 labels where row 0 has 1"),
        ([np.zeros(2), np.zeros(3)], "Row 1 has 3 labels where row 0 has 2"),
        (np.array([[0], [0, 1]], dtype=object), "Row 1 has 2 labels where row 0 has 1"),
    ],
)
def test_ragged_rows(rows: Any, offender: str) -> None:
    message = refusal(lambda: Responses.from_matrix(rows))
    assert offender in message
    assert "missing marker" in message


@pytest.mark.parametrize(
    "array",
    [
        None,
        5,
        "text",
        [],
        [[]],
        [0, 1],
        ["ab", "c"],
        {0, 1},
        np.array(1),
        np.array([0, 1]),
        np.zeros((2, 0)),
        np.zeros((2, 2, 2)),
        [[[0, 1]], [[0, 1]]],
        [np.zeros((2, 2)), np.zeros((2, 3))],
        iter([[0, 1]]),
    ],
)
def test_data_that_is_no_matrix(array: Any) -> None:
    for make in (Responses.from_matrix, as_responses):
        message = refusal(lambda: make(array))  # noqa: B023
        assert "matrix [item, annotator]" in message
        assert "from_long" in message


@pytest.mark.parametrize("kind", ["items", "annotators"])
def test_names_for_a_matrix(kind: str) -> None:
    def named(*names: Any) -> str:
        return refusal(lambda: Responses.from_matrix(np.eye(3, dtype=int), **{kind: list(names)}))

    assert "'a'" in named("a", "b", "a")
    assert f"2 names, but the matrix has 3 {kind}" in named("a", "b")
    assert "list" in named("a", "b", ["c"])


@pytest.mark.parametrize("at", [0, 1, 2])
def test_codes_without_a_name(at: int) -> None:
    codes = [np.array([0, 1]) for _ in range(3)]
    codes[at] = np.array([0, 2])
    two = np.arange(2)
    message = refusal(lambda: Responses.from_codes(*codes, items=two, annotators=two, classes=two))
    assert ("item", "annotator", "label")[at] + " 2" in message
