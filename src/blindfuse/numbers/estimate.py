"""``Estimate``: what a method returns for a table of ratings; mean, median and the model."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from blindfuse.numbers.factor_model import (
    AnnotatorFit,
    FactorFit,
    crowd_scale,
    error_variances,
    fit_factor,
    posteriors,
)
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats

INTERVAL_Z = 1.959964
"""Half of a 95 % interval, in standard errors of a normal distribution."""


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
    return _without_model(table, Numbers.item_means, efficiency=1.0)


def median(table: Numbers) -> Estimate:
    """Estimate each item by the median of its ratings, which one outlier does not change much."""
    # Of many normal ratings, the mean has 2/π of the variance of the median.
    return _without_model(table, Numbers.item_medians, efficiency=2 / np.pi)


def one_factor(table: Numbers, fitted: FactorFit | None = None) -> Estimate:
    """Estimate each item by the one-factor model, on the scale that the annotators share."""
    fitted = fitted or fit_factor(table)
    fit, z = fitted.annotators, fitted.z
    location, unit = crowd_scale(fit, table.responses_per_annotator)
    variances = unit**2 * error_variances(table, fitted)
    predict = partial(_factor_means, fit=fit, location=location, unit=unit)
    return Estimate(location + unit * z, variances, z, fitted.v, location, unit, predict)


def _factor_means(new: Numbers, fit: AnnotatorFit, location: float, unit: float) -> Floats:
    return np.asarray(location + unit * posteriors(new, fit)[0])


def _without_model(table: Numbers, centres: Callable[..., Floats], efficiency: float) -> Estimate:
    """The estimates of a mean or median: n ratings with the noise s² leave the variance s²/n.

    With the variance V of the truth, that of the estimates minus that of their errors, an estimate
    y with error variance e has the posterior mean √V (y − mean) / (V + e) and variance e/(V + e).
    """
    predict = partial(centres, unrated=float(table.values.mean()))
    values, n = predict(table), table.responses_per_item
    noise = local_noise(table, values)
    variances = noise / np.maximum(n * np.where(n > 2, efficiency, 1.0), 1.0)
    variances = np.where(n > 0, variances, noise + values.var())
    total, location = float(values.var()), float(values.mean())
    truth = max(total - float(variances.mean()), 0.01 * total)
    if not truth > 0:
        z, v = np.zeros(len(values)), np.ones(len(values))
        return Estimate(values, variances, z, v, location, 0.0, predict)
    z = np.sqrt(truth) * (values - location) / (truth + variances)
    v = variances / (truth + variances)
    return Estimate(values, variances, z, v, location, float(np.sqrt(truth)), predict)


def local_noise(table: Numbers, values: Floats) -> Floats:
    """Return the variance ``[item]`` of ratings around their item, by the value of the item.

    It is the pooled variance within items whose values lie in ± INTERVAL_Z √noise of the item's
    own: s_i² = Σ_j S_j / Σ_j (n_j − 1) over |y_j − y_i| ≤ z s_i, for S_j squared deviations of n_j
    ratings. Items near the end of a scale, where all give the same rating, so share the noise of
    the values that they might have. Without an item with two ratings it is the variance of all.
    """
    order = np.argsort(values, kind="stable")
    ordered, freedom = values[order], np.maximum(table.responses_per_item - 1, 0)[order]
    total = np.concatenate([[0.0], np.cumsum(table.squared_deviations()[order])])
    count = np.concatenate([[0.0], np.cumsum(freedom)])
    if not count[-1]:
        return np.full(len(values), float(table.values.var()))
    noise = np.full(len(values), total[-1] / count[-1])
    for _ in range(5):  # from one window for all items to windows that agree with their noise
        half = INTERVAL_Z * np.sqrt(noise)
        first = np.searchsorted(ordered, ordered - half, side="left")
        last = np.searchsorted(ordered, ordered + half, side="right")
        several = count[last] > count[first]
        sums = np.maximum(total[last] - total[first], 0.0)
        noise = np.where(several, sums / np.where(several, count[last] - count[first], 1.0), noise)
    unsorted = np.empty(len(values))
    unsorted[order] = noise
    return unsorted
