"""Shares of classes: computed a second time, and their intervals on simulated tables."""

import numpy as np
import pytest

from blindfuse import fuse, simulate
from blindfuse.diagnostics.class_shares import ONE_DIRECTION, estimate_class_shares
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.model.fused_model import Recalibration
from tests.support.diagnostics_cases import crowd, diagnosed


@pytest.mark.parametrize("error", [0.02, 0.3])
def test_shares_and_intervals_are_those_of_loops(error: float) -> None:
    responses = crowd(1, n=60).responses
    posteriors = diagnosed(responses)[1].posteriors_
    expected = ExpectedError(error, error / 2, 2 * error, error)
    found = estimate_class_shares(responses, posteriors, expected)
    given = responses.matrix()[responses.matrix() >= 0]
    for k in range(3):
        share = sum(row[k] for row in posteriors) / 60
        noise = sum(row[k] * (1 - row[k]) for row in posteriors) / 60**2
        half = 1.2815515655 * np.sqrt(noise + (ONE_DIRECTION * min(error, share, 1 - share)) ** 2)
        assert found.share[k] == pytest.approx(share)
        assert found.low[k] == pytest.approx(max(share - half, 0))
        assert found.high[k] == pytest.approx(min(share + half, 1))
        assert found.votes[k] == pytest.approx(np.mean(given == k))


@pytest.mark.parametrize(
    "prior", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5]], ids=["equal", "rare", "three"]
)
def test_most_intervals_contain_the_true_shares(prior: list[float]) -> None:
    """Of 30 tables each, 93, 87 and 100 %; 80 % is stated."""
    inside, errors = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        drawn = simulate(500, 7, len(prior), rng, skill=0.3, prior=prior)
        found = fuse(drawn.responses).diagnostics.class_shares
        true = np.bincount(drawn.truth, minlength=len(prior)) / 500
        inside.append((found.low <= true) & (true <= found.high))
        errors.append(np.abs([found.share - true, found.votes - true]).mean(axis=1))
    assert np.mean(inside) >= 0.75
    by_posteriors, by_votes = np.mean(errors, axis=0)
    assert by_posteriors < by_votes / 3


def test_without_an_expected_error_there_is_no_interval() -> None:
    responses = crowd(0, k=7).responses
    posteriors = diagnosed(responses)[1].posteriors_
    found = estimate_class_shares(responses, posteriors, None)
    assert np.isnan(found.low).all()
    assert "nan" not in found.summary()
    assert "of the votes" in found.summary()
    assert "4 more" in found.summary()


@pytest.mark.parametrize("power", [0.3, 1.0, 4.0])
def test_what_a_recalibration_moves_is_in_the_interval(power: float) -> None:
    responses = crowd(2, n=60).responses
    posteriors = diagnosed(responses)[1].posteriors_
    moved = Recalibration(power)(posteriors)
    expected = ExpectedError(0.1, 0.05, 0.2, 0.1)
    shares = estimate_class_shares(responses, moved, expected, Recalibration(power))
    half = (shares.share - shares.low) / 1.2815515655
    alone = estimate_class_shares(responses, moved, expected)
    difference = moved.mean(axis=0) - posteriors.mean(axis=0)
    np.testing.assert_allclose(shares.share, moved.mean(axis=0))
    squared = ((alone.share - alone.low) / 1.2815515655) ** 2 + difference**2
    np.testing.assert_allclose(half**2, squared, atol=1e-6)
