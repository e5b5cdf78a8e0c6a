"""``Comparisons``: the ways to create it, what a winner means, and bad input."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import BadLabels, BadParameter, BlindfuseError, Comparisons, fuse_pairs
from blindfuse.comparisons.table import as_comparisons
from tests.support.pair_cases import simulate_pairs

LEFT, RIGHT = ["x", "y", "z", "x"], ["y", "z", "x", "z"]
JUDGES = ["ann", "ann", "bob", "bob"]
BY_NAME = ["x", "tie", "x", "z"]
"""Left, tie, right and right win."""


def rows(table: Comparisons) -> list[tuple[Any, ...]]:
    """The rows of a table by names, sorted."""
    names = (
        table.annotators[table.rows.judge],
        table.items[table.rows.left],
        table.items[table.rows.right],
    )
    return sorted(zip(*map(np.ndarray.tolist, (*names, table.rows.counts)), strict=True))


@pytest.mark.parametrize(
    "winner",
    [
        ["left", "tie", "right", "right"],
        ["Left", "both bad", "RIGHT", " right "],
        ["A", "tie (bothbad)", "B", "B"],
        ["[[A]]", "tie", "[[B]]", "[[B]]"],
        ["model_a", "both_bad", "model_b", "model_b"],
        [1, 0.5, 0, 0],
        ["1", "0.5", "0", "0"],
        np.array([1.0, 0.5, 0.0, 0.0]),
        pl.Series(["x", "draw", "x", "z"]),
    ],
    ids=str,
)
def test_all_words_for_a_winner_mean_the_same(winner: Any) -> None:
    table = Comparisons.from_columns(LEFT, RIGHT, winner, JUDGES)
    assert rows(table) == rows(Comparisons.from_columns(LEFT, RIGHT, BY_NAME, JUDGES))


@pytest.mark.parametrize(
    "names",
    [
        ("left", "right", "winner", "annotator"),
        ("model_a", "model_b", "winner", "judge"),
        ("item1", "item2", "preference", "user"),
        ("Option A", "Option B", "outcome", "rater_id"),
    ],
)
def test_frames_rows_and_columns_give_the_same_table(names: tuple[str, ...]) -> None:
    columns = dict(zip(names, (LEFT, RIGHT, BY_NAME, JUDGES), strict=True))
    expected = rows(Comparisons.from_columns(*columns.values()))
    for frame in (pl.DataFrame(columns), pl.LazyFrame(columns), pd.DataFrame(columns)):
        assert rows(as_comparisons(frame)) == expected
    assert rows(as_comparisons(list(zip(*columns.values(), strict=True)))) == expected


def test_winners_and_losers_have_no_sides() -> None:
    for names in (("chosen", "rejected"), ("winner", "loser")):
        table = Comparisons.from_frame(pl.DataFrame(dict(zip(names, (LEFT, RIGHT), strict=True))))
        assert not table.has_sides
        np.testing.assert_array_equal(table.rows.counts, [[1, 0, 0]] * 4)


def test_equal_comparisons_are_one_row_with_their_weight() -> None:
    table = Comparisons.from_columns(
        ["a", "a", "a"], ["b"] * 3, ["a", "a", "b"], weights=[2, 3, 0.5]
    )
    np.testing.assert_array_equal(table.rows.counts, [[5, 0, 0.5]])


def test_probabilities_are_shares_of_a_win() -> None:
    table = Comparisons.from_columns(["a", "a"], ["b", "b"], [0.8, 0.5])
    np.testing.assert_allclose(table.rows.counts, [[0.8, 1, 0.2]])


def test_names_win_over_words_for_sides() -> None:
    table = Comparisons.from_columns(["b", "a"], ["a", "b"], ["a", "a"])
    assert rows(table) == [("all judges", "a", "b", [1, 0, 0]), ("all judges", "b", "a", [0, 0, 1])]
    numbered = Comparisons.from_columns([0, 5, 1], [5, 1, 7], [1, 0, 1])
    assert rows(numbered)[0][1:] == (0, 5, [1, 0, 0])


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "a winner who is neither side": (
        lambda: fuse_pairs(["a", "b"], ["b", "c"], ["a", "d"]),
        "'d' are neither side of their comparison: row 1 compares 'b' with 'c'",
    ),
    "a number outside of 0 and 1": (lambda: fuse_pairs(["a"], ["b"], [2]), "neither side"),
    "names in some rows, sides in others": (
        lambda: fuse_pairs(["a", "c", "x"], ["b", "d", "y"], ["b", "b", "y"]),
        "'b' are sides, where others are names: row 1 compares",
    ),
    "numbers that are names or shares": (
        lambda: fuse_pairs([0], [1], [0]),
        "may be names of items",
    ),
    "one item": (lambda: fuse_pairs(["a"], ["a"], ["a"]), "nothing to rank"),
    "no winner at all": (lambda: fuse_pairs(["a"], ["b"], [None]), "nothing to rank"),
    "no rows": (lambda: fuse_pairs([], [], []), "nothing to rank"),
    "columns of different lengths": (lambda: fuse_pairs(["a"], ["b", "c"], ["a"]), "same length"),
    "an item without a name": (lambda: fuse_pairs(["a", None], ["b", "c"], ["a", "c"]), "no item"),
    "negative weights": (
        lambda: fuse_pairs(["a"], ["b"], ["a"], weights=[-1]),
        r"Weights -1.0 \(row 0\) are negative",
    ),
    "missing weights": (
        lambda: fuse_pairs(["a"], ["b"], ["a"], weights=[float("nan")]),
        "negative or missing",
    ),
    "infinite weights": (
        lambda: fuse_pairs(["a"], ["b"], ["a"], weights=[float("inf")]),
        "not a finite number",
    ),
    "rows of two": (lambda: fuse_pairs([("a", "b")]), "must have three values"),
    "text": (lambda: fuse_pairs("battles.csv"), "is not a list"),
    "two columns": (lambda: fuse_pairs(["a"], ["b"]), "Pass left, right and winner"),
    "a frame without items": (lambda: fuse_pairs(pl.DataFrame({"u": [1]})), "compared items"),
    "a frame without a winner": (
        lambda: fuse_pairs(pl.DataFrame({"left": [1], "right": [2]})),
        "no columns look like the winner",
    ),
    "an unknown role": (
        lambda: Comparisons.from_frame(pl.DataFrame({"left": [1]}), judge="left"),
        "'judge' must be one of 'left', 'right'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_offender_and_the_next_step(case: str) -> None:
    call, message = BAD[case]
    with pytest.raises(BlindfuseError, match=message) as caught:
        call()
    assert isinstance(caught.value, BadLabels | BadParameter)
    assert str(caught.value).endswith(".")


def test_what_is_left_out_is_counted_in_notes() -> None:
    table = Comparisons.from_columns(
        ["a", "b", "c", "A", "d"], ["b", "b", "a", "c", "a"], ["a", "b", "", "c", None]
    )
    assert table.n_comparisons == 2
    notes = "\n".join(table.notes)
    for note in (
        "2 comparisons without a winner left out",
        "1 comparison of an item with itself left out: 'b'",
        "differ only in form are different items: 'A', 'a'",
        "1 item without a comparison, not ranked: 'd'",
        "2 groups of items were never compared with each other",
    ):
        assert note in notes


@given(st.integers(0, 1000), st.integers(1, 119))
def test_tables_of_parts_add_up(seed: int, cut: int) -> None:
    pairs = simulate_pairs(seed, tie=-1.0, per_judge=40)
    names = np.array([f"item {at}" for at in range(12)], dtype=object)
    pairs = pairs._replace(left=names[pairs.left], right=names[pairs.right])
    prompts = np.arange(120) // 3
    for options in ({}, {"prompts": prompts}, {"weights": np.arange(120) % 4 / 2}):
        parts = [
            Comparisons.from_columns(
                *(column[part] for column in pairs.columns),
                **{name: values[part] for name, values in options.items()},
            )
            for part in (slice(None, cut), slice(cut, None))
        ]
        total = parts[0] + parts[1]
        whole = Comparisons.from_columns(*pairs.columns, **options)
        assert rows(total) == rows(whole)


def test_tables_with_and_without_prompts_do_not_add_up() -> None:
    plain, prompted = (
        Comparisons.from_columns(["a"], ["b"], ["a"], prompts=prompts) for prompts in (None, [1])
    )
    with pytest.raises(BadLabels, match="Only one of both tables has prompts"):
        plain + prompted
