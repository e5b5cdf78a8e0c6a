"""M-MSR: skill from pairs of annotators, extremes left out (Ma and Olshevsky 2020)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import at_least, to_fit
from blindfuse.estimators.signs import products_of, require_three
from blindfuse.estimators.voting import VotingEstimator
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

LEAST_SKILL, MOST_SKILL = 1e-3, 0.999
"""Bounds of |s|: nobody's ratio is divided by nothing, and nobody weighs infinitely much."""


class MMSR(VotingEstimator):
    """One-coin skills by rank-one completion of the agreement matrix, robust to a few adversaries.

    If annotator m is right with probability p_m and else reports any other class alike, agreement
    a_ij over common items gives C_ij = (K a_ij − 1)/(K − 1) with mean s_i s_j, where
    s = (K p − 1)/(K − 1). By turns until nothing moves, |s_j| becomes the mean of C_ij/s_i over its
    partners i, of which some above and some below the last |s_j| are left out, the farthest first.
    The sign of s tells whether an annotator agrees with the others. Votes weigh
    log((K − 1) p/(1 − p)).

    Where the paper alternates between two vectors, we take the geometric mean of the last and the
    new |s|, which has the same fixed points.

    Parameters
    ----------
    trim
        the share of an annotator's partners that is left out at either end, at most.
    max_iter, tolerance
        turns at most, and the largest change of a skill at which they end.

    Attributes
    ----------
    skills_ ``[annotator]``
        s: 1 for always right, 0 for guessing, below 0 for an adversary.
    """

    skills_: Floats

    def __init__(self, *, trim: float = 0.25, max_iter: int = 200, tolerance: float = 1e-6) -> None:
        self.trim = trim
        self.max_iter = max_iter
        self.tolerance = tolerance

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        if not 0 <= self.trim < 0.5:
            raise BadParameter(f"trim={self.trim!r} must be at least 0 and below a half.")
        at_least("max_iter", self.max_iter, 1)
        at_least("tolerance", self.tolerance, 0)
        products, together = _skill_products(table)
        require_three(together, "MMSR")
        directions = _directions(products * together)
        sizes = self._sizes(products * np.outer(directions, directions), together > 0)
        self.skills_ = directions * sizes
        K = table.n_classes
        right = np.maximum(((K - 1) * self.skills_ + 1) / K, LEAST_SKILL)
        return self._keep(table, np.log((K - 1) * right / (1 - right)))

    def _sizes(self, products: Floats, partners: NDArray[np.bool_]) -> Floats:
        """|s| whose products, but for extremes, are those of pairs; one half without partners."""
        sizes = np.full(len(products), 0.5)
        count = partners.sum(axis=0)
        most_left_out = np.floor(self.trim * count).astype(int)
        for _ in range(self.max_iter):
            ratios = np.where(partners, products / sizes[:, None], np.inf)
            first = np.minimum(most_left_out, (ratios < sizes).sum(axis=0))
            above = ((ratios > sizes) & partners).sum(axis=0)
            last = count - np.minimum(most_left_out, above)
            means = _means_between(np.sort(ratios, axis=0), first, last)
            new = np.sqrt(sizes * np.clip(means, LEAST_SKILL, MOST_SKILL))
            new[count == 0] = 0.5
            change = np.abs(new - sizes).max()
            sizes = new
            if change <= self.tolerance:
                break
        return sizes


def _skill_products(responses: Responses) -> tuple[Floats, Floats]:
    """C and the numbers of common items, ``[annotator, annotator]``, with empty diagonals."""
    starts, annotators, labels = responses.by_item
    K, M = responses.n_classes, responses.n_annotators

    def pairs(chosen: NDArray[np.bool_]) -> Floats:
        table = csr_array((chosen.astype(float), annotators, starts), shape=(responses.n_items, M))
        counts = products_of(table)
        np.fill_diagonal(counts, 0.0)
        return counts

    together = pairs(np.ones(len(labels), dtype=bool))
    agreed = sum((pairs(labels == k) for k in range(K)), np.zeros((M, M)))
    products = (K * agreed - together) / (K - 1)
    return products / np.maximum(together, 1.0), together


def _directions(evidence: Floats) -> Floats:
    """+1 for those who agree with others, −1 for those who do not: most are better than random."""
    directions = np.ones(len(evidence))
    for _ in range(len(evidence)):
        new = np.where(evidence @ directions < 0, -1.0, 1.0)
        if np.array_equal(new, directions):
            break
        directions = new
    return directions


def _means_between(columns: Floats, first: NDArray[np.intp], last: NDArray[np.intp]) -> Floats:
    """The mean of ``columns[first[j]:last[j], j]`` for each column j; zero where that is empty."""
    rows = np.arange(len(columns))[:, None]
    kept = (rows >= first) & (rows < last)
    total = np.where(kept, columns, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(last - first, 1))
