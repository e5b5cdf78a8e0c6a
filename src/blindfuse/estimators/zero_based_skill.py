"""Zero-based skill: weights that follow agreement with their own vote."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.base import at_least, to_fit
from blindfuse.estimators.voting import VotingEstimator, agreement


class ZeroBasedSkill(VotingEstimator):
    """Weights start alike and move towards agreement with the vote that they give.

    Each round votes with the present weights, and moves every weight by ``rate`` of the way to the
    annotator's agreement with that vote. ``rate`` halves every ``halve_after`` rounds. Stops when
    no weight moves by more than ``tolerance``, or after ``max_iter`` rounds.
    """

    def __init__(
        self,
        *,
        max_iter: int = 100,
        rate: float = 1.0,
        halve_after: int = 20,
        tolerance: float = 1e-5,
    ) -> None:
        self.max_iter = max_iter
        self.rate = rate
        self.halve_after = halve_after
        self.tolerance = tolerance

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        for name in ("max_iter", "halve_after"):
            at_least(name, getattr(self, name), 1)
        weights = np.full(table.n_annotators, 1 / table.n_classes)
        for iteration in range(self.max_iter):
            self._keep(table, weights)
            rate = self.rate * 0.5 ** (iteration // self.halve_after)
            step = rate * (agreement(table, self._codes(self.posteriors_)) - weights)
            weights = weights + step
            if np.abs(step).max() <= self.tolerance:
                break
        return self._keep(table, weights)
