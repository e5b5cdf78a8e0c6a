"""MixedMembership: annotators who look draw from an item's own mix of classes."""

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
    seed: int, n: int = 4000, strength: float = 0.8
) -> tuple[Responses, NDArray[np.intp], NDArray[np.float64]]:
    """Answers drawn as the method believes; the truth is one more draw from each item's mix."""
    rng = np.random.default_rng(seed)
    looks = rng.uniform(0.5, 0.95, size=8)
    habits = rng.dirichlet(np.ones(3), size=8)
    mixes = rng.dirichlet(strength * PRIOR, size=n)

    def draw(shares: NDArray[np.float64]) -> NDArray[np.intp]:
        return np.asarray((rng.random((len(shares), 1)) > shares.cumsum(axis=1)).sum(axis=1))

    answers = np.empty((n, 8), dtype=int)
    for m in range(8):
        habit = draw(np.tile(habits[m], (n, 1)))
        answers[:, m] = np.where(rng.random(n) < looks[m], draw(mixes), habit)
    responses = Responses.from_matrix(np.minimum(answers, 2), classes=[0, 1, 2])
    return responses, np.minimum(draw(mixes), 2), looks


@pytest.mark.parametrize("seed", range(3))
def test_who_looks_is_found_and_posteriors_err_on_the_modest_side(seed: int) -> None:
    responses, truth, looks = mixed_crowd(seed)
    found = MixedMembership().fit(responses)
    assert np.corrcoef(found.attention_, looks)[0, 1] > 0.7
    wrong = np.mean(found.posteriors_.argmax(axis=1) != truth)
    assert wrong < 1 - found.posteriors_.max(axis=1).mean() < wrong + 0.16


def test_one_round_of_turns_is_that_of_the_formulas() -> None:
    """The kernel's mixes, habits and bound against NumPy and SciPy, item by item."""
    crowd = simulate(300, 5, 3, np.random.default_rng(4), missing=0.3).responses
    method = MixedMembership(max_iter=3, tolerance=0.0)
    with pytest.warns(UserWarning, match="did not converge"):
        method.fit(crowd)
    found = method._mix(crowd)
    pseudo = method.concentration_ * method.prior_
    matrix = np.asarray(crowd.matrix())
    bound, by_habit, mean_log = 0.0, np.zeros((5, 3)), np.zeros(3)
    for n, row in enumerate(matrix):
        who = np.flatnonzero(row >= 0)
        said = row[who]
        mix = pseudo + np.bincount(said, minlength=3)
        for _ in range(200):
            logs = psi(mix) - psi(mix.sum())
            seen = method.attention_[who] * np.exp(logs[said])
            habit = (1 - method.attention_[who]) * method.guess_probabilities_[who, said]
            mix = pseudo + np.bincount(said, seen / (seen + habit), minlength=3)
        np.testing.assert_allclose(found.shares[n], mix / mix.sum(), atol=2e-4)
        logs = psi(mix) - psi(mix.sum())
        likely = method.attention_[who] * np.exp(logs[said]) + habit
        np.add.at(by_habit, (who, said), habit / likely)
        entropy = dirichlet(mix).entropy()
        prior = gammaln(pseudo.sum()) - gammaln(pseudo).sum() + (pseudo - 1) @ logs
        bound += np.log(likely).sum() + prior + entropy
        mean_log += logs / len(matrix)
    np.testing.assert_allclose(found.by_habit, by_habit, rtol=2e-3)
    np.testing.assert_allclose(found.mean_log, mean_log, rtol=1e-3)
    np.testing.assert_allclose(found.bound, bound, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_rises(seed: int) -> None:
    crowd = simulate(500, 7, 3, np.random.default_rng(seed), skill=0.4, missing=0.5).responses
    found = MixedMembership().fit(crowd)
    assert found.stopped_ == "converged"
    # Items start from their votes each time, so a settled one may change its mind by a little.
    assert np.all(np.diff(found.log_likelihoods_) > -1e-5 * crowd.n_responses)


def test_an_item_without_answers_is_like_all_answers() -> None:
    found = MixedMembership().fit([[0, 0, 1], [1, 1, 1], [-1, -1, -1], [0, 0, 0]])
    np.testing.assert_allclose(found.posteriors_[2], found.prior_)


def test_doubtful_items_of_real_crowds_are_not_believed_sure(crowds: Crowds) -> None:
    """Where EM is sure and wrong, shares of what looking annotators say are not."""
    for name in ("trec", "temp", "rte", "sp"):
        crowd = crowds[name]
        assert (
            calibration_error(MixedMembership().fit(crowd.responses).posteriors_, crowd.truth)
            < 0.06
        )
