"""Agreement of ratings: the intraclass correlation."""

import numpy as np
from scipy.special import fdtri

from blindfuse.errors import BadLabels
from blindfuse.metrics.interval import Interval
from blindfuse.numbers.table import Numbers


def intraclass_correlation(numbers: Numbers, confidence: float = 0.95) -> Interval:
    """Return ICC(1), the share of the variance of single ratings that is between items.

    ICC = (MSB − MSW) / (MSB + (k − 1) MSW) of a one-way analysis of variance, where
    k = (n − Σ n_i²/n) / (N − 1) for n_i ratings of item i, and n in all; of items with two ratings.
    Krippendorff's α of interval data differs from it by terms of 1/n only. The interval follows
    from the F distribution of MSB/MSW; it is exact if all items have the same number of ratings.

    Shrout and Fleiss (1979), "Intraclass Correlations: Uses in Assessing Rater Reliability".
    """
    rated_twice = numbers.responses_per_item > 1
    counts, means = numbers.responses_per_item[rated_twice], numbers.item_means()[rated_twice]
    n, N = int(counts.sum()), len(counts)
    if N < 2:
        raise BadLabels(
            f"{N} items have two ratings. Agreement needs several items that several annotators "
            "rated."
        )
    between = float(counts @ np.square(means - counts @ means / n)) / (N - 1)
    within = float(numbers.squared_deviations()[rated_twice].sum()) / (n - N)
    k = (n - float((counts**2).sum()) / n) / (N - 1)
    if within <= 1e-12 * between or within <= 0:
        return Interval(1.0, 1.0, 1.0)
    ratio, tail = between / within, (1 + confidence) / 2
    bounds = ratio / fdtri(N - 1, n - N, tail), ratio * fdtri(n - N, N - 1, tail)
    value, low, high = ((f - 1) / (f + k - 1) for f in (ratio, *bounds))
    return Interval(value, float(low), float(high))
