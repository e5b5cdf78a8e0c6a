"""EM of the one-factor model x_im = b_m + a_m z_i + e_im with normal noise."""

from typing import NamedTuple

import numpy as np

from blindfuse.kernels.ratings import factor_variances, standardized_sums
from blindfuse.numbers.annotator_fit import AnnotatorFit, regress
from blindfuse.numbers.factor_statistics import expected_statistics, maximize, update_posteriors
from blindfuse.numbers.standardization import Standardizer
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Array, Floats

MAX_ITERATIONS = 500
TOLERANCE = 0.01
"""EM stops where an iteration changes the estimates by less than this share of their standard
error: further iterations change less than what sampling noise leaves open."""


class FactorFit(NamedTuple):
    """The fitted annotators, and posterior means and variances of z ``[item]``."""

    annotators: AnnotatorFit
    z: Floats
    v: Floats
    iterations: int


def fit_factor(table: Numbers, tolerance: float = TOLERANCE) -> FactorFit:
    """Fit the model by EM from the mean of standardised ratings.

    z has mean 0 and variance 1 over the items, and its sign is such that annotators with positive
    scales have most of the information.
    """
    z = standardized_start(table)
    v = np.zeros(table.n_items)
    fit = regress(table, z, v, iterations=3)
    iterations, change = 0, np.inf
    while change >= tolerance**2 * v.mean() and iterations < MAX_ITERATIONS:
        iterations += 1
        last = z.copy()
        fit = maximize(expected_statistics(table, fit, z, v), fit)
        change = float(np.square(z - last).mean())
    if information(fit, table.ratings_per_annotator)[fit.scale < 0].sum() > 0.5:
        fit = fit.reversed()
    update_posteriors(table, fit, z, v)
    return FactorFit(fit, z, v, iterations)


def standardized_start(table: Numbers) -> Floats:
    """Return the mean of standardised ratings ``[item]``, with mean 0 and variance 1."""
    standardizer, sums = Standardizer.of(table), np.empty(table.n_items)
    parameters = standardizer.means, 1 / standardizer.deviations
    table.map_items(lambda *block: standardized_sums(*table.by_item, *parameters, *block, sums))
    n = table.ratings_per_item
    values = np.where(n > 0, sums / np.maximum(n, 1), sums.sum() / max(table.n_ratings, 1))
    deviation = values.std()
    return np.asarray((values - values.mean()) / (deviation if deviation > 0 else 1.0))


def information(fit: AnnotatorFit, n_ratings: Array) -> Floats:
    """Return the share ``[annotator]`` of the information about z: n_m a_m²/(a_m² + s_m²)."""
    reliability = n_ratings * fit.scale**2 / (fit.scale**2 + fit.noise)
    total = reliability.sum()
    return np.asarray(reliability / total if total > 0 else np.full(len(reliability), 0.0))


def posterior_means(table: Numbers, fit: AnnotatorFit) -> Floats:
    """Return the posterior means of z ``[item]`` given the annotators."""
    z, v = np.zeros(table.n_items), np.ones(table.n_items)
    update_posteriors(table, fit, z, v)
    return z


def crowd_scale(fit: AnnotatorFit, n_ratings: Array) -> tuple[float, float]:
    """Return B and A of the estimates B + A z, on the scale that the annotators share.

    They are the means of b and a of annotators with positive scales, weighted by their information.
    """
    weights = information(fit, n_ratings) * (fit.scale > 0)
    if not weights.sum() > 0:
        return fit.prior.bias, max(fit.prior.scale, 0.0)
    return float(np.average(fit.bias, weights=weights)), float(
        np.average(fit.scale, weights=weights)
    )


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
