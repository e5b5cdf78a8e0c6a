"""Posteriors, majority votes, and expected counts."""

import numpy as np
import pytest

from blindfuse import Model, Responses, simulate
from blindfuse.model.halves import halve
from blindfuse.model.posteriors import (
    compute_posteriors,
    count_posteriors,
    count_votes,
    expected_counts,
    vote_posteriors,
)


@pytest.mark.parametrize("n_responses", [27, 28, 29, 57, 400])
def test_many_responses_do_not_underflow(n_responses: int) -> None:
    """Each response of an accurate annotator multiplies a posterior by up to 10⁻⁹."""
    extreme = np.array([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]])
    M = n_responses
    model = Model(np.array([extreme] * M), np.array([0.3, 0.7]), np.arange(M), np.arange(2))
    row = np.ones((2, M), dtype=int)
    row[0, : M // 2] = 0
    found = model.posteriors(Responses.from_matrix(row))
    margin = (M - 2 * (M // 2)) * np.log((1 - 1e-9) / 1e-9) + np.log(0.7 / 0.3)
    np.testing.assert_allclose(found[0, 1], 1 / (1 + np.exp(-margin)), rtol=1e-6)
    assert found[1, 1] == pytest.approx(1)
    each = np.log(1 - 1e-9)
    halves = (M // 2) * (np.log(1e-9) + each)
    odd = np.logaddexp(np.log(0.3) + np.log(1e-9), np.log(0.7) + each) if M % 2 else 0.0
    total = np.log(0.7) + M * each + halves + odd
    assert model.log_likelihood(Responses.from_matrix(row)) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 9])
def test_expected_counts_are_sums_of_the_posteriors(classes: int) -> None:
    simulation = simulate(300, 4, classes, np.random.default_rng(3), missing=0.4)
    responses, model = simulation.responses, simulation.model
    expected = model.expected_counts(responses)
    posteriors, log_likelihood = compute_posteriors(responses, model.confusions, model.prior)
    matrix = responses.matrix()
    for m in range(4):
        for a in range(classes):
            np.testing.assert_allclose(
                expected.counts[m, a], posteriors[matrix[:, m] == a].sum(axis=0)
            )
    np.testing.assert_allclose(expected.totals, posteriors.sum(axis=0))
    assert expected.log_likelihood == pytest.approx(log_likelihood)


@pytest.mark.parametrize(("annotators", "classes"), [(3, 2), (14, 2), (11, 3), (7, 5), (4, 8)])
def test_halves_give_the_same_expected_counts(annotators: int, classes: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, annotators, classes])
        simulation = simulate(33_000, annotators, classes, rng)
        responses, model = simulation.responses, simulation.model
        extreme = model.confusions**5  # extreme probabilities; columns do not sum to one
        assert halve(responses, classes) is not None
        for confusions in (model.confusions, extreme):
            for each in (None, rng.uniform(0, 3, 33_000)):
                found = expected_counts(responses, confusions, model.prior, 2, each)
                posteriors, log_likelihood = compute_posteriors(responses, confusions, model.prior)
                weighted = posteriors if each is None else posteriors * each[:, None]
                expected = count_posteriors(responses, weighted)
                np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(found.totals, expected.totals, rtol=1e-9)
                if each is None:
                    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-10)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_tied_classes_share_the_vote(classes: int) -> None:
    responses = simulate(500, 5, classes, np.random.default_rng(1), missing=0.4).responses
    posteriors, votes = vote_posteriors(responses), count_votes(responses)
    matrix = responses.matrix()
    n_votes = (matrix[:, :, None] == np.arange(classes)).sum(axis=1)
    winners = (n_votes == n_votes.max(axis=1, keepdims=True)) & (n_votes > 0)
    expected = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(posteriors, expected)
    np.testing.assert_allclose(votes.totals, expected.sum(axis=0))
    for m in range(5):
        for a in range(classes):
            np.testing.assert_allclose(votes.counts[m, a], expected[matrix[:, m] == a].sum(axis=0))


def test_vote_counts_do_not_depend_on_threads_or_the_order_of_items() -> None:
    responses = simulate(70_000, 4, 3, np.random.default_rng(1), missing=0.3).responses
    shuffled = responses.select_items(np.random.default_rng(0).permutation(70_000))
    one, other = count_votes(responses, threads=1), count_votes(shuffled, threads=3)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.totals, other.totals)


def test_a_zero_probability_is_floored() -> None:
    model = Model(np.array([np.eye(2)] * 2), np.array([0.5, 0.5]), np.arange(2), np.arange(2))
    contradiction = Responses.from_matrix([[0, 1], [0, 0]])
    np.testing.assert_allclose(model.posteriors(contradiction), [[0.5, 0.5], [1.0, 0.0]], atol=1e-9)
    assert np.isfinite(model.log_likelihood(contradiction))
