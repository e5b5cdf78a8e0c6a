"""GLAD."""

from typing import Any

import numpy as np
import pytest

from blindfuse import GLAD, MajorityVote, simulate
from blindfuse.metrics import error_rate

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")


def draw(seed: int, n: int = 3000, m: int = 12, k: int = 3) -> tuple[Any, ...]:
    """Draw responses from GLAD's own model; return matrix, truth, α and log β."""
    rng = np.random.default_rng(seed)
    skills, log_clarities = rng.normal(1, 1, size=m), rng.normal(1, 1, size=n)
    truth = rng.integers(k, size=n)
    right = rng.random((n, m)) < 1 / (1 + np.exp(-np.exp(log_clarities)[:, None] * skills))
    wrong = (truth[:, None] + rng.integers(1, k, size=(n, m))) % k
    matrix = np.where(right, truth[:, None], wrong)
    matrix[rng.random((n, m)) < 0.2] = -1
    return matrix, truth, skills, log_clarities


@pytest.mark.parametrize("seed", range(4))
def test_the_log_posterior_never_falls(seed: int) -> None:
    fitted = GLAD(tolerance=0.0, max_iter=60).fit(draw(seed, n=300)[0])
    history = fitted.log_posteriors_
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))
    assert history[-1] > history[0]


def test_the_initial_log_posterior_written_out() -> None:
    """At the start, where every α and log β is one: the formula, with loops."""
    matrix = draw(0, n=50)[0]
    sigma = 1 / (1 + np.exp(-np.e))
    total = 0.0
    for row in matrix.tolist():
        joint = np.full(3, 1 / 3)
        for label in row:
            if label >= 0:
                joint *= np.where(np.arange(3) == label, sigma, (1 - sigma) / 2)
        total += np.log(joint.sum())
    assert GLAD(max_iter=2).fit(matrix).log_posteriors_[0] == pytest.approx(total)


@pytest.mark.parametrize("seed", range(3))
def test_skills_and_difficulties_are_recovered(seed: int) -> None:
    matrix, truth, skills, log_clarities = draw(seed)
    fitted = GLAD().fit(matrix)
    assert np.corrcoef(fitted.skills_, skills)[0, 1] > 0.95
    assert np.corrcoef(-np.log(fitted.difficulties_), log_clarities)[0, 1] > 0.4
    vote = MajorityVote().fit(matrix)
    assert error_rate(fitted.posteriors_, truth) < error_rate(vote.posteriors_, truth)


def test_gold_labels_are_held_fixed_and_improve_skills() -> None:
    matrix, truth, skills, _ = draw(5, n=300, m=5)
    known = {item: int(truth[item]) for item in range(200)}
    without_gold, with_gold = GLAD().fit(matrix), GLAD().fit(matrix, gold=known)
    np.testing.assert_array_equal(with_gold.labels_[:200], truth[:200])
    np.testing.assert_array_equal(with_gold.posteriors_[:200].max(axis=1), 1)
    distances = [np.abs(fitted.skills_ - skills).mean() for fitted in (without_gold, with_gold)]
    assert distances[1] < distances[0]


def test_the_class_prior_can_be_estimated() -> None:
    simulation = simulate(4000, 8, 2, np.random.default_rng(0), prior=[0.9, 0.1], skill=0.4)
    fitted = GLAD(class_prior="estimated").fit(simulation.responses)
    np.testing.assert_allclose(fitted.prior_, [0.9, 0.1], atol=0.03)
