"""Zero-based skill: a vote whose weights follow agreement with its own result."""

from typing import Any, ClassVar, Self

import numpy as np

from blindfuse.estimators.voting import VotingEstimator, agreement_with
from blindfuse.parameters import Constraint, at_least, integer_at_least


class ZeroBasedSkill(VotingEstimator):
    """A weighted vote, repeated with each annotator's agreement with the last vote as its weight.

    All weights start at 1/K. Each iteration votes with the present weights w_m and updates them by
    w_m ← w_m + η (a_m − w_m), where a_m is the annotator's agreement with that vote.

    Parameters
    ----------
    max_iter
        maximum number of iterations.
    learning_rate
        the initial step size η.
    halve_every
        number of iterations after which η is halved.
    tolerance
        largest change of a weight at which the iterations stop.
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_iter": integer_at_least(1),
        "learning_rate": at_least(0),
        "halve_every": integer_at_least(1),
        "tolerance": at_least(0),
    }

    def __init__(
        self,
        *,
        max_iter: int = 100,
        learning_rate: float = 1.0,
        halve_every: int = 20,
        tolerance: float = 1e-5,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.halve_every = halve_every
        self.tolerance = tolerance

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        weights = np.full(table.n_annotators, 1 / table.n_classes)
        for iteration in range(self.max_iter):
            self._store(table, weights)
            rate = self.learning_rate * 0.5 ** (iteration // self.halve_every)
            codes = self._winning_codes(table, self.posteriors_)
            step = rate * (agreement_with(table, codes) - weights)
            weights = weights + step
            if np.abs(step).max() <= self.tolerance:
                break
        return self._store(table, weights)
