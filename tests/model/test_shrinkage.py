"""Pseudo-labels learned from how annotators differ."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, polygamma
from scipy.stats import dirichlet_multinomial

from blindfuse.kernels.dirichlet import dirichlet_likelihood
from blindfuse.model.shrinkage import (
    FEWEST,
    MOST,
    learned_pseudo_counts,
    pooled_pseudo_counts,
    shrink,
)


def columns(pseudo: np.ndarray, annotators: int, labels: int, seed: int) -> np.ndarray:
    """Counts ``[annotator, reported, true]`` of annotators drawn from Dirichlet columns."""
    rng = np.random.default_rng(seed)
    drawn = [
        [rng.multinomial(labels, rng.dirichlet(pseudo[:, k])) for k in range(pseudo.shape[1])]
        for _ in range(annotators)
    ]
    return np.array(drawn, dtype=float).transpose(0, 2, 1)


def test_pseudo_labels_are_recovered() -> None:
    truth = np.array([[6.0, 0.5, 1.0], [1.0, 2.0, 1.0], [1.0, 0.5, 8.0]])
    found = learned_pseudo_counts(columns(truth, 3000, 40, 0))
    np.testing.assert_allclose(found, truth, rtol=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_strength_is_more_likely(seed: int) -> None:
    truth = np.array([[5.0, 1.0], [1.0, 3.0]])
    counts = columns(truth, 200, 15, seed)
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
def test_newton_ends_as_high_as_a_general_optimiser(seed: int) -> None:
    """Also where annotators are all alike, and the best pseudo-labels lie at a bound."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    truth = 10 ** rng.uniform(-1, 3 if seed % 2 else 1, size=(K, K))
    counts = columns(truth, int(rng.integers(2, 80)), int(rng.integers(1, 60)), seed)
    extra = 0.5 * np.eye(K) + 0.5 / K  # what the crowd is taken to say where it says nothing

    def surprise(logs: np.ndarray) -> float:
        pseudo = np.exp(logs).reshape(K, K)
        cells, total = np.concatenate([counts, extra[None]]), pseudo.sum(axis=0)
        value = (gammaln(cells + pseudo) - gammaln(pseudo)).sum()
        return float((gammaln(cells.sum(axis=1) + total) - gammaln(total)).sum() - value)

    found = np.log(learned_pseudo_counts(counts)).ravel()
    bounds = [(np.log(FEWEST), np.log(MOST))] * K**2
    general = minimize(surprise, np.zeros(K**2), method="L-BFGS-B", bounds=bounds)
    assert surprise(found) <= general.fun + 1e-6 * abs(general.fun)


def test_likelihood_and_derivatives_are_those_of_special_functions() -> None:
    rng = np.random.default_rng(0)
    counts = rng.gamma(0.5, 20, size=(40, 3, 4)) * (rng.random((40, 3, 4)) < 0.7)
    pseudo = 10 ** rng.uniform(-4, 4, size=(3, 4))
    found = np.empty(4), np.empty((3, 4)), np.empty((3, 4)), np.empty(4), np.empty(4)
    labels, total = counts.sum(axis=1), pseudo.sum(axis=0)
    cells = np.ascontiguousarray(counts.transpose(1, 2, 0)), np.ascontiguousarray(labels.T)
    dirichlet_likelihood(*cells, pseudo, *found)
    own = (gammaln(counts + pseudo) - gammaln(pseudo)).sum(axis=(0, 1))
    expected = (
        own - (gammaln(labels + total) - gammaln(total)).sum(axis=0),
        (digamma(counts + pseudo) - digamma(pseudo)).sum(axis=0),
        (polygamma(1, pseudo) - polygamma(1, counts + pseudo)).sum(axis=0),
        (digamma(labels + total) - digamma(total)).sum(axis=0),
        (polygamma(1, total) - polygamma(1, labels + total)).sum(axis=0),
    )
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11)


def test_alike_annotators_get_many_and_different_ones_few() -> None:
    alike = learned_pseudo_counts(columns(np.array([[900.0, 100.0], [100.0, 900.0]]), 50, 100, 0))
    differ = learned_pseudo_counts(columns(np.array([[0.9, 0.1], [0.1, 0.9]]), 50, 100, 0))
    assert alike.sum(axis=0).min() > 20 * differ.sum(axis=0).max()


def test_shrinking_is_adding_pseudo_labels() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 20, size=(5, 3, 3)).astype(float)
    own = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    pseudo = pooled_pseudo_counts(counts, 4.0)
    mixed = counts + pseudo
    np.testing.assert_allclose(
        shrink(own, counts, pseudo), mixed / mixed.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(pseudo.sum(axis=0), 4.0)


def test_an_annotator_without_labels_gets_the_crowds_matrix() -> None:
    counts = np.zeros((3, 2, 2))
    counts[:2] = np.array([[30, 5], [10, 25]])
    result = shrink(np.full((3, 2, 2), 0.5), counts, pooled_pseudo_counts(counts, 1.0))
    np.testing.assert_allclose(result[2], [[0.75, 1 / 6], [0.25, 5 / 6]], atol=0.01)


@pytest.mark.parametrize(
    "learn", [learned_pseudo_counts, lambda counts: pooled_pseudo_counts(counts, 1.0)]
)
def test_no_probability_is_zero_even_where_the_crowd_is_silent(learn) -> None:  # type: ignore[no-untyped-def]
    counts = np.zeros((4, 3, 3))
    counts[:, 0, 0] = 10
    pseudo = learn(counts)
    shrink_model = shrink(np.tile(np.eye(3), (4, 1, 1)), counts, pseudo)
    assert np.isfinite(pseudo).all()
    assert shrink_model.min() > 0
    np.testing.assert_allclose(shrink_model.sum(axis=1), 1)
