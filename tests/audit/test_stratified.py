"""Intervals for shares of a stratified population, computed a second way."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.stats import chi2, power_divergence

from blindfuse.auditing.stratified import (
    Counts,
    dispersion_of,
    intervals_of_shares,
    merge_unchecked,
    stratified_interval,
)

Floats = NDArray[np.float64]
LIMIT = chi2.ppf(0.95, 1)
INFINITE = 1e12


def interval(found: list[float], checked: list[float], sizes: list[float]) -> list[float]:
    x, n, sizes_ = (np.array(column, dtype=float) for column in (found, checked, sizes))
    (one,) = intervals_of_shares([Counts(x, n, sizes_)])
    return [one.value, one.low, one.high]


@pytest.mark.parametrize("power", [2 / 3, 1 / 3])
@pytest.mark.parametrize(("found", "checked"), [(0, 30), (3, 30), (15, 30), (30, 30), (1, 1)])
def test_one_stratum_is_the_inverted_test_of_cressie_and_read(
    found: int, checked: int, power: float
) -> None:
    def excess(share: float) -> float:
        observed = np.array([found, checked - found])
        expected = checked * np.array([share, 1 - share])
        return float(power_divergence(observed, expected, lambda_=power).statistic - LIMIT)

    x, n, size = (np.array([number], dtype=float) for number in (found, checked, INFINITE))
    counts = Counts(x, n, size)
    (one,) = intervals_of_shares([counts], power)
    value, low, high = one.value, one.low, one.high
    assert value == pytest.approx(found / checked)
    if found > 0:
        assert low == pytest.approx(brentq(excess, 1e-9, found / checked - 1e-9), abs=1e-6)
    if found < checked:
        assert high == pytest.approx(brentq(excess, found / checked + 1e-9, 1 - 1e-9), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_limits_of_several_strata_by_constrained_optimisation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    checked = rng.integers(3, 12, 3).astype(float)
    found = rng.binomial(checked.astype(int), 0.4).astype(float)
    found[0] = min(max(found[0], 1), checked[0] - 1)
    weights = rng.dirichlet(np.ones(3))
    value, low, high = interval(found.tolist(), checked.tolist(), (weights * INFINITE).tolist())
    assert value == pytest.approx(weights @ (found / checked))
    mixed = np.sum((found > 0) & (found < checked))
    n = checked.sum()
    for end in (low, high):
        if end in (0.0, 1.0):
            continue

        def negative(p: Floats) -> float:
            return float(-(found @ np.log(p) + (checked - found) @ np.log(1 - p)))

        constraint = {"type": "eq", "fun": lambda p, end=end: weights @ p - end}
        bounds = [(1e-9, 1 - 1e-9)] * 3
        best = minimize(negative, np.full(3, end), bounds=bounds, constraints=[constraint]).x
        observed = np.concatenate([found, checked - found])
        expected = np.concatenate([checked * best, checked * (1 - best)])
        statistic = 1.8 * np.sum(observed * ((observed / expected) ** (2 / 3) - 1))
        assert statistic == pytest.approx(LIMIT * n / (n - mixed + 1), rel=2e-3)


def test_a_population_checked_completely_has_no_uncertainty() -> None:
    assert interval([2, 3], [10, 5], [10, 5]) == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    value, low, high = interval([2, 0], [10, 4], [10, 90])  # one stratum is known completely
    assert value == pytest.approx(0.02)
    assert low == pytest.approx(0.02)
    assert 0.1 < high < 1 - 12 / 100 + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_limits_are_ordered_and_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_strata = rng.integers(1, 8)
    sizes = rng.integers(1, 50, n_strata).astype(float)
    checked = np.maximum(1, np.floor(sizes * rng.random(n_strata)))
    found = rng.binomial(checked.astype(int), rng.choice([0.0, 0.1, 0.5, 1.0])).astype(float)
    value, low, high = interval(found.tolist(), checked.tolist(), sizes.tolist())
    assert found.sum() / sizes.sum() - 1e-12 <= low <= value <= high
    assert high <= 1 - (checked - found).sum() / sizes.sum() + 1e-12


@pytest.mark.parametrize("rates", [(0.0, 0.02, 0.3), (0.1, 0.1, 0.1), (0.01, 0.2, 0.9)])
def test_coverage(rates: tuple[float, ...]) -> None:
    rng, sizes = np.random.default_rng(0), np.array([600, 300, 100])
    checked = np.array([40, 30, 30])
    wrong = np.round(sizes * np.array(rates)).astype(int)
    found = rng.hypergeometric(wrong, sizes - wrong, checked, size=(4000, 3)).astype(float)
    full = np.broadcast_to(checked.astype(float), found.shape)
    _, low, high = stratified_interval(found, full, np.broadcast_to(sizes * 1.0, found.shape))
    truth = wrong.sum() / sizes.sum()
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.98


def test_unchecked_strata_join_the_nearest_checked_one() -> None:
    merged = merge_unchecked(np.array([0.0, 2, 0, 0, 1]), np.array([5.0, 7, 3, 2, 4]))
    np.testing.assert_array_equal(merged, [0, 15, 0, 0, 6])
    np.testing.assert_array_equal(merge_unchecked(np.zeros(2), np.array([1.0, 2])), [1, 2])
    assert intervals_of_shares([]) == []


@pytest.mark.parametrize("seed", range(3))
def test_dispersion_is_a_ratio_of_variances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 0.5, 1.0], 2000, p=[0.2, 0.5, 0.3])
    mean = values.mean()
    assert dispersion_of(values) == pytest.approx(values.var() / (mean * (1 - mean)), rel=1e-2)
    for n in range(5):
        assert dispersion_of(rng.choice([0.0, 1.0], n)) == pytest.approx(1)


@pytest.mark.parametrize("shares", [(0.1, 0.8, 0.1), (0.05, 0.6, 0.35), (0.5, 0.0, 0.5)])
def test_coverage_of_means_of_fractions(shares: tuple[float, ...]) -> None:
    """Values 0, ½ and 1, as differences of losses are: intervals are narrower and still cover."""
    rng, n = np.random.default_rng(1), 40
    values = rng.choice([0.0, 0.5, 1.0], (3000, n), p=shares)
    found, checked = values.sum(axis=1)[:, None], np.full((3000, 1), float(n))
    dispersion = np.array([dispersion_of(row) for row in values])
    sizes = np.full((3000, 1), INFINITE)
    _, low, high = stratified_interval(found, checked, sizes, dispersion)
    _, low_plain, high_plain = stratified_interval(found, checked, sizes)
    truth = 0.5 * shares[1] + shares[2]
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.985
    assert np.mean(high - low) <= np.mean(high_plain - low_plain) + 1e-12
