"""Agreement of ratings: the intraclass correlation, and Krippendorff's α for interval data."""

import numpy as np
from scipy.special import fdtri

from blindfuse.errors import BadLabels
from blindfuse.metrics.interval import Interval, bootstrap_interval
from blindfuse.numbers.table import Numbers, check_numbers
from blindfuse.typing import Array, Floats


def intraclass_correlation(numbers: Numbers, confidence: float = 0.95) -> Interval:
    """Return ICC(1), the share of the variance of single ratings that is between items.

    ICC = (MSB − MSW) / (MSB + (k − 1) MSW) of a one-way analysis of variance, where
    k = (n − Σ n_i²/n) / (N − 1) for n_i ratings of item i, and n in all. The interval follows from
    the F distribution of MSB/MSW; it is exact if all items have the same number of ratings.

    Shrout and Fleiss (1979), "Intraclass Correlations: Uses in Assessing Rater Reliability".
    """
    counts, sums, squares = _item_moments(numbers)
    n, N = float(counts.sum()), len(counts)
    if N < 2:
        raise BadLabels("Only one item has two ratings. The intraclass correlation needs several.")
    between = float((sums**2 / counts).sum() - sums.sum() ** 2 / n) / (N - 1)
    within = float((squares - sums**2 / counts).sum()) / (n - N)
    k = (n - float((counts**2).sum()) / n) / (N - 1)
    if within <= 1e-12 * between or within <= 0:
        return Interval(1.0, 1.0, 1.0)
    ratio, tail = between / within, (1 + confidence) / 2
    bounds = ratio / fdtri(N - 1, n - N, tail), ratio * fdtri(n - N, N - 1, tail)
    value, low, high = ((f - 1) / (f + k - 1) for f in (ratio, *bounds))
    return Interval(value, float(low), float(high))


def interval_alpha(
    numbers: Numbers, *, resamples: int = 1000, confidence: float = 0.95, seed: int | None = 0
) -> Interval:
    """Return Krippendorff's α for interval data, with a bootstrap interval over items.

    α = 1 − D_o / D_e, where D_o is the mean squared difference of two ratings of the same item,
    with items weighted by their number of ratings, and D_e that of any two ratings.

    Krippendorff (2018), "Content Analysis", chapter 12.
    """
    counts, sums, squares = _item_moments(numbers)
    differences = np.maximum(counts * squares - sums**2, 0.0) / (counts - 1)

    def alpha(weights: Array) -> float:
        n = float(weights @ counts)
        expected = (n * float(weights @ squares) - float(weights @ sums) ** 2) / (n - 1)
        observed = float(weights @ differences)
        return 1 - observed / expected if expected > 0 else 1.0

    repeats = np.ones(len(counts), dtype=np.int64)
    return bootstrap_interval(alpha, repeats, resamples, confidence, seed)


def _item_moments(numbers: Numbers) -> tuple[Floats, Floats, Floats]:
    """n, Σx and Σx² of items with two ratings, for ratings shifted by the median."""
    table = check_numbers(numbers)
    kept = table.ratings_per_item >= 2
    if not kept.any():
        raise BadLabels(
            "No item has two ratings. Agreement needs items that several annotators rated."
        )
    shifted, item = table.values - np.median(table.values), table.item_of_rating()
    sums = (np.bincount(item, shifted**power, table.n_items)[kept] for power in (0, 1, 2))
    counts, totals, squares = (each.astype(np.float64) for each in sums)
    return counts, totals, squares
