"""Pairs and triples of annotators."""

from itertools import combinations, permutations

import numpy as np
import pytest

from blindfuse.moments.moments import all_tuples, gather_tables, tuple_rank


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("n_annotators", [3, 4, 9])
def test_ranks_are_positions_in_lexicographic_order(n_annotators: int, size: int) -> None:
    listed = list(combinations(range(n_annotators), size))
    np.testing.assert_array_equal(all_tuples(n_annotators, size), listed)
    for order in permutations(range(size)):
        shuffled = np.array(listed)[:, order]
        np.testing.assert_array_equal(tuple_rank(shuffled, n_annotators), np.arange(len(listed)))


def test_axes_of_gathered_tables_follow_the_members() -> None:
    rng = np.random.default_rng(0)
    listed = list(combinations(range(5), 3))
    tables = rng.random((len(listed), 2, 2, 2))
    groups = np.array([rng.permutation(5)[:3] for _ in range(50)])
    for group, gathered in zip(groups.tolist(), gather_tables(tables, groups, 5), strict=True):
        members = sorted(group)
        table = tables[listed.index(tuple(members))]
        for symbols in np.ndindex(2, 2, 2):
            symbol_of = dict(zip(group, symbols, strict=True))
            assert gathered[symbols] == table[tuple(symbol_of[m] for m in members)]
