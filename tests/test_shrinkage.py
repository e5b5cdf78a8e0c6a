"""Pseudo-labels learned from how annotators differ."""

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

from blindfuse.shrinkage import learned_pseudo, pooled_pseudo, shrink


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
    found = learned_pseudo(columns(truth, 3000, 40, 0))
    np.testing.assert_allclose(found, truth, rtol=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_strength_is_more_likely(seed: int) -> None:
    truth = np.array([[5.0, 1.0], [1.0, 3.0]])
    counts = columns(truth, 200, 15, seed)
    found = learned_pseudo(counts)

    def likelihood(pseudo: np.ndarray) -> float:
        columns = (
            dirichlet_multinomial.logpmf(counts[:, :, k], pseudo[:, k], 15) for k in range(2)
        )
        return float(sum(column.sum() for column in columns))

    for factor in (0.7, 0.9, 1.1, 1.4):
        assert likelihood(found) > likelihood(found * factor)
    assert likelihood(found) > likelihood(found * np.array([[1.1], [0.9]]))


def test_alike_annotators_get_many_and_different_ones_few() -> None:
    alike = learned_pseudo(columns(np.array([[900.0, 100.0], [100.0, 900.0]]), 50, 100, 0))
    differ = learned_pseudo(columns(np.array([[0.9, 0.1], [0.1, 0.9]]), 50, 100, 0))
    assert alike.sum(axis=0).min() > 20 * differ.sum(axis=0).max()


def test_shrinking_is_adding_pseudo_labels() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 20, size=(5, 3, 3)).astype(float)
    own = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    pseudo = pooled_pseudo(counts, 4.0)
    mixed = counts + pseudo
    np.testing.assert_allclose(
        shrink(own, counts, pseudo), mixed / mixed.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(pseudo.sum(axis=0), 4.0)


def test_an_annotator_without_labels_gets_the_crowds_matrix() -> None:
    counts = np.zeros((3, 2, 2))
    counts[:2] = np.array([[30, 5], [10, 25]])
    result = shrink(np.full((3, 2, 2), 0.5), counts, pooled_pseudo(counts, 1.0))
    np.testing.assert_allclose(result[2], [[0.75, 1 / 6], [0.25, 5 / 6]], atol=0.01)


@pytest.mark.parametrize("learn", [learned_pseudo, lambda counts: pooled_pseudo(counts, 1.0)])
def test_no_probability_is_zero_even_where_the_crowd_is_silent(learn) -> None:  # type: ignore[no-untyped-def]
    counts = np.zeros((4, 3, 3))
    counts[:, 0, 0] = 10
    pseudo = learn(counts)
    shrunk = shrink(np.tile(np.eye(3), (4, 1, 1)), counts, pseudo)
    assert np.isfinite(pseudo).all()
    assert shrunk.min() > 0
    np.testing.assert_allclose(shrunk.sum(axis=1), 1)
