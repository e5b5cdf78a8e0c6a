"""Powers of posteriors with a given mean error."""

import numpy as np
import pytest

from blindfuse.model.fused_model import Recalibration, mean_error, power_for_error


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", [0.02, 0.1, 0.3, 0.6])
def test_the_power_reaches_the_error_and_keeps_the_order(seed: int, target: float) -> None:
    rng = np.random.default_rng(seed)
    posteriors = rng.dirichlet(np.full(4, 0.3), size=500)
    found = power_for_error(posteriors, target)(posteriors)
    assert mean_error(found) == pytest.approx(target, abs=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    clear = np.abs(np.diff(np.sort(posteriors, axis=1), axis=1)).min(axis=1) > 1e-5
    order = np.argsort(posteriors[clear], axis=1)
    np.testing.assert_array_equal(np.argsort(found[clear], axis=1), order)


def test_two_classes_keep_the_order_of_items() -> None:
    confidence = np.linspace(0.5, 1, 200)
    posteriors = np.column_stack([confidence, 1 - confidence])
    found = power_for_error(posteriors, 0.05)(posteriors)
    assert np.all(np.diff(found[:, 0]) >= 0)


def test_ties_and_certain_posteriors_are_moved_as_far_as_possible() -> None:
    ties = np.full((5, 2), 0.5)
    assert mean_error(power_for_error(ties, 0.1)(ties)) == pytest.approx(0.5)
    certain = np.eye(3)
    assert mean_error(power_for_error(certain, 0.2)(certain)) == pytest.approx(0.2, abs=1e-6)
    assert mean_error(np.empty((0, 3))) == 0


def test_power_one_changes_nothing() -> None:
    posteriors = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    np.testing.assert_allclose(Recalibration(1.0)(posteriors), posteriors)
