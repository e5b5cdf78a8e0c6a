"""The score of correlated errors, computed a second way, and its distribution."""

from itertools import combinations

import numpy as np
import pytest

from blindfuse import DawidSkene, Model, Responses, simulate
from blindfuse.diagnostics.correlated_errors import score_correlated_errors
from tests.support.diagnostics_cases import crowd


def ambiguous_items(seed: int, share: float, n: int = 2000, m: int = 8) -> Responses:
    """Two classes; on a share of the items everybody is right in 60 %, on the others in 90 %."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    right = rng.random((n, m)) < np.where(rng.random(n) < share, 0.6, 0.9)[:, None]
    return Responses.from_matrix(np.where(right, truth[:, None], 1 - truth[:, None]))


@pytest.mark.parametrize("threads", [1, 2])
def test_score_matches_a_direct_computation(threads: int) -> None:
    responses = crowd(n=300).responses
    fitted = DawidSkene().fit(responses)
    matrix, confusions = responses.matrix(), fitted.model_.confusions
    scores = np.zeros(len(matrix))
    for n, row in enumerate(matrix):
        for k, posterior in enumerate(fitted.posteriors_[n]):
            residuals = []
            for m in np.flatnonzero(row >= 0):
                err = 1 - confusions[m, k, k]
                residuals.append((float(row[m] != k) - err) / np.sqrt(err * (1 - err)))
            scores[n] += posterior * sum(a * b for a, b in combinations(residuals, 2))
    found = score_correlated_errors(responses, fitted.model_, fitted.posteriors_, threads)
    assert found.z == pytest.approx(scores.sum() / np.sqrt(np.sum(scores**2)))


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_score_of_conditionally_independent_annotators_is_standard_normal(
    classes: int, missing: float
) -> None:
    """That holds under the true model; under a fitted model the score is smaller."""
    true, fitted = [], []
    for seed in range(40):
        drawn = simulate(2000, 8, classes, np.random.default_rng(seed), skill=0.3, missing=missing)
        responses, model = drawn.responses, drawn.model
        true.append(score_correlated_errors(responses, model, model.posteriors(responses)).z)
        own = DawidSkene().fit(responses)
        fitted.append(score_correlated_errors(responses, own.model_, own.posteriors_).z)
    assert abs(np.mean(true)) < 4 / np.sqrt(40)
    assert 0.6 < np.std(true) < 1.4
    assert np.mean(np.array(fitted) > 2) <= 0.1


def test_score_rises_with_the_share_of_ambiguous_items() -> None:
    medians = []
    for share in (0.0, 0.1, 0.3):
        found = []
        for seed in range(10):
            responses = ambiguous_items(seed, share)
            own = DawidSkene().fit(responses)
            found.append(score_correlated_errors(responses, own.model_, own.posteriors_).z)
        medians.append(float(np.median(found)))
    assert abs(medians[0]) < 1.5
    assert medians[1] > 3
    assert medians[2] > medians[1]


def test_items_with_one_response_score_zero() -> None:
    responses = Responses.from_matrix([[0, -1], [-1, 1], [1, -1]])
    model = Model(
        np.full((2, 2, 2), 0.5), np.array([0.5, 0.5]), responses.annotators, responses.classes
    )
    assert score_correlated_errors(responses, model, np.full((3, 2), 0.5)).z == 0
