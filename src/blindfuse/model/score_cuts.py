"""Cuts between K classes of items by their mean scores, without a truth.

K-means puts cuts halfway between the classes' means, which is right for classes of similar size. It
divides a large class if the others are rare. A normal mixture with a common variance finds those,
but its class proportions are poorly determined where classes overlap. So its cuts are proposed only
if the scores prove that proportions differ.
"""

from typing import NamedTuple

import numpy as np

from blindfuse.typing import Floats

KMEANS_ITERATIONS = 100
"""Maximum number of iterations of k-means."""
MIXTURE_ITERATIONS = 200
"""Maximum number of iterations of EM for the mixture."""
MIXTURE_TOLERANCE = 1e-7
"""Rise of the log-likelihood per item at which EM for the mixture ends."""
MAX_POINTS = 2_000
"""Items, evenly spaced in the order of their scores, that the mixture is fitted to."""
MIN_RATIO = 4.5
"""Log-likelihood ratio at or above which proportions differ: three standard errors (Wilks)."""
START_POWERS = 2.0, 4.0
"""Powers of class proportions that further starts of the mixture have, in both directions."""
MIN_VARIANCE = 1e-9
"""Smallest variance of a class, relative to that of all scores."""


def unequal_cuts(scores: Floats, n_classes: int) -> Floats | None:
    """Return the K − 1 cuts of classes with different proportions; None if nothing proves those.

    Classes must also be a standard deviation apart.
    """
    ordered = np.sort(scores)
    if len(ordered) <= 2 * n_classes or ordered[0] == ordered[-1]:
        return None
    cuts = kmeans_cuts(ordered, n_classes)
    points = ordered[:: -(-len(ordered) // MAX_POINTS)]
    shares = np.arange(1, n_classes) / n_classes
    starts = [cuts]
    for power in START_POWERS:
        starts += [np.quantile(points, shares**power)]
        starts += [np.quantile(points, 1 - (1 - shares) ** power)]
    free = max((_fit_mixture(points, one, free=True) for one in starts), key=_log_likelihood)
    equal = _fit_mixture(points, cuts, free=False)
    ratio = (free.log_likelihood - equal.log_likelihood) * len(ordered) / len(points)
    return free.cuts() if ratio > MIN_RATIO and free.is_separated else None


def kmeans_cuts(scores: Floats, n_classes: int) -> Floats:
    """Return the K − 1 cuts of k-means, from equally frequent intervals, by Lloyd's algorithm."""
    ordered = np.sort(scores)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    ends = np.linspace(0, len(ordered), n_classes + 1).astype(np.intp)
    cuts = np.full(n_classes - 1, np.nan)
    for _ in range(KMEANS_ITERATIONS):
        sizes = np.maximum(np.diff(ends), 1)
        centres = np.diff(sums[ends]) / sizes
        last, cuts = cuts, (centres[:-1] + centres[1:]) / 2
        if np.array_equal(last, cuts):
            break
        inner = np.searchsorted(ordered, cuts)
        ends = np.concatenate([[0], inner, [len(ordered)]])
    return np.maximum.accumulate(cuts)


class Mixture(NamedTuple):
    """A mixture of normal distributions with a common variance; arrays are ``[class]``."""

    proportions: Floats
    means: Floats
    variance: float
    log_likelihood: float

    @property
    def is_separated(self) -> bool:
        """Whether neighbouring means are at least a standard deviation apart."""
        return bool(np.all(np.diff(np.sort(self.means)) >= np.sqrt(self.variance)))

    def cuts(self) -> Floats:
        """Scores at which the next class becomes the more probable one."""
        order = np.argsort(self.means, kind="stable")
        means, logs = self.means[order], np.log(self.proportions[order])
        gaps = np.diff(means)
        middle = (means[:-1] + means[1:]) / 2
        return np.maximum.accumulate(middle - self.variance * np.diff(logs) / gaps)


def _log_likelihood(mixture: Mixture) -> float:
    return mixture.log_likelihood


def _fit_mixture(points: Floats, cuts: Floats, *, free: bool) -> Mixture:
    """Fit by EM from classes between these cuts; proportions are equal unless ``free``."""
    K, floor = len(cuts) + 1, MIN_VARIANCE * float(points.var())
    weights = np.eye(K)[np.searchsorted(cuts, points, side="right")]
    log_likelihood = -np.inf
    for _ in range(MIXTURE_ITERATIONS):
        sizes = weights.sum(axis=0) + 1e-9
        proportions = sizes / sizes.sum() if free else np.full(K, 1 / K)
        means = points @ weights / sizes
        squares = (points[:, None] - means) ** 2
        variance = max(float((weights * squares).sum()) / len(points), floor)
        logs = np.log(proportions) - squares / (2 * variance) - np.log(2 * np.pi * variance) / 2
        best = logs.max(axis=1, keepdims=True)
        totals = best[:, 0] + np.log(np.exp(logs - best).sum(axis=1))
        last, log_likelihood = log_likelihood, float(totals.sum())
        if log_likelihood - last < MIXTURE_TOLERANCE * len(points):
            break
        weights = np.exp(logs - totals[:, None])
    return Mixture(proportions, means, variance, log_likelihood)
