"""The mean of the middle ratings of each item."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.ratings import row_centres
from blindfuse.numbers.estimate import Estimate, error_variances, overall_mean
from blindfuse.numbers.table import Numbers

TRIMMED_SHARE = 0.2
"""Share of ratings that is left out at each end: Wilcox's recommendation."""


def trimmed_mean(table: Numbers) -> Estimate:
    """Estimate each item by the mean of its ratings without the lowest and highest fifth.

    Wilcox (2012), "Introduction to Robust Estimation and Hypothesis Testing". The variance of the
    mean is divided by the share of ratings that is kept.
    """
    unrated = overall_mean(table.values)
    values = trimmed_means(table, TRIMMED_SHARE, unrated)
    n = table.ratings_per_item
    kept = (n - 2 * np.floor(TRIMMED_SHARE * n)) / np.maximum(n, 1)
    return Estimate(
        values,
        error_variances(table, values) / np.where(n > 0, kept, 1.0),
        partial(trimmed_means, trimmed=TRIMMED_SHARE, unrated=unrated),
    )


def trimmed_means(table: Numbers, trimmed: float, unrated: float) -> NDArray[np.float64]:
    """Return the means ``[item]`` without this share of the ratings at each end.

    Items without a rating have the value ``unrated``.
    """
    centres = np.full(table.n_items, unrated)
    row_centres(table.starts, table.values, trimmed, centres)
    return centres
