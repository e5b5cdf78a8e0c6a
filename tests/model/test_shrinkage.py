"""Pseudo-counts: learned from how much annotators differ, and applied to confusion matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial

from blindfuse import Responses
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import (
    MAX_PSEUDO_COUNT,
    MIN_PSEUDO_COUNT,
    learned_pseudo_counts,
    pooled_pseudo_counts,
    shrink,
    vote_confusions,
)


def draw_counts(pseudo: np.ndarray, annotators: int, labels: int, seed: int) -> np.ndarray:
    """Counts ``[annotator, reported, true]`` of annotators drawn from Dirichlet columns."""
    rng = np.random.default_rng(seed)
    drawn = [
        [rng.multinomial(labels, rng.dirichlet(pseudo[:, k])) for k in range(pseudo.shape[1])]
        for _ in range(annotators)
    ]
    return np.array(drawn, dtype=float).transpose(0, 2, 1)


def test_pseudo_counts_are_recovered() -> None:
    truth = np.array([[6.0, 0.5, 1.0], [1.0, 2.0, 1.0], [1.0, 0.5, 8.0]])
    found = learned_pseudo_counts(draw_counts(truth, 3000, 40, 0))
    np.testing.assert_allclose(found, truth, rtol=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_learned_pseudo_counts_maximise_the_likelihood(seed: int) -> None:
    truth = np.array([[5.0, 1.0], [1.0, 3.0]])
    counts = draw_counts(truth, 200, 15, seed)
    found = learned_pseudo_counts(counts)

    def likelihood(pseudo: np.ndarray) -> float:
        columns = (
            dirichlet_multinomial.logpmf(counts[:, :, k], pseudo[:, k], 15) for k in range(2)
        )
        return float(sum(column.sum() for column in columns))

    for factor in (0.7, 0.9, 1.1, 1.4):
        assert likelihood(found) > likelihood(found * factor)
    assert likelihood(found) > likelihood(found * np.array([[1.1], [0.9]]))


@pytest.mark.parametrize("seed", range(8))
def test_newton_reaches_the_maximum_of_a_general_optimiser(seed: int) -> None:
    """Also where all annotators are similar, and the best pseudo-counts are at a bound."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    truth = 10 ** rng.uniform(-1, 3 if seed % 2 else 1, size=(K, K))
    counts = draw_counts(truth, int(rng.integers(2, 80)), int(rng.integers(1, 60)), seed)
    extra = 0.5 * np.eye(K) + 0.5 / K  # added as one more annotator, for classes without data

    def negative_log_likelihood(logs: np.ndarray) -> float:
        pseudo = np.exp(logs).reshape(K, K)
        cells, total = np.concatenate([counts, extra[None]]), pseudo.sum(axis=0)
        value = (gammaln(cells + pseudo) - gammaln(pseudo)).sum()
        return float((gammaln(cells.sum(axis=1) + total) - gammaln(total)).sum() - value)

    found = np.log(learned_pseudo_counts(counts)).ravel()
    bounds = [(np.log(MIN_PSEUDO_COUNT), np.log(MAX_PSEUDO_COUNT))] * K**2
    general = minimize(negative_log_likelihood, np.zeros(K**2), method="L-BFGS-B", bounds=bounds)
    assert negative_log_likelihood(found) <= general.fun + 1e-6 * abs(general.fun)


def test_similar_annotators_get_large_pseudo_counts_and_different_ones_small() -> None:
    similar = learned_pseudo_counts(
        draw_counts(np.array([[900.0, 100.0], [100.0, 900.0]]), 50, 100, 0)
    )
    different = learned_pseudo_counts(draw_counts(np.array([[0.9, 0.1], [0.1, 0.9]]), 50, 100, 0))
    assert similar.sum(axis=0).min() > 20 * different.sum(axis=0).max()


def test_shrinking_is_adding_pseudo_counts() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 20, size=(5, 3, 3)).astype(float)
    own = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    pseudo = pooled_pseudo_counts(counts, 4.0)
    mixed = counts + pseudo
    np.testing.assert_allclose(
        shrink(own, counts, pseudo), mixed / mixed.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(pseudo.sum(axis=0), 4.0)


def test_an_annotator_without_responses_gets_the_pooled_matrix() -> None:
    counts = np.zeros((3, 2, 2))
    counts[:2] = np.array([[30, 5], [10, 25]])
    result = shrink(np.full((3, 2, 2), 0.5), counts, pooled_pseudo_counts(counts, 1.0))
    np.testing.assert_allclose(result[2], [[0.75, 1 / 6], [0.25, 5 / 6]], atol=0.01)


@pytest.mark.parametrize(
    "learn", [learned_pseudo_counts, lambda counts: pooled_pseudo_counts(counts, 1.0)]
)
def test_no_probability_is_zero_even_for_classes_without_data(learn) -> None:  # type: ignore[no-untyped-def]
    counts = np.zeros((4, 3, 3))
    counts[:, 0, 0] = 10
    pseudo = learn(counts)
    shrunk = shrink(np.tile(np.eye(3), (4, 1, 1)), counts, pseudo)
    assert np.isfinite(pseudo).all()
    assert shrunk.min() > 0
    np.testing.assert_allclose(shrunk.sum(axis=1), 1)


def test_vote_confusions_take_the_majority_vote_for_the_truth() -> None:
    matrix = np.array([[0, 0, 0, 1]] * 60 + [[1, 1, 1, 1]] * 40)
    confusions = vote_confusions(count_votes(Responses.from_matrix(matrix)).counts)
    np.testing.assert_allclose(confusions[0], np.eye(2), atol=0.02)
    np.testing.assert_allclose(confusions[3], [[0, 0], [1, 1]], atol=0.02)
