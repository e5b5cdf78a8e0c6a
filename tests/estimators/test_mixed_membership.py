"""MixedMembership."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln, psi
from scipy.stats import dirichlet

from blindfuse import MixedMembership, Responses, simulate
from blindfuse.metrics import calibration_error
from tests.conftest import Crowds

PRIOR = np.array([0.5, 0.3, 0.2])


def mixed_crowd(
    seed: int, n: int = 4000, concentration: float = 0.8
) -> tuple[Responses, NDArray[np.intp], NDArray[np.float64]]:
    """Draw responses from the model; the truth is one more draw from the class proportions."""
    rng = np.random.default_rng(seed)
    attention = rng.uniform(0.5, 0.95, size=8)
    guess_probabilities = rng.dirichlet(np.ones(3), size=8)
    proportions = rng.dirichlet(concentration * PRIOR, size=n)

    def draw(probabilities: NDArray[np.float64]) -> NDArray[np.intp]:
        uniform = rng.random((len(probabilities), 1))
        return np.asarray((uniform > probabilities.cumsum(axis=1)).sum(axis=1))

    matrix = np.empty((n, 8), dtype=int)
    for m in range(8):
        guess = draw(np.tile(guess_probabilities[m], (n, 1)))
        matrix[:, m] = np.where(rng.random(n) < attention[m], draw(proportions), guess)
    responses = Responses.from_matrix(np.minimum(matrix, 2), classes=[0, 1, 2])
    return responses, np.minimum(draw(proportions), 2), attention


@pytest.mark.parametrize("seed", range(3))
def test_attention_is_recovered_and_posteriors_are_underconfident(seed: int) -> None:
    responses, truth, attention = mixed_crowd(seed)
    fitted = MixedMembership().fit(responses)
    assert np.corrcoef(fitted.attention_, attention)[0, 1] > 0.7
    wrong = np.mean(fitted.posteriors_.argmax(axis=1) != truth)
    assert wrong < 1 - fitted.posteriors_.max(axis=1).mean() < wrong + 0.16


def test_one_e_step_equals_the_formulas() -> None:
    """The kernel's proportions, guesses and bound equal those of NumPy and SciPy, item by item."""
    crowd = simulate(300, 5, 3, np.random.default_rng(4), missing=0.3).responses
    method = MixedMembership(max_iter=3, tolerance=0.0)
    with pytest.warns(UserWarning, match="did not converge"):
        method.fit(crowd)
    expected = method._e_step(crowd)
    prior_alpha = method.concentration_ * method.prior_
    matrix = np.asarray(crowd.matrix())
    bound, guesses, mean_log = 0.0, np.zeros((5, 3)), np.zeros(3)
    for n, row in enumerate(matrix):
        annotators = np.flatnonzero(row >= 0)
        reported = row[annotators]
        alpha = prior_alpha + np.bincount(reported, minlength=3)
        for _ in range(200):
            logs = psi(alpha) - psi(alpha.sum())
            attentive = method.attention_[annotators] * np.exp(logs[reported])
            guess = (1 - method.attention_[annotators]) * method.guess_probabilities_[
                annotators, reported
            ]
            alpha = prior_alpha + np.bincount(
                reported, attentive / (attentive + guess), minlength=3
            )
        np.testing.assert_allclose(expected.proportions()[n], alpha / alpha.sum(), atol=2e-4)
        logs = psi(alpha) - psi(alpha.sum())
        probability = method.attention_[annotators] * np.exp(logs[reported]) + guess
        np.add.at(guesses, (annotators, reported), guess / probability)
        entropy = dirichlet(alpha).entropy()
        log_prior = (
            gammaln(prior_alpha.sum()) - gammaln(prior_alpha).sum() + (prior_alpha - 1) @ logs
        )
        bound += np.log(probability).sum() + log_prior + entropy
        mean_log += logs / len(matrix)
    np.testing.assert_allclose(expected.guesses, guesses, rtol=2e-3)
    np.testing.assert_allclose(expected.mean_log, mean_log, rtol=1e-3)
    np.testing.assert_allclose(expected.bound, bound, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_variational_bound_rises(seed: int) -> None:
    crowd = simulate(500, 7, 3, np.random.default_rng(seed), skill=0.4, missing=0.5).responses
    fitted = MixedMembership().fit(crowd)
    assert fitted.stopped_ == "converged"
    # Items start from their votes in each iteration, so the bound may fall by a little.
    assert np.all(np.diff(fitted.log_likelihoods_) > -1e-5 * crowd.n_responses)


def test_an_item_without_responses_has_the_prior() -> None:
    fitted = MixedMembership().fit([[0, 0, 1], [1, 1, 1], [-1, -1, -1], [0, 0, 0]])
    np.testing.assert_allclose(fitted.posteriors_[2], fitted.prior_)


def test_posteriors_are_calibrated_on_real_crowds(crowds: Crowds) -> None:
    """On these sets, Dawid–Skene is overconfident."""
    for name in ("trec", "temp", "rte", "sp"):
        crowd = crowds[name]
        posteriors = MixedMembership().fit(crowd.responses).posteriors_
        assert calibration_error(posteriors, crowd.truth) < 0.06
