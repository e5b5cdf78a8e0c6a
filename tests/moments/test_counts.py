"""Counts of symbols per annotator, pair and triple."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindfuse import BadLabels, MomentCounts, Responses
from tests.moments.cases import random_table


def count_by_definition(responses: Responses) -> MomentCounts:
    """Σ of outer products of one-hot vectors f_m(x_n), zero where the response is missing."""
    onehot = responses.matrix()[:, :, None] == np.arange(responses.n_classes)
    f = onehot.astype(np.int64)
    M = responses.n_annotators
    pairs = [f[:, i].T @ f[:, j] for i, j in combinations(range(M), 2)]
    triples = [
        np.einsum("na,nb,nc->abc", f[:, i], f[:, j], f[:, k])
        for i, j, k in combinations(range(M), 3)
    ]
    return MomentCounts(responses.n_items, f.sum(axis=0), np.array(pairs), np.array(triples))


shapes = st.tuples(st.integers(0, 2**32), st.integers(1, 300), st.integers(3, 6), st.integers(2, 4))


@settings(max_examples=40)
@given(shapes, st.sampled_from([0.0, 0.3, 0.95]))
def test_counts_are_sums_of_outer_products(
    shape: tuple[int, int, int, int], missing: float
) -> None:
    responses = random_table(*shape, missing)
    assert MomentCounts.count(responses) == count_by_definition(responses)


@settings(max_examples=20)
@given(shapes, st.sampled_from([0.0, 0.4]), st.lists(st.floats(0, 1), max_size=4))
def test_counts_of_parts_add_up_exactly(
    shape: tuple[int, int, int, int], missing: float, cuts: list[float]
) -> None:
    responses = random_table(*shape, missing)
    order = np.random.default_rng(shape[0]).permutation(responses.n_items)
    bounds = sorted(round(cut * responses.n_items) for cut in cuts)
    subsets = np.split(order, bounds)
    counts = [MomentCounts.count(responses.select_items(subset)) for subset in subsets]
    total = counts[0]
    for count in counts[1:]:
        total = total + count
    assert total == MomentCounts.count(responses)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_counts_do_not_depend_on_threads(threads: int) -> None:
    responses = random_table(1, 70_000, 4, 3, 0.1)
    assert MomentCounts.count(responses, threads=threads) == count_by_definition(responses)


def test_counts_differ_if_one_response_differs() -> None:
    matrix = np.zeros((10, 3), dtype=int)
    matrix[0] = 1
    other = matrix.copy()
    other[5, 2] = 1
    assert MomentCounts.count(Responses.from_matrix(matrix)) != MomentCounts.count(
        Responses.from_matrix(other)
    )


def test_counts_of_different_shapes_cannot_be_added() -> None:
    with pytest.raises(BadLabels, match="3 annotators × 2 symbols and of 4 × 2"):
        MomentCounts.count(random_table(0, 9, 3, 2, 0)) + MomentCounts.count(
            random_table(0, 9, 4, 2, 0)
        )
