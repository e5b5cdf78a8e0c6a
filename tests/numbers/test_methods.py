"""Every method against a second, independent computation."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from blindfuse import BadParameter, simulate_numbers
from blindfuse.numbers import table as numbers_table
from blindfuse.numbers.adjusted_mean import adjusted_mean
from blindfuse.numbers.annotator_fit import NOISE_COUNTS, _learn_noise_prior, fit_step, initial_fit
from blindfuse.numbers.bounded_factor import bounded_factor
from blindfuse.numbers.factor_em import (
    crowd_scale,
    error_variances_of,
    fit_factor,
    standardized_start,
)
from blindfuse.numbers.factor_statistics import expected_statistics, update_posteriors
from blindfuse.numbers.mean import mean
from blindfuse.numbers.median import median
from blindfuse.numbers.one_factor import one_factor
from blindfuse.numbers.robust_factor import DEGREES_OF_FREEDOM, robust_factor
from blindfuse.numbers.standardized_mean import Standardizer, standardized_mean
from blindfuse.numbers.table import Numbers
from blindfuse.numbers.trimmed_mean import trimmed_mean
from blindfuse.numbers.upcr import MAX_ANNOTATORS, upcr

Floats = NDArray[np.float64]


@pytest.fixture(params=range(3))
def table(request: pytest.FixtureRequest) -> Numbers:
    return simulate_numbers(120, 7, missing=0.3, seed=request.param).numbers


def rated(table: Numbers) -> NDArray[np.bool_]:
    return np.asarray(table.ratings_per_item > 0)


def test_mean_and_median_are_those_of_pandas(table: Numbers) -> None:
    frame, known = pd.DataFrame(table.matrix()), rated(table)
    np.testing.assert_allclose(mean(table).values[known], frame.mean(axis=1)[known])
    np.testing.assert_allclose(median(table).values[known], frame.median(axis=1)[known])
    np.testing.assert_allclose(mean(table).values[~known], table.values.mean())


def test_trimmed_mean_is_that_of_scipy(table: Numbers) -> None:
    for n in np.flatnonzero(rated(table)):
        ratings = table.values[table.starts[n] : table.starts[n + 1]]
        expected = stats.trim_mean(ratings, 0.2)
        assert trimmed_mean(table).values[n] == pytest.approx(expected)


def test_standard_errors_of_the_mean_are_true_for_equal_annotators() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=4000)
    noise = np.array([0.5, 1.0, 2.0, 1.0])
    matrix = truth[:, None] + noise * rng.normal(size=(4000, 4))
    estimate = mean(Numbers.from_matrix(matrix))
    assert np.sqrt(estimate.variances.mean()) == pytest.approx(
        np.std(estimate.values - truth), rel=0.05
    )


def test_adjusted_mean_solves_the_mixed_model_equations(table: Numbers) -> None:
    """Items are fixed effects and annotators random effects with variance τ² and noise s²."""
    estimate = adjusted_mean(table)
    item, n = table.item_of_rating(), table.ratings_per_annotator
    predictions = estimate.predict(table)
    alone = np.array([estimate.predict(_single(table, m))[0] for m in range(table.n_annotators)])
    bias = -alone  # a rating of zero is estimated by minus the bias
    residuals = table.values - predictions[item]
    means = np.bincount(table.codes, residuals) / n
    within = np.square(residuals - means[table.codes]).sum()
    noise = within / (table.n_ratings - table.n_items - table.n_annotators + 1)
    between = max((means**2 - noise / n).mean(), 0)
    shrunk = means * between / (between + noise / n)
    np.testing.assert_allclose(bias, shrunk - np.average(shrunk, weights=n), atol=1e-4)


def _single(table: Numbers, m: int) -> Numbers:
    return Numbers(np.array([0]), table.annotators, np.array([0, 1]), np.array([m]), np.zeros(1))


def test_standardized_mean_in_pandas(table: Numbers) -> None:
    frame = pd.DataFrame(table.matrix())
    n, overall = frame.count(), table.values.mean()
    means = (frame.sum() + 2 * overall) / (n + 2)
    squares = (frame - means) ** 2
    variances = (squares.sum() + 2 * squares.sum().sum() / n.sum()) / (n + 2)
    z = (frame - means) / np.sqrt(variances)
    typical = (np.sqrt(variances) * n).sum() / n.sum()
    expected = overall + typical * z.mean(axis=1)
    known = rated(table)
    np.testing.assert_allclose(standardized_mean(table).values[known], expected[known])


def test_upcr_of_a_complete_table_is_the_formula_of_the_paper() -> None:
    matrix = simulate_numbers(400, 6, missing=0, seed=1).numbers.matrix()
    centred = matrix - matrix.mean(axis=0)
    C = np.cov(centred, rowvar=False, ddof=0)
    M = len(C)
    theta = (C.sum() - np.trace(C)) / (M * (M - 1))
    rows = [(m, l) for m in range(M) for l in range(M) if m != l]
    design = np.zeros((len(rows), M))
    for at, (m, l) in enumerate(rows):
        design[at, m] += 1
        design[at, l] += 1
    rho = np.linalg.lstsq(design, np.array([C[row] + theta for row in rows]))[0]
    eigenvalues, vectors = np.linalg.eigh(C)
    v = vectors[:, -1]
    expected = matrix.mean() + centred @ v * (rho @ v) / eigenvalues[-1]
    np.testing.assert_allclose(upcr(Numbers.from_matrix(matrix)).values, expected)


def test_upcr_finds_the_factor() -> None:
    simulation = simulate_numbers(2000, 10, missing=0.3, useless=0.1, seed=2)
    estimates = upcr(simulation.numbers).values
    assert np.corrcoef(estimates, simulation.truth)[0, 1] > 0.9
    with pytest.raises(BadParameter, match="at most 2,000 annotators"):
        upcr(Numbers.from_matrix(np.ones((1, MAX_ANNOTATORS + 1))))


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
    location, unit = crowd_scale(fit, table.ratings_per_annotator)
    np.testing.assert_allclose(one_factor(table).values, location + unit * z)


def test_the_start_and_the_variances_in_plain_numpy(table: Numbers) -> None:
    fitted = fit_factor(table)
    fit, ratings, variances = fitted.annotators, table.matrix(), np.empty(table.n_items)
    for n, (z, row) in enumerate(zip(fitted.z, ratings, strict=True)):
        m = ~np.isnan(row)
        weight = fit.scale[m] / fit.noise[m]
        noise = fit.noise[m] + fit.uncertainty[m] @ [z**2, 2 * z, 1.0]
        variances[n] = (1 + weight**2 @ noise) / (1 + weight @ fit.scale[m]) ** 2
    np.testing.assert_allclose(error_variances_of(table, fitted), variances)
    corrected = table.with_values(Standardizer.of(table).ratings(table))
    means = np.nanmean(corrected.matrix(), axis=1)
    np.testing.assert_allclose(
        standardized_start(table), (means - means.mean()) / means.std(), atol=1e-12
    )


@pytest.mark.parametrize("dof", [0.0, DEGREES_OF_FREEDOM])
def test_threads_and_posteriors_without_statistics_change_nothing(
    table: Numbers, dof: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, z, v = fit_factor(table, dof), np.zeros(table.n_items), np.ones(table.n_items)
    other = z.copy(), v.copy()
    expected_statistics(table, expected.annotators, z, v, dof)
    monkeypatch.setattr(numbers_table, "MIN_ITEMS_PER_THREAD", 1)
    update_posteriors(table, expected.annotators, *other, dof)
    np.testing.assert_array_equal(other, (z, v))
    found = fit_factor(table.with_values(table.values), dof)
    np.testing.assert_allclose(found.z, expected.z, atol=1e-10)


def test_the_m_step_is_a_bayesian_regression(table: Numbers) -> None:
    """One annotator's posterior of (b, a) by linear algebra, given z with variance v."""
    fitted = fit_factor(table)
    matrix, last = table.matrix(), initial_fit(table.n_annotators)
    sums = np.zeros((table.n_annotators, 7))
    for m in range(table.n_annotators):
        known = ~np.isnan(matrix[:, m])
        x, z, v = matrix[known, m], fitted.z[known], fitted.v[known]
        n = known.sum()
        sums[m] = n, n, x.sum(), (x**2).sum(), z.sum(), (z**2 + v).sum(), (x * z).sum()
    fit = fit_step(sums, last)
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
        count, typical = fit.prior.noise_count, fit.prior.noise
        assert fit.noise[m] == pytest.approx((count * typical + squares) / (count + len(x)))


