"""The majority vote, generalised to symbols that are not classes: what the anchor says of an item.

Every method starts here, and compares itself with it.

===========  =====================================================================================
anchor       class of an item
===========  =====================================================================================
identity     the majority vote, in :mod:`blindfuse.model.posteriors`
matrix       the class with most votes, where a response has the votes ``matrix[symbol]``
order        the mean of the annotators' standardised scores, in one of K intervals
none         spectral clustering of the items by their co-association
===========  =====================================================================================
"""

from typing import NamedTuple

import numpy as np

from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

STANDARD_RESPONSES = 2.0
"""Responses that the crowd's mean and variance of scores count for in those of an annotator."""
MIN_SPREAD = 1e-12
"""Smallest standard deviation of an annotator's scores, for those that are all equal."""
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


class ScoreRule(NamedTuple):
    """What the scores of an item say: the class of their mean, standardised per annotator.

    Partitions of a table share the rule of the whole table, so that they agree.

    Attributes
    ----------
    values ``[annotator, symbol]``
        standardised scores.
    cuts ``[class − 1]``
        means at or above which the next class begins.
    """

    values: Floats
    cuts: Floats

    @classmethod
    def of(cls, responses: Responses, counts: Floats | None = None) -> "ScoreRule":
        """Return the rule of these responses.

        If they are a sample, ``counts[annotator, symbol]`` are those of the whole table.
        """
        known = np.nan_to_num(np.asarray(responses.anchor.values))
        values = standardize(known, symbol_counts(responses) if counts is None else counts)
        scores = mean_scores(responses, values)
        return cls(values, kmeans_cuts(scores[~np.isnan(scores)], responses.n_classes))

    def for_unequal_classes(self, responses: Responses) -> "ScoreRule | None":
        """Return the rule with the cuts of a rare class, if mean scores prove that there is one."""
        scores = mean_scores(responses, self.values)
        cuts = unequal_cuts(scores[~np.isnan(scores)], responses.n_classes)
        return None if cuts is None else ScoreRule(self.values, cuts)

    def codes(self, responses: Responses) -> Codes:
        """Return the class code of each item, −1 without responses."""
        scores = mean_scores(responses, self.values)
        codes = np.searchsorted(self.cuts, scores, side="right")
        return np.where(np.isnan(scores), -1, codes)


def initial_codes(responses: Responses, rule: ScoreRule | None = None) -> Codes | None:
    """Return the class code of each item, −1 without responses; None if a vote decides.

    Partitions of scores need the ``rule`` of the whole table.
    """
    if responses.anchor.kind == "matrix":
        return None
    if responses.anchor.kind == "order":
        return (rule or ScoreRule.of(responses)).codes(responses)
    return _spectral_codes(responses)


def class_votes(
    responses: Responses, weights: Floats | None = None, rule: ScoreRule | None = None
) -> Floats:
    """Return the sum of ``weights[annotator]`` per item and class, through the anchor.

    A response votes for the classes of its symbol (``matrix``), for the class of its own
    standardised score (``order``), or for the classes of the items that the annotator reported the
    symbol for (``none``). The result has the shape ``[item, class]``.
    """
    table = symbol_votes(responses, rule)
    _, annotators, symbols = responses.by_item
    items, K = responses.item_of_response(), responses.n_classes
    votes = np.zeros((responses.n_items, K))
    rows = table[annotators if len(table) > 1 else 0, symbols]
    if weights is not None:
        rows = rows * weights[annotators][:, None]
    for k in range(K):
        votes[:, k] = np.bincount(items, rows[:, k], minlength=responses.n_items)
    return votes


def score_votes(responses: Responses, rule: ScoreRule | None = None) -> Floats:
    """Return votes ``[item, class]`` of scores, the largest of which is for the class of the mean.

    With the mean z of an item's n standardised scores and the cuts c between classes, class k has
    v_k = n (k z − Σ_{j≤k} c_j) votes, which is n (z − c_k) more than class k − 1 has.
    """
    values, cuts = rule or ScoreRule.of(responses)
    scores = np.nan_to_num(mean_scores(responses, values))
    sums = np.concatenate([[0.0], np.cumsum(cuts)])
    levels = np.arange(responses.n_classes)
    return np.asarray(responses.responses_per_item[:, None] * (np.outer(scores, levels) - sums))


def symbol_votes(responses: Responses, rule: ScoreRule | None = None) -> Floats:
    """Return the votes of each symbol, ``[annotator, symbol, class]``; one row if all are alike."""
    anchor = responses.anchor
    if anchor.kind == "identity":
        return np.eye(responses.n_classes)[None]
    if anchor.matrix is not None:
        return anchor.matrix[None]
    if anchor.kind == "order":
        values, cuts = rule or ScoreRule.of(responses)
        return np.asarray(np.eye(responses.n_classes)[np.searchsorted(cuts, values, side="right")])
    return _reported_classes(responses, _spectral_codes(responses))


def _spectral_codes(responses: Responses) -> Codes:
    from blindfuse.model.co_association import spectral_codes  # needs scipy.sparse, slow to import

    return spectral_codes(responses)


def _reported_classes(responses: Responses, codes: Codes) -> Floats:
    """Class proportions among the items of each annotator and symbol."""
    M, R, K = responses.n_annotators, responses.n_symbols, responses.n_classes
    known = codes[responses.item_of_response()]
    _, annotators, symbols = responses.by_item
    cells = (annotators.astype(np.intp) * R + symbols) * K + known
    counts = np.bincount(cells[known >= 0], minlength=M * R * K).reshape(M, R, K)
    return np.asarray(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1))


def symbol_counts(responses: Responses) -> Floats:
    """Return how often each annotator reported each symbol, ``[annotator, symbol]``."""
    M, R = responses.n_annotators, responses.n_symbols
    _, annotators, symbols = responses.by_item
    cells = annotators.astype(np.intp) * R + symbols
    return np.bincount(cells, minlength=M * R).reshape(M, R).astype(float)


def standardize(values: Floats, counts: Floats) -> Floats:
    """Standardise ``values[symbol]`` by how often each annotator reports them, ``counts[m, r]``.

    Annotators with few responses are shrunk towards the mean and variance of the crowd.
    """
    crowd = counts.sum(axis=0) / max(counts.sum(), 1.0)
    mean = crowd @ values
    variance = crowd @ (values - mean) ** 2
    total = counts.sum(axis=1) + STANDARD_RESPONSES
    means = (counts @ values + STANDARD_RESPONSES * mean) / total
    squares = np.einsum("mr,mr->m", counts, (values - means[:, None]) ** 2)
    spreads = np.sqrt((squares + STANDARD_RESPONSES * variance) / total)
    return np.asarray((values - means[:, None]) / np.maximum(spreads, MIN_SPREAD)[:, None])


def mean_scores(responses: Responses, values: Floats) -> Floats:
    """Return the mean of ``values[annotator, symbol]`` per item; NaN without responses."""
    _, annotators, symbols = responses.by_item
    each = values[annotators, symbols]
    sums = np.bincount(responses.item_of_response(), each, minlength=responses.n_items)
    counts = responses.responses_per_item
    missing = np.full(len(sums), np.nan)
    return np.asarray(np.divide(sums, counts, out=missing, where=counts > 0))


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
