"""The compiled Dirichlet-multinomial likelihood."""

import numpy as np
import pytest
from scipy.special import gammaln

from blindfuse.kernels.dirichlet import log_rising_factorials
from blindfuse.model.shrinkage import MAX_STRENGTH, MIN_STRENGTH


@pytest.mark.parametrize("strength", [MIN_STRENGTH, 1.0, 37.5, MAX_STRENGTH])
@pytest.mark.parametrize("largest", [1, 30, 1e3, 1e6])
def test_rising_factorials_are_those_of_scipy(strength: float, largest: float) -> None:
    rng = np.random.default_rng(0)
    counts = rng.uniform(0, largest, 500) * (rng.random(500) < 0.9)
    shares = np.concatenate([[1e-6, 1.0], rng.beta(0.3, 1, 498) + 1e-9])
    expected = np.sum(gammaln(counts + strength * shares) - gammaln(strength * shares))
    found = log_rising_factorials(counts, shares, strength)
    assert found == pytest.approx(expected, rel=1e-9)
