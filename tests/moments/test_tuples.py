"""Pairs and triples of annotators."""

from itertools import combinations, permutations

import numpy as np
import pytest

from blindfuse.moments.tuples import all_tuples, rank, tables_of


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("n_annotators", [3, 4, 9])
def test_ranks_are_positions_in_lexicographic_order(n_annotators: int, size: int) -> None:
    listed = list(combinations(range(n_annotators), size))
    np.testing.assert_array_equal(all_tuples(n_annotators, size), listed)
    for order in permutations(range(size)):
        shuffled = np.array(listed)[:, order]
        np.testing.assert_array_equal(rank(shuffled, n_annotators), np.arange(len(listed)))


def test_tables_turn_with_their_members() -> None:
    rng = np.random.default_rng(0)
    listed = list(combinations(range(5), 3))
    tables = rng.random((len(listed), 2, 2, 2))
    groups = np.array([rng.permutation(5)[:3] for _ in range(50)])
    for group, turned in zip(groups.tolist(), tables_of(tables, groups, 5), strict=True):
        members = sorted(group)
        table = tables[listed.index(tuple(members))]
        for labels in np.ndindex(2, 2, 2):
            said = dict(zip(group, labels, strict=True))
            assert turned[labels] == table[tuple(said[m] for m in members)]
