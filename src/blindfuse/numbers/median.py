"""The median of the ratings of each item."""

from functools import partial

import numpy as np

from blindfuse.numbers.estimate import Estimate, error_variances, overall_mean
from blindfuse.numbers.table import Numbers
from blindfuse.numbers.trimmed_mean import trimmed_means

EFFICIENCY = 2 / np.pi
"""Variance of the mean divided by that of the median of many normal ratings."""


def median(table: Numbers) -> Estimate:
    """Estimate each item by the median of its ratings, which one outlier does not change much.

    The variance is that of the mean divided by the median's efficiency of 2/π for items with at
    least three ratings; the median of one or two ratings is their mean.
    """
    unrated = overall_mean(table.values)
    values = trimmed_means(table, 0.5, unrated)
    variances = error_variances(table, values)
    return Estimate(
        values,
        np.where(table.ratings_per_item > 2, variances / EFFICIENCY, variances),
        partial(trimmed_means, trimmed=0.5, unrated=unrated),
    )
