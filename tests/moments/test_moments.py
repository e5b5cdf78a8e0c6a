"""Counts of co-occurring labels, and the moments made of them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from blindfuse import BadLabels, MomentCounts, Responses, simulate


def table(seed: int, n: int, m: int, k: int, missing: float) -> Responses:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(k, size=(n, m))
    matrix[rng.random((n, m)) < missing] = -1
    return Responses.from_matrix(matrix, classes=range(k))


def counted_by_definition(responses: Responses) -> MomentCounts:
    """Σ of outer products of one-hot vectors f_m(x_n), zero where there is no answer."""
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
    responses = table(*shape, missing)
    assert MomentCounts.count(responses) == counted_by_definition(responses)


@settings(max_examples=20)
@given(shapes, st.sampled_from([0.0, 0.4]), st.lists(st.floats(0, 1), max_size=4))
def test_pieces_add_up_bit_for_bit(
    shape: tuple[int, int, int, int], missing: float, cuts: list[float]
) -> None:
    responses = table(*shape, missing)
    order = np.random.default_rng(shape[0]).permutation(responses.n_items)
    bounds = sorted(round(cut * responses.n_items) for cut in cuts)
    pieces = np.split(order, bounds)
    counts = [MomentCounts.count(responses.select_items(piece)) for piece in pieces]
    total = counts[0]
    for count in counts[1:]:
        total = total + count
    assert total == MomentCounts.count(responses)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads: int) -> None:
    responses = table(1, 70_000, 4, 3, 0.1)
    assert MomentCounts.count(responses, threads=threads) == counted_by_definition(responses)


def test_complete_answers_count_the_same_with_and_without_the_short_cut() -> None:
    """One more annotator who never answers makes the table incomplete, and changes no count."""
    complete = table(2, 500, 4, 3, 0.0)
    with_silent = Responses.from_matrix(
        np.column_stack([complete.matrix(), np.full(500, -1)]), classes=range(3)
    )
    short, full = MomentCounts.count(complete), MomentCounts.count(with_silent)
    pair_of_four = [p for p, pair in enumerate(combinations(range(5), 2)) if 4 not in pair]
    triple_of_four = [t for t, triple in enumerate(combinations(range(5), 3)) if 4 not in triple]
    np.testing.assert_array_equal(short.singles, full.singles[:4])
    np.testing.assert_array_equal(short.pairs, full.pairs[pair_of_four])
    np.testing.assert_array_equal(short.triples, full.triples[triple_of_four])


def test_counts_differ_where_one_label_differs() -> None:
    matrix = np.zeros((10, 3), dtype=int)
    matrix[0] = 1
    other = matrix.copy()
    other[5, 2] = 1
    assert MomentCounts.count(Responses.from_matrix(matrix)) != MomentCounts.count(
        Responses.from_matrix(other)
    )


def test_counts_of_different_shape_do_not_add() -> None:
    with pytest.raises(BadLabels, match="3 annotators × 2 classes and of 4 × 2"):
        MomentCounts.count(table(0, 9, 3, 2, 0)) + MomentCounts.count(table(0, 9, 4, 2, 0))


def test_moments_average_over_items_seen_together() -> None:
    matrix = np.array([[0, 0, 1], [1, 0, -1], [1, 1, -1], [-1, 1, 1]])
    moments = MomentCounts.count(Responses.from_matrix(matrix)).moments()
    np.testing.assert_allclose(moments.means, np.array([[1 / 3, 2 / 3], [0.5, 0.5], [0, 1]]))
    np.testing.assert_array_equal(moments.seen_pairs, [3, 1, 2])
    np.testing.assert_allclose(moments.cross[0], [[1 / 3, 0], [1 / 3, 1 / 3]])
    assert moments.seen_triples == [1]
    assert moments.third[0, 0, 0, 1] == 1


def test_a_pair_never_seen_together_has_weight_zero_and_no_nan() -> None:
    matrix = np.array([[0, 1, -1, 0], [1, -1, 0, 1], [1, 1, -1, 0], [0, -1, 1, 0]])
    moments = MomentCounts.count(Responses.from_matrix(matrix)).moments()
    together = list(combinations(range(4), 2)).index((1, 2))
    assert moments.weights("equal")[1][together] == moments.weights("counts")[1][together] == 0
    assert np.isfinite(moments.cross).all()
    assert np.isfinite(moments.third).all()


@pytest.mark.parametrize("seed", range(5))
def test_moments_approach_those_of_the_model(seed: int) -> None:
    """(13), (14) and (16): the objective at the truth is sampling noise, which falls as 1/N."""
    rng = np.random.default_rng(seed)
    simulation = simulate(200_000, 4, 3, rng, missing=0.2)
    moments = MomentCounts.count(simulation.responses).moments()
    at_truth = moments.objective(simulation.model.confusions, simulation.model.prior)
    shuffled = simulation.model.confusions.copy()
    shuffled[0] = shuffled[0][:, [1, 2, 0]]
    assert at_truth < 1e-4
    assert moments.objective(shuffled, simulation.model.prior) > 100 * at_truth


def test_objective_is_half_the_weighted_squares() -> None:
    responses = table(3, 60, 3, 2, 0.3)
    moments = MomentCounts.count(responses).moments()
    rng = np.random.default_rng(0)
    gamma: NDArray[np.float64] = rng.dirichlet(np.ones(2), size=(3, 2)).transpose(0, 2, 1)
    prior = np.array([0.3, 0.7])
    total = 0.0
    for m in range(3):
        total += moments.seen[m] * np.sum((moments.means[m] - gamma[m] @ prior) ** 2)
    for p, (i, j) in enumerate(combinations(range(3), 2)):
        model = gamma[i] @ np.diag(prior) @ gamma[j].T
        total += moments.seen_pairs[p] * np.sum((moments.cross[p] - model) ** 2)
    cube = np.zeros((2, 2, 2))
    for k in range(2):
        cube += prior[k] * np.multiply.outer(
            np.outer(gamma[0, :, k], gamma[1, :, k]), gamma[2, :, k]
        )
    total += moments.seen_triples[0] * np.sum((moments.third[0] - cube) ** 2)
    assert moments.objective(gamma, prior) == pytest.approx(total / 2 / 60)
