"""EigenRatio: reliabilities as a ratio of leading eigenvectors (Dalvi et al. 2013)."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.signs import (
    leading,
    pair_means,
    require_three,
    to_fit_signs,
    towards_vote,
)
from blindfuse.estimators.voting import VotingEstimator

SMALLEST_ENTRY = 1e-9
"""Below this, an entry of the eigenvector of who shares items with whom counts as none."""


class EigenRatio(VotingEstimator):
    """Two classes: weights v₁/v₂, entry by entry.

    v₁ leads the matrix of mean agreements of pairs, v₂ that of which pairs share items at all.
    The sign is the one that agrees with the majority vote.
    """

    def fit(self, responses: Any) -> Self:
        table, answers = to_fit_signs(responses, "EigenRatio")
        means, together = pair_means(answers)
        require_three(together, "EigenRatio")
        _, skill = leading(means)
        _, sharing = leading((together > 0).astype(float))
        tiny = np.abs(sharing) < SMALLEST_ENTRY
        weights = np.divide(skill, sharing, out=np.zeros_like(skill), where=~tiny)
        return self._keep(table, towards_vote(answers, weights))
