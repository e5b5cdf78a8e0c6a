"""EM of the one-factor model x_im = b_m + a_m z_i + e_im, with normal or t-distributed noise."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.ratings import factor_variances, standardized_sums
from blindfuse.numbers.annotator_fit import AnnotatorFit, regress
from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.factor_statistics import expected_statistics, maximize, update_posteriors
from blindfuse.numbers.standardized_mean import Standardizer
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]

MAX_ITERATIONS = 500
PREDICTION_ITERATIONS = 25
"""Iterations for the weights of the ratings of an item under t-distributed noise."""
MAX_START = 3.0
"""Robust standard deviations to which ratings are clipped where noise is t-distributed."""
TOLERANCE = 0.01
"""EM stops where an iteration changes the estimates by less than this share of their standard
error: further iterations change less than what sampling noise leaves open."""


_FITS: "WeakKeyDictionary[Numbers, dict[float, FactorFit]]" = WeakKeyDictionary()
"""The fits of the tables that are in use, by degrees of freedom."""


class FactorFit(NamedTuple):
    """The fitted annotators, and posterior means and variances of z ``[item]``."""

    annotators: AnnotatorFit
    z: Floats
    v: Floats
    iterations: int


def fit_factor(table: Numbers, dof: float = 0.0) -> FactorFit:
    """Return the model fitted to a table, from the cache if several methods ask for it."""
    fits = _FITS.setdefault(table, {})
    if dof not in fits:
        fits[dof] = _fit_factor(table, dof)
    return fits[dof]


def _fit_factor(table: Numbers, dof: float) -> FactorFit:
    """Fit the model by EM from the mean of standardised ratings.

    z has mean 0 and variance 1 over the items, and its sign is such that annotators with positive
    scales have most of the information.
    """
    clipped = table if not dof else _clipped(table)
    z = standardized_start(clipped)
    v = np.zeros(table.n_items)
    fit = regress(clipped, z, v, iterations=3)
    iterations, change = 0, np.inf
    while change >= TOLERANCE**2 * v.mean() and iterations < MAX_ITERATIONS:
        iterations += 1
        last = z.copy()
        statistics = expected_statistics(table, fit, z, v, dof)
        fit = maximize(statistics, fit)
        change = float(np.square(z - last).mean())
    if information(fit, table.ratings_per_annotator)[fit.scale < 0].sum() > 0.5:
        fit = fit.reversed()
        z = -z
    for _ in range(PREDICTION_ITERATIONS if dof else 1):
        update_posteriors(table, fit, z, v, dof)
    return FactorFit(fit, z, v, iterations)


def _clipped(table: Numbers) -> Numbers:
    """The ratings with outliers moved to MAX_START, so that they do not decide where EM starts."""
    values = table.values.clip(-MAX_START, MAX_START)
    return table.with_values(values)


def standardized_start(table: Numbers) -> Floats:
    """Return the mean of standardised ratings ``[item]``, with mean 0 and variance 1."""
    standardizer, sums = Standardizer.of(table), np.empty(table.n_items)
    parameters = standardizer.means, 1 / standardizer.deviations
    table.map_items(lambda *block: standardized_sums(*table.rows, *parameters, *block, sums))
    n = table.ratings_per_item
    values = np.where(n > 0, sums / np.maximum(n, 1), sums.sum() / max(table.n_ratings, 1))
    deviation = values.std()
    return np.asarray((values - values.mean()) / (deviation if deviation > 0 else 1.0))


def information(fit: AnnotatorFit, n_ratings: NDArray[Any]) -> Floats:
    """Return the share ``[annotator]`` of the information about z: n_m a_m²/(a_m² + s_m²)."""
    reliability = n_ratings * fit.scale**2 / (fit.scale**2 + fit.noise)
    total = reliability.sum()
    return np.asarray(reliability / total if total > 0 else np.full(len(reliability), 0.0))


def on_crowd_scale(
    table: Numbers, fitted: FactorFit, variances: Floats, dof: float = 0.0
) -> Estimate:
    """Return the estimates B + A z, on the scale that annotators with positive scales share.

    A and B are the means of their a and b, weighted by :func:`information`.
    """
    fit = fitted.annotators
    location, scale = crowd_scale(fit, table.ratings_per_annotator)
    predict = partial(_predict, fit=fit, location=location, scale=scale, dof=dof)
    values = location + scale * fitted.z
    return Estimate(values, scale**2 * variances, predict, fit, location, scale, fitted.iterations)


def _predict(new: Numbers, fit: AnnotatorFit, location: float, scale: float, dof: float) -> Floats:
    return np.asarray(location + scale * posterior_means(new, fit, dof))


def posterior_means(table: Numbers, fit: AnnotatorFit, dof: float = 0.0) -> Floats:
    """Return the posterior means of z ``[item]`` given the annotators.

    With t-distributed noise the weights of the ratings depend on z, and are iterated.
    """
    z, v = np.zeros(table.n_items), np.ones(table.n_items)
    for _ in range(PREDICTION_ITERATIONS if dof else 1):
        update_posteriors(table, fit, z, v, dof)
    return z


def crowd_scale(fit: AnnotatorFit, n_ratings: NDArray[Any]) -> tuple[float, float]:
    """Return B and A of :func:`on_crowd_scale`."""
    weights = information(fit, n_ratings) * (fit.scale > 0)
    if not weights.sum() > 0:
        return fit.prior.bias, max(fit.prior.scale, 0.0)
    return float(np.average(fit.bias, weights=weights)), float(
        np.average(fit.scale, weights=weights)
    )


def posterior_with_noise(table: Numbers, fitted: FactorFit, noise: Floats) -> FactorFit:
    """Return the posteriors of z for another noise of the annotators."""
    fit = replace(fitted.annotators, noise=noise)
    z, v = fitted.z.copy(), fitted.v.copy()
    update_posteriors(table, fit, z, v)
    return FactorFit(fit, z, v, fitted.iterations)


def error_variances_of(table: Numbers, fitted: FactorFit) -> Floats:
    """Return the variance ``[item]`` of the error of z."""
    fit, variances = fitted.annotators, np.empty(table.n_items)
    var_a, covariance, var_b = fit.uncertainty.T
    noise = np.column_stack([fit.noise + var_b, 2 * covariance, var_a])
    square = (fit.scale / fit.noise)[:, None] ** 2
    weights = np.column_stack([fit.scale**2 / fit.noise, square * noise])
    rows = table.starts, table.codes
    table.map_items(lambda *block: factor_variances(*rows, weights, fitted.z, *block, variances))
    return variances
