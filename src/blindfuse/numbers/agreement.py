"""Agreement of ratings: each with the others of its item, and all of them.

The correlation of a rating with the centre of the others is the item-rest correlation of test
theory. It is computed within annotators, so it does not depend on their scales, and it compares
baselines without the truth.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri

from blindfuse.errors import BadLabels
from blindfuse.metrics.interval import Interval
from blindfuse.numbers.factor_model import AnnotatorFit, fit_factor
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Array, Floats

CLIPPED_SHARE = 0.05
"""Share of an annotator's ratings at each end that is moved to the next rating, so that gross
errors do not decide."""


class RestCorrelation(NamedTuple):
    """A correlation with left-out ratings, and how much each item contributes to its error."""

    value: float
    influence: Floats

    def lead(self, other: "RestCorrelation") -> float:
        """Return by how many standard errors this correlation is higher than another one."""
        difference = self.value - other.value
        error = float(np.sqrt(np.square(self.influence - other.influence).sum()))
        return difference / error if abs(difference) > 1e-9 else 0.0  # less is rounding


def rest_correlations(table: Numbers, rests: Mapping[str, Floats]) -> dict[str, RestCorrelation]:
    """Return the correlation of ratings with each ``rest[rating]``, the mean over annotators.

    With ratings u and rests t, standardised within annotators, it is r = Σ u t / √(Σ u² Σ t²). An
    item's influence on r is the sum of u t / √(Σ u² Σ t²) − r (u²/Σ u² + t²/Σ t²)/2 over its
    ratings.
    """
    item = table.item_of_response()
    shared = np.flatnonzero(table.responses_per_item[item] > 1)
    codes, items = table.codes[shared], item[shared]
    u = _standardize_within(codes, table.values[shared])
    correlations = {}
    for name, rest in rests.items():
        t = _standardize_within(codes, rest[shared])
        uu, tt = float(u @ u), float(t @ t)
        products = u * t / np.sqrt(uu * tt) if uu * tt > 0 else np.zeros(len(u))
        r = float(products.sum())
        influence = products - r * (u**2 / (uu or 1.0) + t**2 / (tt or 1.0)) / 2
        of_item = np.bincount(items, influence, minlength=table.n_items).astype(np.float64)
        correlations[name] = RestCorrelation(r, of_item)
    return correlations


def rest_means(table: Numbers) -> Floats:
    """Return the mean ``[rating]`` of the other ratings of the item."""
    item, n = table.item_of_response(), table.responses_per_item
    sums = np.bincount(item, table.values, table.n_items)
    return np.asarray((sums[item] - table.values) / np.maximum(n[item] - 1, 1))


def rest_medians(table: Numbers) -> Floats:
    """Return the median ``[rating]`` of the other ratings of the item; 0 if there is none."""
    item = table.item_of_response()
    order = np.lexsort((table.values, item))
    ordered, start = table.values[order], table.starts[:-1][item]
    n, place = table.responses_per_item[item], np.arange(table.n_responses) - start
    lower, upper = np.maximum(n - 2, 0) // 2, np.maximum(n - 1, 0) // 2

    def without(rank: Array) -> Floats:
        """The rating of this rank among the others of the item: the own one is skipped."""
        at = np.minimum(rank + (rank >= place), n - 1)
        return np.asarray(ordered[start + at])

    medians = np.empty(table.n_responses)
    medians[order] = np.where(n > 1, (without(lower) + without(upper)) / 2, 0.0)
    return medians


def leave_out(table: Numbers, fit: AnnotatorFit) -> tuple[Floats, Floats]:
    """Return a z ``[rating]``, where z is the posterior mean without the rating, and residuals.

    Residuals x − b − a z are divided by their standard deviation, the root of s² + a² v plus the
    uncertainty of b and a: they are normal with variance 1 if the model holds.
    """
    item, m = table.item_of_response(), table.codes
    a, deviation = fit.scale[m], table.values - fit.bias[m]
    weight = a / fit.noise[m]
    precision = 1 + np.bincount(item, weight * a, minlength=table.n_items)
    weighted = np.bincount(item, weight * deviation, minlength=table.n_items)
    v = 1 / (precision[item] - weight * a)
    z = v * (weighted[item] - weight * deviation)
    var_a, covariance, var_b = fit.uncertainty[m].T
    variance = fit.noise[m] + a**2 * v + var_b + 2 * z * covariance + z**2 * var_a
    return a * z, (deviation - a * z) / np.sqrt(variance)


def predict_left_out(table: Numbers) -> Floats:
    """Return predictions ``[rating]`` of the one-factor model without the rating.

    Annotators are fitted on the other half of the items, so that no rating predicts itself.
    """
    predictions = np.empty(table.n_responses)
    half = np.arange(table.n_items) % 2
    for k in range(2):
        fit = fit_factor(table.select_items(np.flatnonzero(half != k))).annotators
        part = table.select_items(np.flatnonzero(half == k))
        predictions[half[table.item_of_response()] == k] = leave_out(part, fit)[0]
    return predictions


def _standardize_within(groups: Array, values: Floats) -> Floats:
    """Values of each group without their extremes, with mean 0 and variance 1.

    The highest and the lowest CLIPPED_SHARE, and at least one each, are moved to the next value.
    Groups of fewer than five are set to 0.
    """
    order = np.lexsort((values, groups))
    group, x = groups[order], values[order]
    count = np.bincount(groups)
    size, start = count[group], (np.cumsum(count) - count)[group]
    cut = np.minimum(np.ceil(CLIPPED_SHARE * size).astype(np.intp), (size - 1) // 2)
    x = np.clip(x, x[start + cut], x[start + size - 1 - cut])
    x = x - (np.bincount(group, x) / np.maximum(count, 1))[group]
    deviation = np.sqrt(np.bincount(group, x**2) / np.maximum(count, 1))[group]
    varied = (size >= 5) & (deviation > 0)
    standardized = np.empty(len(x))
    standardized[order] = np.where(varied, x / np.where(varied, deviation, 1.0), 0.0)
    return standardized


def centred_ranks(table: Numbers) -> Floats:
    """Return the rank of each rating among the annotator's, from −½ to ½, with ties averaged."""
    _, values = np.unique(table.values, return_inverse=True)
    keys = table.codes.astype(np.int64) * table.n_responses + values
    _, distinct, ties = np.unique(keys, return_inverse=True, return_counts=True)
    middle = (np.cumsum(ties) - ties / 2)[distinct]
    n = table.responses_per_annotator
    return np.asarray((middle - (np.cumsum(n) - n)[table.codes]) / n[table.codes] - 0.5)


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