def test_the_noise_prior_has_the_largest_marginal_likelihood() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(5, 200, 400).astype(float)
    variances = 16 * 0.5 / rng.chisquare(16, 400)
    squares = variances * rng.chisquare(n)
    start = 0.5
    for _ in range(20):
        count, start = _learn_noise_prior(n, squares, start)
    assert count == 16.0
    assert start == pytest.approx(0.5, rel=0.1)

    def evidence(nu: float, s: float) -> float:
        """S/(n s) has the F distribution with n and ν degrees of freedom."""
        return float((stats.f.logpdf(squares / (n * s), n, nu) - np.log(n * s)).sum())

    assert max(NOISE_COUNTS, key=lambda nu: evidence(nu, start)) == count
    assert evidence(count, start) >= max(
        evidence(count, 0.98 * start), evidence(count, 1.02 * start)
    )


def test_bounded_noise_is_at_least_the_median(table: Numbers) -> None:
    fit = fit_factor(table).annotators
    bounded = np.maximum(fit.noise, np.median(fit.noise))
    z, _ = dense_e_step(table, fit.bias, fit.scale, bounded, fit.uncertainty)
    estimate = bounded_factor(table)
    np.testing.assert_allclose(estimate.values, estimate.location + estimate.unit * z)
    np.testing.assert_array_equal(bounded_factor(table).annotators.noise, fit.noise)  # type: ignore[union-attr]


