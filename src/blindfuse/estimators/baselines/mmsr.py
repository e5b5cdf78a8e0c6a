"""M-MSR: skills from the agreement of pairs, without extremes (Ma and Olshevsky 2020)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array

from blindfuse.estimators.base import Iterations, NonNegative
from blindfuse.estimators.baselines.two_class import gram_matrix, require_three_overlapping
from blindfuse.estimators.voting import VotingEstimator
from blindfuse.parameters import between
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Flags, Floats

MIN_SKILL, MAX_SKILL = 1e-3, 0.999
"""Bounds of |s|, which keep ratios and weights finite."""


@dataclass(kw_only=True, eq=False, repr=False)
class MMSR(VotingEstimator):
    """A vote weighted by skill, from a robust rank-one fit of the agreement of pairs.

    If annotator m is correct with probability p_m and otherwise reports any other class with equal
    probability, the agreement a_ij over common items gives C_ij = (K a_ij − 1)/(K − 1) with mean
    s_i s_j, where s = (K p − 1)/(K − 1). Each iteration sets |s_j| to the mean of C_ij/s_i over its
    partners i, without the extreme ratios above and below the last |s_j|. The sign of s is that of
    the agreement with the other annotators. Votes are weighted by log((K − 1) p/(1 − p)).

    Reference: Ma and Olshevsky (2020), "Adversarial Crowdsourcing Through Robust Rank-One Matrix
    Completion". Where the paper alternates between two vectors, this implementation takes the
    geometric mean of the last and the new |s|, which has the same fixed points.

    Parameters
    ----------
    trim
        maximum share of an annotator's partners that is left out at either end.
    max_iter, tolerance
        maximum number of iterations, and the largest change of a skill at which they stop.

    Attributes
    ----------
    skills_ ``[annotator]``
        s: 1 for always correct, 0 for guessing, below 0 for an adversary.
    """

    trim: Annotated[float, between(0, 0.5)] = 0.25
    max_iter: Iterations = 200
    tolerance: NonNegative = 1e-6

    def _fit(self, table: Responses) -> None:
        products, common = _skill_products(table)
        require_three_overlapping(common, "MMSR")
        signs = _skill_signs(products * common)
        sizes = self._skill_sizes(products * np.outer(signs, signs), common > 0)
        self.skills_ = signs * sizes
        K = table.n_classes
        accuracy = np.maximum(((K - 1) * self.skills_ + 1) / K, MIN_SKILL)
        self._store(table, np.log((K - 1) * accuracy / (1 - accuracy)))

    def _skill_sizes(self, products: Floats, is_partner: Flags) -> Floats:
        """Return |s| that fits the trimmed products of pairs; 1/2 without partners."""
        sizes = np.full(len(products), 0.5)
        n_partners = is_partner.sum(axis=0)
        max_trimmed = np.floor(self.trim * n_partners).astype(int)
        for _ in range(self.max_iter):
            ratios = np.where(is_partner, products / sizes[:, None], np.inf)
            first = np.minimum(max_trimmed, (ratios < sizes).sum(axis=0))
            n_above = ((ratios > sizes) & is_partner).sum(axis=0)
            last = n_partners - np.minimum(max_trimmed, n_above)
            means = _means_between(np.sort(ratios, axis=0), first, last)
            new = np.sqrt(sizes * np.clip(means, MIN_SKILL, MAX_SKILL))
            new[n_partners == 0] = 0.5
            change = np.abs(new - sizes).max()
            sizes = new
            if change <= self.tolerance:
                break
        return sizes


def _skill_products(responses: Responses) -> tuple[Floats, Floats]:
    """Return C and the numbers of common items ``[annotator, annotator]``, with zero diagonals."""
    starts, annotators, symbols = responses.by_item
    K, M = responses.n_classes, responses.n_annotators

    def count_pairs(is_chosen: Flags) -> Floats:
        chosen = is_chosen.astype(float)
        counts = gram_matrix(csr_array((chosen, annotators, starts), shape=(responses.n_items, M)))
        np.fill_diagonal(counts, 0.0)
        return counts

    common = count_pairs(np.ones(len(symbols), dtype=bool))
    agreed = sum((count_pairs(symbols == k) for k in range(K)), np.zeros((M, M)))
    products = (K * agreed - common) / (K - 1)
    return products / np.maximum(common, 1.0), common


def _skill_signs(evidence: Floats) -> Floats:
    """Return +1 for annotators who agree with the others and −1 for those who do not.

    Most annotators are assumed to be better than random.
    """
    signs = np.ones(len(evidence))
    for _ in range(len(evidence)):
        new = np.where(evidence @ signs < 0, -1.0, 1.0)
        if np.array_equal(new, signs):
            break
        signs = new
    return signs


def _means_between(columns: Floats, first: Codes, last: Codes) -> Floats:
    """Return the mean of ``columns[first[j]:last[j], j]`` for each column j; zero if empty."""
    rows = np.arange(len(columns))[:, None]
    is_kept = (rows >= first) & (rows < last)
    total = np.where(is_kept, columns, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(last - first, 1))
