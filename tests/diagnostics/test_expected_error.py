"""The expected error against the true error, and Theorem 2's bound."""

from itertools import combinations

import numpy as np
import pytest

from blindfuse import BadParameter, diagnose, simulate
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.diagnostics.fit import Verdict
from tests.support.diagnostics_cases import crowd, diagnosed


@pytest.mark.parametrize("seed", range(5))
def test_expected_error_is_close_to_the_true_error(seed: int) -> None:
    simulation = crowd(seed, n=5000)
    found, fitted = diagnosed(simulation.responses)
    error = np.mean(fitted.labels_ != simulation.truth)
    assert found.expected_error.value == pytest.approx(error, abs=0.015)


@pytest.mark.parametrize("m", [3, 7, 15])
def test_theorem_2_bounds_the_error_of_the_true_model(m: int) -> None:
    """The simulated error of MAP is below the bound, which matches a direct computation."""
    simulation = simulate(20_000, m, 3, np.random.default_rng(m), skill=0.3)
    posteriors = simulation.model.posteriors(simulation.responses)
    found = diagnose(simulation.responses, simulation.model, posteriors).expected_error
    error = np.mean(posteriors.argmax(axis=1) != simulation.truth)
    assert error <= found.bound(m)
    total = 0.0
    for k, l in combinations(range(3), 2):
        product = np.sqrt(simulation.model.prior[k] * simulation.model.prior[l])
        for confusion in simulation.model.confusions:
            product *= np.sum(np.sqrt(confusion[:, k] * confusion[:, l]))
        total += product
    assert found.bound(m) == pytest.approx(min(1, total))
    target = found.bound(m) / 10
    more = found.more_responses(target)
    assert more is not None
    assert found.bound(m + more) <= target < found.bound(m + more - 1)


def test_targets_outside_zero_and_one_are_refused() -> None:
    with pytest.raises(BadParameter, match="target"):
        diagnosed(crowd().responses)[0].expected_error.more_responses(0)


def summary_of(
    error: float, responses_per_item: float, overlap: float, verdict: Verdict = "fits"
) -> str:
    overlaps, prior = np.array([[0.0, overlap], [overlap, 0.0]]), np.full(2, 0.5)
    found = ExpectedError(error, 0.0, 0.5, responses_per_item, overlaps, prior)
    return found.summary(verdict)


def test_the_summary_says_what_would_halve_the_error() -> None:
    assert summary_of(0.0, 5, -0.5) == "0.0 % (80 % interval 0.0 to 50 %)."
    assert summary_of(0.1, 5, -0.5).startswith("10 % (80 % interval 0.0 to 50 %). ")
    assert "errors that annotators share" in summary_of(0.2, 5, -0.5)
    assert "Errors are correlated" in summary_of(0.01, 5, -0.5, "does not fit")
    assert "Errors may be correlated" in summary_of(0.01, 5, -0.5, "fits roughly")
    assert "at most 5 more responses per item" in summary_of(0.01, 5, -0.5)
    assert "at most 1 more response per item" in summary_of(0.05, 5, -0.5)
    assert "hardly distinguish some classes" in summary_of(0.1, 5, 0.0)
