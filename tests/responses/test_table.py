"""What labels, sets and numbers have in common as tables of annotations, and their notes."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import Numbers, Responses, ResponseSets
from blindfuse.errors import BadLabels, BadParameter
from blindfuse.responses.notes import count_note, percent_range, sum_notes
from blindfuse.responses.rows import Rows
from blindfuse.responses.table import AnnotationTable
from tests.responses.cases import error_message, reported

LONG: dict[str, Callable[..., AnnotationTable]] = {
    "labels": lambda *rows, **options: Responses.from_long(*rows, **options),
    "sets": lambda *rows, **options: ResponseSets.from_long(*rows, **options),
    "numbers": lambda *rows, **options: Numbers.from_long(*rows, **options),
}
VALUES: dict[str, Callable[[int], Any]] = {
    "labels": "c{}".format,
    "sets": "a|b{}".format,
    "numbers": lambda v: v / 2,
}
KINDS: dict[str, Callable[..., AnnotationTable]] = {
    **{kind: lambda rows, kind=kind: LONG[kind](*columns(kind, rows)) for kind in LONG},
    "probabilities": lambda rows: Responses.from_probabilities(
        np.random.default_rng(len(rows)).dirichlet(np.ones(3), (5, 4))
    ),
}
CELLS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20
)
ROWS = [(0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 0, 0)]
every_kind = pytest.mark.parametrize("kind", KINDS)


def columns(kind: str, rows: list[Any]) -> tuple[list[Any], ...]:
    items, annotators, values = map(list, zip(*rows, strict=True))
    return items, annotators, list(map(VALUES[kind], values))


def cells(table: AnnotationTable) -> dict[tuple[Any, Any], Any]:
    """What was reported by item and annotator, with the other fields of each response."""
    extra = [getattr(table, name) for name in table.per_response]
    rows = [each.tolist() for each in extra if each is not None]
    return {
        cell: (value, *(row[at] for row in rows))
        for at, (cell, value) in enumerate(reported(table).items())
    }


# Selection


@every_kind
@given(rows=CELLS, random=st.randoms(use_true_random=False))
def test_tables_are_selected_and_rearranged(kind: str, rows: list[Any], random: Any) -> None:
    table = KINDS[kind](rows)
    assert table.responses_per_item.sum() == table.responses_per_annotator.sum()
    for at, name in enumerate(("items", "annotators")):
        names = getattr(table, name)
        places = random.sample(range(len(names)), random.randint(1, len(names)))
        mask = np.isin(np.arange(len(names)), places)
        for chosen in (places, [place - len(names) for place in places], mask):
            part = getattr(table, f"select_{name}")(chosen)
            assert getattr(part, name).tolist() == names[chosen].tolist()
            kept = {key: value for key, value in cells(table).items() if key[at] in names[chosen]}
            assert cells(part) == kept
    mask = np.array([random.random() < 0.5 for _ in range(table.n_responses)], dtype=bool)
    entries = enumerate(cells(table).items())
    assert cells(table.select_responses(mask)) == {key: x for at, (key, x) in entries if mask[at]}
    items, annotators = (
        np.array(random.sample(range(size), size)) for size in (table.n_items, table.n_annotators)
    )
    moved = table.rearranged(
        table.items[items], np.argsort(items), table.annotators[annotators], np.argsort(annotators)
    )
    assert moved.items.tolist() == table.items[items].tolist()
    assert cells(moved) == cells(table)
    starts, codes, symbols = table.by_annotator
    across = np.full((table.n_annotators, table.n_items), -1.0)
    across[np.repeat(range(table.n_annotators), np.diff(starts)), codes] = symbols
    np.testing.assert_array_equal(across.T, np.nan_to_num(table.matrix(), nan=-1))


@every_kind
@pytest.mark.parametrize("chosen", [[5], [-6], ["a"], [0.5], [[0, 1]], [True], None, slice(2)])
def test_invalid_selections_are_refused(kind: str, chosen: Any) -> None:
    table = KINDS[kind](ROWS)
    assert "items" in error_message(lambda: table.select_items(chosen), BadParameter)
    assert "annotators" in error_message(lambda: table.select_annotators(chosen), BadParameter)
    assert "once" in error_message(lambda: table.select_annotators([1, 1]), BadParameter)


# Repeated responses


@pytest.mark.parametrize("kind", LONG)
@given(rows=CELLS)
def test_repeats_keep_the_last_or_the_first_response(kind: str, rows: list[Any]) -> None:
    last = {row[:2]: row for row in rows}
    first = {row[:2]: row for row in reversed(rows)}
    n_repeated = len(rows) - len(last)
    for repeats, kept in (("last", last), ("first", first)):
        table = LONG[kind](*columns(kind, rows), repeats=repeats)
        assert reported(table) == reported(LONG[kind](*columns(kind, list(kept.values()))))
        assert table.repeated == n_repeated
        assert any("repeated" in note for note in table.notes) == (n_repeated > 0)
    if n_repeated:
        message = error_message(lambda: LONG[kind](*columns(kind, rows), repeats="error"))
        assert "more than once" in message
    else:
        LONG[kind](*columns(kind, rows), repeats="error")
    message = error_message(lambda: LONG[kind](*columns(kind, rows), repeats="no"), BadParameter)
    assert "'last', 'first', 'error'" in message


# Immutability


@every_kind
def test_tables_are_read_only_and_pickled_with_their_notes(kind: str) -> None:
    made = KINDS[kind](ROWS)
    copy = pickle.loads(pickle.dumps(made))
    assert repr(copy) == repr(made)
    assert cells(copy) == cells(made)
    for table in (made, copy, made.select_items([1]), made.select_annotators([1])):
        names = table.items, table.annotators, getattr(table, "classes", table.items)
        counts = table.responses_per_annotator
        for array in (*names, *table.by_item, *table.by_annotator, counts):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = array[:1]
        with pytest.raises(AttributeError):
            table.items = np.arange(2)  # type: ignore[misc]


@every_kind
@pytest.mark.parametrize("codes", [[0, 9], [-1, 0], [1, 0], [0.5, 1.0]])
def test_rows_out_of_bounds_are_refused(kind: str, codes: list[Any]) -> None:
    table = KINDS[kind]([(0, 0, 0), (0, 1, 1)])
    rows = Rows(np.array([0, 2]), np.array(codes), table.by_item.symbols[:2])
    with pytest.raises(BadLabels, match="codes"):
        table.with_rows(table.items[:1], rows)


# Notes that count


def test_a_note_counts_in_singular_and_plural() -> None:
    assert count_note(0, "label{s} skipped") == []
    assert count_note(1, "label{s} skipped") == ["1 label skipped"]
    assert count_note(1200, "class{es} of label{s}") == ["1,200 classes of labels"]


def test_counts_of_the_same_note_are_added_and_other_notes_occur_once() -> None:
    one, other = count_note(1, "label{s} skipped"), count_note(2, "row{s} skipped")
    notes = ["2 labels skipped", "read", "2 rows skipped"]
    assert sum_notes([*one, "read", *other, *one, "read"]) == notes
    assert sum_notes([*sum_notes([*one, *one]), *one]) == ["3 labels skipped"]


def test_limits_that_are_shown_alike_are_one_number() -> None:
    assert percent_range(0.718, 0.84) == "72 to 84 %"
    assert percent_range(0.868, 0.874) == "87 %"
