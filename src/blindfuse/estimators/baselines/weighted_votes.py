"""Votes weighted by agreement with the vote: once (Wawa), or repeatedly (zero-based skill)."""

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from blindfuse.estimators.base import Iterations, NonNegative
from blindfuse.estimators.voting import VotingEstimator, agreement_with
from blindfuse.parameters import integer_at_least


class Wawa(VotingEstimator):
    """Worker agreement with aggregate: a vote weighted by agreement with the majority vote.

    The weight of an annotator is the share of its responses that equal the majority vote.

    Examples
    --------
    >>> from blindfuse import Wawa
    >>> wawa = Wawa().fit([["a", "a", "b"], ["b", "b", "b"], ["b", "b", "a"]])
    >>> wawa.labels_.tolist(), wawa.weights_.round(2).tolist()
    (['a', 'b', 'b'], [1.0, 1.0, 0.33])
    """

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        self._store(table, np.ones(table.n_annotators))
        codes = self._winning_codes(table, self.posteriors_)
        return self._store(table, agreement_with(table, codes))


@dataclass(kw_only=True, eq=False, repr=False)
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

    max_iter: Iterations = 100
    learning_rate: NonNegative = 1.0
    halve_every: Annotated[int, integer_at_least(1)] = 20
    tolerance: NonNegative = 1e-5

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
