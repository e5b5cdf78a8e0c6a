"""The compiled beta-binomial and Dirichlet-multinomial likelihoods."""

import numpy as np
import pytest
from scipy.special import comb, gammaln
from scipy.stats import betabinom

from blindfuse.kernels.beta_binomial import log_beta_binomial, log_rising_factorials
from blindfuse.model.annotator_prior import MAX_STRENGTH, MIN_STRENGTH, _log_ratio


@pytest.mark.parametrize("strength", [MIN_STRENGTH, 1.0, 37.5, MAX_STRENGTH])
@pytest.mark.parametrize("largest", [1, 30, 1e3, 1e6, 1e9])
def test_it_is_that_of_scipy(strength: float, largest: float) -> None:
    rng = np.random.default_rng(0)
    total = rng.uniform(0, largest, 500) * (rng.random(500) < 0.9)
    right = total * rng.choice([0.0, 1.0, 0.3, 0.999], 500)
    mu = np.concatenate([[1e-6, 1 - 1e-6], rng.beta(3, 1, 498)])
    found = log_beta_binomial(right, total, mu, strength)
    assert found == pytest.approx(_log_ratio(right, total, mu, strength), rel=1e-9)


def test_it_is_that_of_betabinom() -> None:
    rng = np.random.default_rng(0)
    total, mu, strength = rng.integers(0, 40, 200), rng.uniform(0.1, 0.9, 200), 3.0
    right = rng.binomial(total, mu)
    expected = betabinom.logpmf(right, total, strength * mu, strength * (1 - mu))
    found = log_beta_binomial(right.astype(float), total.astype(float), mu, strength)
    assert found + np.log(comb(total, right)).sum() == pytest.approx(expected.sum())


@pytest.mark.parametrize("strength", [MIN_STRENGTH, 1.0, 37.5, MAX_STRENGTH])
@pytest.mark.parametrize("largest", [1, 30, 1e3, 1e6])
def test_rising_factorials_are_those_of_scipy(strength: float, largest: float) -> None:
    rng = np.random.default_rng(0)
    counts = rng.uniform(0, largest, 500) * (rng.random(500) < 0.9)
    shares = np.concatenate([[1e-6, 1.0], rng.beta(0.3, 1, 498) + 1e-9])
    expected = np.sum(gammaln(counts + strength * shares) - gammaln(strength * shares))
    found = log_rising_factorials(counts, shares, strength)
    assert found == pytest.approx(expected, rel=1e-9)
