"""TriangularEstimation."""

import numpy as np
import pytest

from blindfuse import TriangularEstimation
from blindfuse.metrics import error_rate
from tests.estimators.crowds import crowd_with_adversaries, one_coin_matrix


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_skills_are_recovered(seed: int, missing: float) -> None:
    """θ = E[response × truth] where annotators are equally accurate in both classes."""
    matrix, accuracy = one_coin_matrix(seed, missing)
    skills = TriangularEstimation().fit(matrix).skills_
    np.testing.assert_allclose(skills, 2 * accuracy - 1, atol=0.03)


def test_adversaries_have_negative_weights() -> None:
    simulation = crowd_with_adversaries()
    fitted = TriangularEstimation().fit(simulation.responses)
    assert np.all(fitted.weights_[:5] > 0)
    assert np.all(fitted.weights_[5:] < 0)
    assert error_rate(fitted.posteriors_, simulation.truth) < 0.05
