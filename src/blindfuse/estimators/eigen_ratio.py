"""EigenRatio: reliabilities as a ratio of leading eigenvectors (Dalvi et al. 2013)."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.signs import (
    binary_signs,
    leading_eigenpair,
    mean_pair_products,
    orient_to_majority,
    require_three_overlapping,
)
from blindfuse.estimators.voting import VotingEstimator

MIN_ENTRY = 1e-9
"""Entries of the overlap eigenvector below this count as zero."""


class EigenRatio(VotingEstimator):
    """A two-class vote with weights from leading eigenvectors of the agreement of pairs.

    The weights are v₁/v₂, entry by entry: v₁ is the leading eigenvector of the mean products of the
    responses (±1) of each pair, and v₂ that of the 0/1 matrix of pairs that share items. The sign
    is the one that agrees with the majority vote. Reference: Dalvi, Dasgupta, Kumar and Rastogi
    (2013), "Aggregating Crowdsourced Binary Ratings".
    """

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        signs = binary_signs(table, "EigenRatio")
        means, common = mean_pair_products(signs)
        require_three_overlapping(common, "EigenRatio")
        _, skill = leading_eigenpair(means)
        _, overlap = leading_eigenpair((common > 0).astype(float))
        is_zero = np.abs(overlap) < MIN_ENTRY
        weights = np.divide(skill, overlap, out=np.zeros_like(skill), where=~is_zero)
        return self._store(table, orient_to_majority(signs, weights))
