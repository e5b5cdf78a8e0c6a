"""The mean of the ratings after those of each annotator were standardised."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.estimate import (
    Estimate,
    annotator_moments,
    error_variances,
    item_means,
    overall_mean,
)
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]


def standardized_mean(table: Numbers) -> Estimate:
    """Estimate each item by the mean of (x_im − mean_m) / sd_m, on the scale of the crowd.

    Means and variances of annotators are shrunk towards those of all ratings. The result is
    multiplied by the mean standard deviation of annotators and shifted to the mean of all ratings.
    """
    standardize = standardizer(table)
    corrected = standardize(table)
    values, unrated = item_means(table, corrected), overall_mean(corrected)
    return Estimate(
        values,
        error_variances(table, values, corrected),
        lambda new: item_means(new, standardize(new), unrated),
    )


def standardizer(table: Numbers) -> Callable[[Numbers], Floats]:
    """Return a function that standardises the ratings ``[rating]`` of these annotators."""
    means, variances = annotator_moments(table, table.values)
    deviations = np.sqrt(variances)
    safe = np.where(deviations > 0, deviations, 1.0)
    overall = overall_mean(table.values)
    typical = overall_mean(deviations[table.codes])

    def standardize(ratings: Numbers) -> Floats:
        codes = ratings.codes
        return np.asarray(overall + typical * (ratings.values - means[codes]) / safe[codes])

    return standardize
