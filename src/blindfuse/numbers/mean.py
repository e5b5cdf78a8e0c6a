"""The mean of the ratings of each item."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.estimate import Estimate, error_variances, item_means, overall_mean
from blindfuse.numbers.table import Numbers


def mean(table: Numbers) -> Estimate:
    """Estimate each item by the mean of its ratings."""
    values = item_means(table, table.values)
    unrated = overall_mean(table.values)
    return Estimate(
        values,
        error_variances(table, values),
        partial(_predict, unrated=unrated),
    )


def _predict(new: Numbers, unrated: float) -> NDArray[np.float64]:
    return item_means(new, new.values, unrated)