def test_robust_posteriors_are_modes_of_the_t_likelihood() -> None:
    """At the solution z is the weighted mean with the weights of the t distribution."""
    table = simulate_numbers(60, 6, missing=0.2, seed=0).numbers
    estimate = robust_factor(table)
    fit = estimate.annotators
    assert fit is not None
    z = (estimate.values - estimate.location) / estimate.unit
    v = estimate.variances / estimate.unit**2
    for n in range(10):
        at = slice(table.starts[n], table.starts[n + 1])
        m, x = table.codes[at], table.values[at]
        r = x - fit.bias[m] - fit.scale[m] * z[n]
        u = (DEGREES_OF_FREEDOM + 1) / (
            DEGREES_OF_FREEDOM + (r**2 + fit.scale[m] ** 2 * v[n]) / fit.noise[m]
        )
        precision = 1 + (u * (fit.scale[m] ** 2 + fit.uncertainty[m, 0]) / fit.noise[m]).sum()
        weighted = u * (fit.scale[m] * (x - fit.bias[m]) - fit.uncertainty[m, 1]) / fit.noise[m]
        assert z[n] == pytest.approx(weighted.sum() / precision, abs=1e-4)


def test_three_covariances_determine_the_scale() -> None:
    """The identity of the documentation: a_m² = C_ml C_mk / C_lk."""
    simulation = simulate_numbers(200_000, 3, missing=0, useless=0, reversed_share=0, seed=0)
    C = np.cov(simulation.numbers.matrix(), rowvar=False)
    assert np.sqrt(C[0, 1] * C[0, 2] / C[1, 2]) == pytest.approx(simulation.scale[0], rel=0.02)
    fit = fit_factor(simulation.numbers).annotators
    np.testing.assert_allclose(fit.scale, simulation.scale, rtol=0.03)
