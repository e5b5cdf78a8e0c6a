"""Worker agreement with aggregate."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.voting import VotingEstimator, agreement_with


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
