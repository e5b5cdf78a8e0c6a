"""``Estimate``: what a method returns for a table of ratings, and the standard error of means."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.annotator_fit import AnnotatorFit
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]

PRIOR_RATINGS = 2.0
"""Ratings with the average of the crowd that each annotator's mean, variance and squared deviation
are shrunk with, in methods that do not learn the strength. Two is the smallest number from which a
variance can be computed."""
MIN_RELIABILITY = 0.01
"""Least share of the variance of estimates that is taken for that of the truth."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates of the items.

    Attributes
    ----------
    values, variances ``[item]``
        the estimates, and the variances of their errors.
    predict
        returns the estimates ``[item]`` of other items by the same annotators, each on its own.
    annotators
        bias, scale and noise in units of z, the standardised truth; None if the method has no model
        of annotators.
    location, unit
        the estimate of an average item, and how much estimates rise per unit of z: the values are
        ``location + unit · z``. Given with ``annotators``.
    iterations
        number of iterations; zero for methods that do not iterate.
    """

    values: Floats
    variances: Floats
    predict: Callable[[Numbers], Floats]
    annotators: AnnotatorFit | None = None
    location: float = 0.0
    unit: float = 1.0
    iterations: int = 0


def overall_mean(values: Floats) -> float:
    """Return the mean of all ratings, with which items without a rating are estimated."""
    return float(values.mean()) if len(values) else 0.0


def item_means(table: Numbers, values: Floats, unrated: float | None = None) -> Floats:
    """Return the mean ``[item]`` of ``values[rating]``; ``unrated`` for items without a rating."""
    counts = table.ratings_per_item
    sums = np.bincount(table.item_of_rating(), values, minlength=table.n_items)
    fallback = overall_mean(values) if unrated is None else unrated
    return np.where(counts > 0, sums / np.maximum(counts, 1), fallback)


def annotator_moments(table: Numbers) -> tuple[Floats, Floats]:
    """Return the mean and variance ``[annotator]`` of the ratings, shrunk towards those of all."""
    n, _, x, xx = table.power_sums.T
    total = max(float(n.sum()), 1.0)
    means = (x + PRIOR_RATINGS * x.sum() / total) / (n + PRIOR_RATINGS)
    squares = np.maximum(xx - 2 * means * x + n * means**2, 0.0)
    prior = PRIOR_RATINGS * squares.sum() / total
    return means, (squares + prior) / (n + PRIOR_RATINGS)


def error_variances(table: Numbers, values: Floats, corrected: Floats | None = None) -> Floats:
    """Return the variance ``[item]`` of the error of a mean of ``corrected[rating]``.

    The mean of n ratings has the variance Σ_m d_m²/n², where d_m² is the mean squared deviation of
    annotator m from the estimates, times n/(n − 1) because each estimate contains the rating. Bias
    and scale of annotators count as error. The deviations of annotators whose items have no other
    rating cannot be measured; they have the variance of all ratings.
    """
    ratings = table.values if corrected is None else corrected
    item, n = table.item_of_rating(), table.ratings_per_item
    shared = n[item] > 1
    deviations = np.square(ratings - values[item]) * (n / np.maximum(n - 1, 1))[item]
    overall = float(deviations[shared].mean()) if shared.any() else _variance(ratings)
    counts = np.bincount(table.codes[shared], minlength=table.n_annotators)
    sums = np.bincount(table.codes[shared], deviations[shared], minlength=table.n_annotators)
    per_annotator = (sums + PRIOR_RATINGS * overall) / (counts + PRIOR_RATINGS)
    totals = np.bincount(item, per_annotator[table.codes], minlength=table.n_items)
    unrated = max(_variance(ratings), overall)
    return np.where(n > 0, totals / np.maximum(n, 1) ** 2, unrated)


class Standardized(NamedTuple):
    """Posterior means and variances of the standardised truth, for estimates without a model.

    ``location + unit · z`` are the estimates, shrunk towards their mean.
    """

    z: Floats
    v: Floats
    location: float
    unit: float


def standardize_estimates(values: Floats, variances: Floats) -> Standardized:
    """Return the posterior of z if the estimates are the truth plus errors of these variances.

    With the variance V of the truth, that of the estimates minus that of their errors, an estimate
    y with error variance e has the posterior mean √V (y − mean) / (V + e) and variance e/(V + e).
    """
    location = overall_mean(values)
    total = _variance(values)
    truth = max(total - overall_mean(variances), MIN_RELIABILITY * total)
    if not truth > 0:
        return Standardized(np.zeros(len(values)), np.ones(len(values)), location, 0.0)
    posterior = truth + variances
    z = np.sqrt(truth) * (values - location) / posterior
    return Standardized(z, variances / posterior, location, float(np.sqrt(truth)))


def _variance(values: Floats) -> float:
    return float(values.var()) if len(values) else 0.0
