"""Probabilities: the weighted soft vote, and annotators whose confidence is not confirmed."""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from blindfuse import Responses, fuse
from blindfuse.fusion.evidence import MIN_WEIGHTED, PSEUDO_ITEMS, confirmed_confidence

Floats = np.ndarray[Any, np.dtype[np.float64]]


def classifiers(seed: int, M: int = 8, K: int = 3, N: int = 1500) -> tuple[Floats, Any]:
    """Probabilities ``[item, annotator, class]`` of calibrated annotators, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=N)
    signal = rng.uniform(0.5, 1.5, size=M)
    seen = np.eye(K)[truth][:, None] * signal[:, None] + rng.normal(0, 1, size=(N, M, K)) * 0.8
    return softmax(1.5 * seen, axis=2), truth


def break_one(array: Floats, kind: str) -> Floats:
    """The same with a broken first annotator, who is certain."""
    N, _, K = array.shape
    reported = {
        "constant": np.zeros(N, dtype=int),
        "reversed": (array[:, 0].argmax(axis=1) + 1) % K,
        "random": np.random.default_rng(123).integers(K, size=N),
    }
    broken = array.copy()
    broken[:, 0] = np.eye(K)[reported[kind]]
    return broken


def plain_weights(array: Floats) -> Floats:
    """The formula of ``confirmed_confidence``, annotator by annotator."""
    N, M, K = array.shape
    found = []
    for m in range(M):
        others = [int(np.delete(item, m, axis=0).sum(axis=0).argmax()) for item in array]
        shares = [others.count(k) / N for k in range(K)]
        chance = sum(array[:, m, k].mean() * shares[k] for k in range(K))
        confirmed = np.mean([array[n, m, y] for n, y in enumerate(others)]) - chance
        claimed = array[:, m].max(axis=1).mean() - chance
        found.append(max(confirmed, 0) / claimed if claimed > 1e-6 else 0.0)
    weights = np.sqrt(found)
    weights = (N * weights + PSEUDO_ITEMS * weights.mean()) / (N + PSEUDO_ITEMS)
    return np.asarray(weights / weights.mean())


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_the_confirmed_share_of_the_confidence(seed: int) -> None:
    array, _ = classifiers(seed, N=200)
    found = confirmed_confidence(Responses.from_probabilities(array))
    assert found is not None
    np.testing.assert_allclose(found, plain_weights(array), rtol=1e-10)


def test_few_annotators_count_the_same() -> None:
    array, _ = classifiers(0, M=MIN_WEIGHTED - 1)
    assert confirmed_confidence(Responses.from_probabilities(array)) is None
    labels = fuse(Responses.from_probabilities(array)).labels
    np.testing.assert_array_equal(labels, array.mean(axis=1).argmax(axis=1))


@pytest.mark.parametrize("kind", ["constant", "reversed", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_a_broken_annotator_counts_little(kind: str, seed: int) -> None:
    array, truth = classifiers(seed)
    broken = break_one(array, kind)
    fusion = fuse(Responses.from_probabilities(broken))
    assert fusion.model.vote_weights is not None
    assert fusion.model.vote_weights[0] < 0.3
    soft = np.mean(broken.mean(axis=1).argmax(axis=1) != truth)
    assert np.mean(fusion.labels != truth) <= soft + 0.003


@pytest.mark.parametrize("seed", range(4))
def test_no_worse_than_the_soft_vote(seed: int) -> None:
    array, truth = classifiers(seed, K=2 + seed % 3)
    fusion = fuse(Responses.from_probabilities(array))
    soft = np.mean(array.mean(axis=1).argmax(axis=1) != truth)
    assert np.mean(fusion.labels != truth) <= soft + 0.005
    assert fusion.method == "weighted soft vote"
