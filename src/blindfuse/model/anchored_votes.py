"""The majority vote, generalised to symbols that are not classes: what the anchor says of an item.

Every method starts here, and compares itself with it.

===========  =====================================================================================
anchor       class of an item
===========  =====================================================================================
identity     the majority vote, in :mod:`blindfuse.model.posteriors`
matrix       the class with most votes, where a response has the votes ``matrix[symbol]``
order        the mean of the annotators' standardised scores, in one of K intervals (`score_cuts`)
none         spectral clustering of the items by their co-association
===========  =====================================================================================
"""

from typing import NamedTuple

import numpy as np

from blindfuse.model.score_cuts import kmeans_cuts, unequal_cuts
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

STANDARD_RESPONSES = 2.0
"""Responses that the crowd's mean and variance of scores count for in those of an annotator."""
MIN_SPREAD = 1e-12
"""Smallest standard deviation of an annotator's scores, for those that are all equal."""


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
