"""Every method against a second, independent computation."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from blindfuse import simulate_numbers
from blindfuse.numbers.estimate import INTERVAL_Z, local_noise, mean, median, one_factor
from blindfuse.numbers.factor_model import (
    NOISE_COUNT,
    crowd_scale,
    error_variances,
    fit_factor,
    like_prior,
    m_step,
    standardized_start,
)
from blindfuse.numbers.scales import Standardizer
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]


@pytest.fixture(params=range(3))
def table(request: pytest.FixtureRequest) -> Numbers:
    return simulate_numbers(120, 7, missing=0.3, seed=request.param).numbers


def rated(table: Numbers) -> NDArray[np.bool_]:
    return np.asarray(table.responses_per_item > 0)


def test_mean_and_median_are_those_of_pandas(table: Numbers) -> None:
    frame, known = pd.DataFrame(table.matrix()), rated(table)
    np.testing.assert_allclose(mean(table).values[known], frame.mean(axis=1)[known])
    np.testing.assert_allclose(median(table).values[known], frame.median(axis=1)[known])
    np.testing.assert_allclose(mean(table).values[~known], table.values.mean())


def test_standard_errors_of_the_mean_are_true_for_equal_annotators() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=4000)
    noise = np.array([0.5, 1.0, 2.0, 1.0])
    matrix = truth[:, None] + noise * rng.normal(size=(4000, 4))
    estimate = mean(Numbers.from_matrix(matrix))
    assert np.sqrt(estimate.variances.mean()) == pytest.approx(
        np.std(estimate.values - truth), rel=0.05
    )


def test_standardized_ratings_in_pandas(table: Numbers) -> None:
    frame = pd.DataFrame(table.matrix())
    n, means, deviations = frame.count(), frame.mean(), frame.std(ddof=0)
    location, unit = means.median(), deviations.median()
    shrunk = np.exp((n * np.log(deviations) + 2 * np.log(unit)) / (n + 2))
    offsets = 2 / (n + 2) * (means - location) / unit
    expected = location + unit * ((frame - means) / shrunk + offsets)
    found = Standardizer.of(table).apply(table)
    np.testing.assert_allclose(found.matrix(), expected)


@pytest.mark.parametrize("factor", [1e-3, 10.0, 1e4])
def test_one_annotator_on_another_scale_changes_standardized_ratings_little(factor: float) -> None:
    simulation = simulate_numbers(500, 7, missing=0.2, useless=0, reversed_share=0, seed=1)
    matrix = simulation.numbers.matrix()
    moved = matrix * np.where(np.arange(7) == 3, factor, 1.0)
    found = [Standardizer.of(one).apply(one) for one in map(Numbers.from_matrix, (matrix, moved))]
    assert np.corrcoef(found[0].values, found[1].values)[0, 1] > 0.995


def test_noise_follows_the_value_of_the_item() -> None:
    rng = np.random.default_rng(0)
    truth = np.exp(rng.normal(3, 1.5, 4000))
    matrix = truth[:, None] * (1 + 0.1 * rng.normal(size=(4000, 6)))
    table = Numbers.from_matrix(matrix)
    ratio = np.sqrt(local_noise(table, matrix.mean(axis=1))) / (0.1 * truth)
    assert np.median(ratio) == pytest.approx(1, abs=0.1)
    assert (np.quantile(ratio, [0.05, 0.95]) > 0.7).all()
    equal = Numbers.from_matrix(truth[:, None] + rng.normal(size=(4000, 6)))
    found = local_noise(equal, equal.matrix().mean(axis=1))
    np.testing.assert_allclose(np.median(found), 1, atol=0.1)


def test_noise_is_the_pooled_variance_of_the_items_in_its_own_interval() -> None:
    table = simulate_numbers(60, 5, missing=0.2, seed=3).numbers
    values = np.nan_to_num(np.nanmean(table.matrix(), axis=1))
    noise, n = local_noise(table, values), table.responses_per_item
    squares = np.where(n > 1, np.square(table.spreads()) * (n - 1), 0.0)
    settled = 0
    for item in range(60):
        near = np.abs(values - values[item]) <= INTERVAL_Z * np.sqrt(noise[item])
        pooled = squares[near].sum() / np.maximum(n - 1, 0)[near].sum()
        settled += bool(np.isclose(pooled, noise[item]))
    assert settled >= 55


def dense_e_step(
    table: Numbers, bias: Floats, scale: Floats, noise: Floats, uncertainty: Floats
) -> tuple[Floats, Floats]:
    """Posterior means and variances of z, item by item."""
    matrix = table.matrix()
    z, v = np.empty(len(matrix)), np.empty(len(matrix))
    for n, row in enumerate(matrix):
        known = ~np.isnan(row)
        a, s = scale[known], noise[known]
        v[n] = 1 / (1 + ((a**2 + uncertainty[known, 0]) / s).sum())
        z[n] = v[n] * ((a * (row[known] - bias[known]) - uncertainty[known, 1]) / s).sum()
    return z, v


def test_the_posteriors_of_the_fitted_model(table: Numbers) -> None:
    fitted = fit_factor(table)
    fit = fitted.annotators
    z, v = dense_e_step(table, fit.bias, fit.scale, fit.noise, fit.uncertainty)
    np.testing.assert_allclose(fitted.z, z)
    np.testing.assert_allclose(fitted.v, v)
    location, unit = crowd_scale(fit, table.responses_per_annotator)
    np.testing.assert_allclose(one_factor(table).values, location + unit * z)


def test_the_start_and_the_variances_in_plain_numpy(table: Numbers) -> None:
    fitted = fit_factor(table)
    fit, ratings, variances = fitted.annotators, table.matrix(), np.empty(table.n_items)
    for n, (z, row) in enumerate(zip(fitted.z, ratings, strict=True)):
        m = ~np.isnan(row)
        weight = fit.scale[m] / fit.noise[m]
        noise = fit.noise[m] + fit.uncertainty[m] @ [z**2, 2 * z, 1.0]
        variances[n] = (1 + weight**2 @ noise) / (1 + weight @ fit.scale[m]) ** 2
    np.testing.assert_allclose(error_variances(table, fitted), variances)
    corrected = Standardizer.of(table).apply(table)
    means = np.nanmean(corrected.matrix(), axis=1)
    np.testing.assert_allclose(
        standardized_start(table), (means - means.mean()) / means.std(), atol=1e-12
    )


def test_the_m_step_is_a_bayesian_regression(table: Numbers) -> None:
    """One annotator's posterior of (b, a) by linear algebra, given z with variance v."""
    fitted = fit_factor(table)
    matrix, last = table.matrix(), like_prior(table.n_annotators)
    sums = np.zeros((table.n_annotators, 6))
    for m in range(table.n_annotators):
        known = ~np.isnan(matrix[:, m])
        x, z, v = matrix[known, m], fitted.z[known], fitted.v[known]
        n = known.sum()
        sums[m] = n, x.sum(), (x**2).sum(), z.sum(), (z**2 + v).sum(), (x * z).sum()
    fit = m_step(sums, last)
    for m in range(table.n_annotators):
        known = ~np.isnan(matrix[:, m])
        x, z, v = matrix[known, m], fitted.z[known], fitted.v[known]
        design = np.column_stack([np.ones(len(z)), z])
        moment = design.T @ design + np.diag([0, v.sum()])
        prior = np.diag([1 / last.prior.bias_variance, 1 / last.prior.scale_variance])
        covariance = np.linalg.inv(prior + moment / last.noise[m])
        centre = prior @ [last.prior.bias, last.prior.scale]
        b, a = covariance @ (centre + design.T @ x / last.noise[m])
        assert (fit.bias[m], fit.scale[m]) == pytest.approx((b, a))
        expected = covariance[1, 1], covariance[0, 1], covariance[0, 0]
        np.testing.assert_allclose(fit.uncertainty[m], expected)
        squares = np.square(x - b - a * z).sum() + a**2 * v.sum() + np.trace(covariance @ moment)
        pooled = NOISE_COUNT * fit.prior.noise + squares
        assert fit.noise[m] == pytest.approx(pooled / (NOISE_COUNT + len(x)))
