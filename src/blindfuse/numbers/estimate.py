"""``Estimate``: what a method returns for a table of ratings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from blindfuse.kernels.ratings import row_centres
from blindfuse.numbers.annotator_fit import AnnotatorFit
from blindfuse.numbers.factor_em import (
    FactorFit,
    crowd_scale,
    error_variances_of,
    fit_factor,
    posterior_means,
)
from blindfuse.numbers.noise import local_noise
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats

MEDIAN_EFFICIENCY = 2 / np.pi
"""Variance of the mean divided by that of the median of many normal ratings."""
MIN_RELIABILITY = 0.01
"""Least share of the variance of estimates that is taken for that of the truth."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates of the items.

    Attributes
    ----------
    values, variances ``[item]``
        the estimates, and the variances of their errors if annotators err independently.
    z, v ``[item]``, location, unit
        posterior mean and variance of the standardised truth: ``location + unit · z`` is an
        estimate, shrunk towards the mean of all.
    predict
        returns the estimates ``[item]`` of other items by the same annotators, each on its own.
    """

    values: Floats
    variances: Floats
    z: Floats
    v: Floats
    location: float
    unit: float
    predict: Callable[[Numbers], Floats]


def mean(table: Numbers) -> Estimate:
    """Estimate each item by the mean of its ratings."""
    return _without_model(table, partial(item_means, unrated=_mean(table.values)), 1.0)


def median(table: Numbers) -> Estimate:
    """Estimate each item by the median of its ratings, which one outlier does not change much."""
    centre = partial(item_medians, unrated=_mean(table.values))
    return _without_model(table, centre, MEDIAN_EFFICIENCY)


def one_factor(table: Numbers, fitted: FactorFit | None = None) -> Estimate:
    """Estimate each item by the one-factor model, on the scale that the annotators share."""
    fitted = fitted or fit_factor(table)
    fit, z = fitted.annotators, fitted.z
    location, unit = crowd_scale(fit, table.ratings_per_annotator)
    values, variances = location + unit * z, unit**2 * error_variances_of(table, fitted)
    predict = partial(_factor_means, fit=fit, location=location, unit=unit)
    return Estimate(values, variances, z, fitted.v, location, unit, predict)


def _factor_means(new: Numbers, fit: AnnotatorFit, location: float, unit: float) -> Floats:
    return np.asarray(location + unit * posterior_means(new, fit))


def item_means(table: Numbers, unrated: float) -> Floats:
    """Return the mean rating ``[item]``; ``unrated`` for items without a rating."""
    n = table.ratings_per_item
    sums = np.bincount(table.item_of_rating(), table.values, minlength=table.n_items)
    return np.where(n > 0, sums / np.maximum(n, 1), unrated)


def item_medians(table: Numbers, unrated: float) -> Floats:
    """Return the median rating ``[item]``; ``unrated`` for items without a rating."""
    centres = np.full(table.n_items, unrated)
    row_centres(table.starts, table.values, 0.5, centres)
    return centres


def _without_model(
    table: Numbers, predict: Callable[[Numbers], Floats], efficiency: float
) -> Estimate:
    """The estimates of a mean or median: n ratings with the noise s² leave the variance s²/n.

    With the variance V of the truth, that of the estimates minus that of their errors, an estimate
    y with error variance e has the posterior mean √V (y − mean) / (V + e) and variance e/(V + e).
    """
    values, n = predict(table), table.ratings_per_item
    noise = local_noise(table, values)
    variances = noise / np.maximum(n * np.where(n > 2, efficiency, 1.0), 1.0)
    variances = np.where(n > 0, variances, noise + values.var())
    total, location = float(values.var()), _mean(values)
    truth = max(total - _mean(variances), MIN_RELIABILITY * total)
    if not truth > 0:
        z, v = np.zeros(len(values)), np.ones(len(values))
        return Estimate(values, variances, z, v, location, 0.0, predict)
    z = np.sqrt(truth) * (values - location) / (truth + variances)
    v = variances / (truth + variances)
    return Estimate(values, variances, z, v, location, float(np.sqrt(truth)), predict)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
