"""The noise of a rating, which may grow with the value of its item."""

import numpy as np

from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats

INTERVAL_Z = 1.959964
"""Half of a 95 % interval, in standard errors of a normal distribution."""
WINDOW_STEPS = 5
"""Steps from one window for all items to windows that agree with their noise."""


def local_noise(table: Numbers, values: Floats) -> Floats:
    """Return the variance ``[item]`` of ratings around their item, by the value of the item.

    It is the pooled variance within items whose values lie in ± INTERVAL_Z √noise of the item's
    own: s_i² = Σ_j S_j / Σ_j (n_j − 1) over |y_j − y_i| ≤ z s_i, for S_j squared deviations of n_j
    ratings. Items near the end of a scale, where all give the same rating, so share the noise of
    the values that they might have. Without an item with two ratings it is the variance of all.
    """
    n = table.ratings_per_item
    freedom = np.maximum(n - 1, 0).astype(np.float64)
    squares = squared_deviations(table)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    total = np.concatenate([[0.0], np.cumsum(squares[order])])
    count = np.concatenate([[0.0], np.cumsum(freedom[order])])
    if not count[-1]:
        return np.full(len(values), float(table.values.var()) if table.n_ratings else 0.0)
    pooled = total[-1] / count[-1]
    noise = np.full(len(values), pooled)
    for _ in range(WINDOW_STEPS):
        half = INTERVAL_Z * np.sqrt(noise)
        first = np.searchsorted(ordered, ordered - half, side="left")
        last = np.searchsorted(ordered, ordered + half, side="right")
        known = count[last] > count[first]
        sums = np.maximum(total[last] - total[first], 0.0)
        noise = np.where(known, sums / np.where(known, count[last] - count[first], 1.0), noise)
    unsorted = np.empty(len(values))
    unsorted[order] = noise
    return unsorted


def squared_deviations(table: Numbers) -> Floats:
    """Return Σ (x − mean)² ``[item]`` of the ratings of each item."""
    item, n = table.item_of_rating(), np.maximum(table.ratings_per_item, 1)
    means = np.bincount(item, table.values, minlength=table.n_items) / n
    deviations = np.square(table.values - means[item])
    return np.asarray(np.bincount(item, deviations, minlength=table.n_items), np.float64)
