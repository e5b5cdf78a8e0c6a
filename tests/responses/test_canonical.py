"""Canonical order and groups: responses in any order and under any names give the same."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from blindfuse import Responses, simulate
from blindfuse.responses import canonical as module
from blindfuse.responses.canonical import (
    canonicalize,
    group_identical_items,
    panels,
    sample_by_content,
)
from tests.support.shuffling import shuffle


def tables() -> dict[str, Responses]:
    rng = np.random.default_rng(0)
    return {
        "complete": simulate(200, 7, 3, rng).responses,
        "sparse": simulate(300, 30, 4, rng, missing=0.8).responses,
        "binary": simulate(100, 5, 2, rng, missing=0.3).responses,
        "many classes": simulate(60, 9, 25, rng, missing=0.5).responses,
        "one item with many annotators": simulate(3, 400, 3, rng).responses,
        "empty rows": Responses.from_matrix([[-1, -1, 0], [1, 0, 1], [-1, -1, -1], [1, 1, 1]]),
    }


def rows_of(responses: Responses) -> list[list[Any]]:
    return [array.tolist() for array in responses.by_item]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", tables())
def test_every_order_becomes_the_same_table(name: str, seed: int) -> None:
    table = tables()[name]
    one, other = canonicalize(table), canonicalize(shuffle(table, seed).responses)
    assert rows_of(one.responses) == rows_of(other.responses)


@pytest.mark.parametrize("name", tables())
def test_the_positions_lead_back(name: str) -> None:
    table = tables()[name]
    found = canonicalize(table)
    np.testing.assert_array_equal(found.responses.items, table.items[found.items])
    np.testing.assert_array_equal(found.responses.classes, table.classes[found.classes])
    matrix = found.responses.matrix()
    names = np.append(found.classes, -1)
    original = np.full((table.n_items, table.n_annotators), -1)
    original[np.ix_(found.items, found.annotators)] = names[matrix]
    np.testing.assert_array_equal(original, table.matrix())
    codes, starts = found.responses.by_item.codes, found.responses.by_item.starts
    for n in range(table.n_items):
        assert np.all(np.diff(codes[starts[n] : starts[n + 1]]) > 0)


def test_frequent_annotators_and_classes_come_first_and_classes_can_stay() -> None:
    table = tables()["sparse"]
    found = canonicalize(table).responses
    assert np.all(np.diff(found.responses_per_annotator) <= 0)
    assert np.all(np.diff(found.responses_per_symbol) <= 0)
    kept = canonicalize(table, keep_classes=True)
    assert kept.classes.tolist() == [0, 1, 2, 3]
    assert kept.responses.classes.tolist() == table.classes.tolist()


def test_large_tables_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_REORDERED", 100)
    table = tables()["complete"]
    assert canonicalize(table).responses is table


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_depends_on_content_and_seed_only(seed: int) -> None:
    table = simulate(5000, 8, 3, np.random.default_rng(seed), missing=0.2).responses
    one, other = (
        sample_by_content(each, 0.2, seed) for each in (table, shuffle(table, seed).responses)
    )
    assert rows_of(one) == rows_of(other)
    assert one.n_items == 1000
    again = sample_by_content(table, 0.2, seed + 1)
    assert len(np.intersect1d(one.items, again.items)) < 300


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_a_sample_has_the_same_share_of_equal_items(share: float) -> None:
    table = simulate(20_000, 4, 2, np.random.default_rng(1), skill=0.3).responses
    counts = [
        np.bincount(each.matrix() @ (2 ** np.arange(4)), minlength=16)
        for each in (table, sample_by_content(table, share, 0).recoded(np.arange(4), np.arange(2)))
    ]
    assert np.all(np.abs(counts[1] - share * counts[0]) <= 1)


# Groups of equal items


def test_patterns_are_the_distinct_rows_and_panels_the_distinct_sets_of_annotators() -> None:
    responses = simulate(3000, 5, 3, np.random.default_rng(0), missing=0.5).responses
    matrix = responses.matrix()
    for (distinct, pattern_of), rows in (
        (group_identical_items(responses), matrix),
        (panels(responses), np.where(matrix >= 0, 0, -1)),
    ):
        patterns = [tuple(row) for row in distinct.matrix().tolist()]
        sizes = dict(zip(patterns, np.bincount(pattern_of).tolist(), strict=True))
        assert sizes == Counter(tuple(row) for row in rows.tolist())


def test_complete_responses_form_one_panel() -> None:
    responses = simulate(400, 6, 3, np.random.default_rng(0)).responses
    assert np.bincount(panels(responses)[1]).tolist() == [400]
