"""The mean of the ratings after the bias of each annotator was subtracted."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.estimate import Estimate, error_variances, item_means, overall_mean
from blindfuse.numbers.table import Numbers

MAX_ITERATIONS = 100
TOLERANCE = 1e-6
"""Change of a bias, relative to the standard deviation of all ratings, at which to stop."""


def adjusted_mean(table: Numbers) -> Estimate:
    """Estimate each item by the mean of x_im − b_m.

    It matters where annotators rated different items; the mean of a complete table stays as it is.
    Biases are random effects: b_m is the mean deviation from the estimates times τ²/(τ² + s²/n_m),
    where τ² is the variance of biases among annotators and s² that of the noise, by moments.
    """
    item, n = table.item_of_rating(), np.maximum(table.ratings_per_annotator, 1)
    bias = np.zeros(table.n_annotators)
    freedom = max(table.n_ratings - table.n_items - table.n_annotators + 1, 1)
    iterations = 0
    change = np.inf
    while change >= TOLERANCE and iterations < MAX_ITERATIONS:
        iterations += 1
        values = item_means(table, table.values - bias[table.codes])
        residuals = table.values - values[item]
        means = _annotator_sums(table, residuals) / n
        noise = float(np.square(residuals - means[table.codes]).sum()) / freedom
        between = max(float((np.square(means) - noise / n).mean()), 0.0)
        new = means * between / (between + noise / n) if between > 0 else np.zeros_like(means)
        new -= np.average(new, weights=table.ratings_per_annotator)
        change = float(np.abs(new - bias).max())
        bias = new
    corrected = table.values - bias[table.codes]
    values = item_means(table, corrected)
    unrated = overall_mean(corrected)
    return Estimate(
        values,
        error_variances(table, values, corrected),
        partial(_predict, bias=bias, unrated=unrated),
        iterations=iterations,
    )


def _annotator_sums(table: Numbers, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(table.codes, values, minlength=table.n_annotators), np.float64)


def _predict(new: Numbers, bias: NDArray[np.float64], unrated: float) -> NDArray[np.float64]:
    return item_means(new, new.values - bias[new.codes], unrated)
