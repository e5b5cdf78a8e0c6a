"""What all EM methods share: the likelihood, gold labels and starts."""

from typing import Any

import numpy as np
import pytest

from blindfuse import (
    MACE,
    BadLabels,
    BayesianDawidSkene,
    DawidSkene,
    OneCoin,
    Responses,
    simulate,
)
from blindfuse.estimators.em import EMEstimator, make_e_step
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import count_votes
from tests.estimators.crowds import crowd

EM_METHODS: list[type[EMEstimator]] = [DawidSkene, OneCoin, BayesianDawidSkene, MACE]

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "method", [DawidSkene(shrinkage=None), OneCoin(), MACE(smoothing=0.0)], ids=repr
)
def test_the_log_likelihood_never_falls(method: Any, seed: int) -> None:
    fitted = method.set_params(tolerance=0.0, max_iter=60).fit(crowd(seed).responses)
    history = fitted.log_likelihoods_
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))
    assert history[-1] > history[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shrinkage", [None, 3.0, "learned"])
def test_the_log_posterior_rises_in_every_iteration(seed: int, shrinkage: Any) -> None:
    """With a prior, EM raises ℓ plus the log prior; the log-likelihood ℓ alone may fall."""
    responses = simulate(300, 30, 3, np.random.default_rng(seed), missing=0.8).responses
    method = DawidSkene(shrinkage=shrinkage)
    expected = count_votes(responses)
    method._initialize_m_step(responses.annotators, responses.alphabet, expected)
    e_step, log_posteriors = make_e_step(responses), []
    for _ in range(25):
        parameters = method._m_step(expected)
        expected = e_step(parameters)
        log_posteriors.append(expected.log_likelihood + parameters.log_prior)
    assert np.all(np.diff(log_posteriors) > -1e-8)


@pytest.mark.parametrize("method", EM_METHODS)
def test_gold_labels_are_held_fixed_and_improve_confusion_matrices(
    method: type[EMEstimator],
) -> None:
    simulation = simulate(400, 4, 3, np.random.default_rng(1), missing=0.3)
    known = {int(item): int(simulation.truth[item]) for item in range(150)}
    without_gold = method(start="mv").fit(simulation.responses)
    with_gold = method(start="mv").fit(simulation.responses, gold=known)
    np.testing.assert_array_equal(with_gold.labels_[:150], simulation.truth[:150])
    np.testing.assert_array_equal(with_gold.posteriors_[:150].max(axis=1), 1)
    distances = [
        np.abs(fitted.model_.confusions - simulation.model.confusions).mean()
        for fitted in (without_gold, with_gold)
    ]
    assert distances[1] < distances[0]


@pytest.mark.parametrize("start", ["mv", "shares", "spectral", "blind"])
def test_every_item_can_have_a_gold_label(start: Any) -> None:
    simulation = simulate(400, 5, 3, np.random.default_rng(2), skill=0.4)
    for known in (398, 400):
        gold = dict(enumerate(simulation.truth[:known].tolist()))
        method = DawidSkene(start=start, shrinkage=None)
        fitted = method.fit(simulation.responses, gold=gold)
        reported = simulation.responses.matrix()
        shares = [np.mean(reported[:, m] == simulation.truth) for m in range(5)]
        np.testing.assert_allclose(fitted.model_.accuracies, shares, atol=0.01)


def test_gold_labels_must_match_the_responses() -> None:
    responses = Responses.from_long(
        list("aaabbb"), list("xyzxyz"), ["no", "no", "yes", "yes", "yes", "no"]
    )
    with pytest.raises(BadLabels, match="Gold items 'q' are not among the items"):
        DawidSkene().fit(responses, gold={"q": "yes"})
    with pytest.raises(BadLabels, match="Gold labels 'maybe' are not among the classes"):
        DawidSkene().fit(responses, gold={"a": "maybe"})


@pytest.mark.parametrize("start", ["mv", "shares", "spectral", "blind"])
def test_every_start_is_as_good_as_the_oracle(start: Any) -> None:
    simulation = crowd(8, n=20_000, missing=0.0)
    oracle = error_rate(simulation.model.posteriors(simulation.responses), simulation.truth)
    fitted = DawidSkene(start=start).fit(simulation.responses)
    assert error_rate(fitted.posteriors_, simulation.truth) <= 1.02 * oracle


def test_an_annotator_without_responses_has_the_prior_mean() -> None:
    table = np.full((3, 4), -1)
    table[:, :3] = [[0, 0, 0], [1, 1, 1], [0, 0, 1]]
    method = BayesianDawidSkene(diagonal_pseudo_count=4, off_diagonal_pseudo_count=1)
    np.testing.assert_allclose(method.fit(table).model_.confusions[3], [[0.8, 0.2], [0.2, 0.8]])


def test_one_coin_has_one_accuracy_per_annotator() -> None:
    for confusion in OneCoin().fit(crowd(7, k=4).responses).model_.confusions:
        np.testing.assert_allclose(np.diag(confusion), confusion[0, 0])
        np.testing.assert_allclose(confusion[~np.eye(4, dtype=bool)], (1 - confusion[0, 0]) / 3)


@pytest.mark.parametrize("seed", range(3))
def test_competence_of_mace_and_guess_probabilities_are_recovered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    competence = rng.uniform(0.2, 0.95, size=8)
    habits = rng.dirichlet(np.ones(3), size=8)
    truth = rng.integers(3, size=20_000)
    columns = [
        np.where(rng.random(20_000) < c, truth, rng.choice(3, size=20_000, p=habit))
        for c, habit in zip(competence, habits, strict=True)
    ]
    fitted = MACE().fit(np.column_stack(columns))
    np.testing.assert_allclose(fitted.competence_, competence, atol=0.03)
    np.testing.assert_allclose(
        fitted.guess_probabilities_[competence < 0.7], habits[competence < 0.7], atol=0.05
    )
