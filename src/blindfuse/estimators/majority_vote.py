"""The majority vote."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.voting import VotingEstimator


class MajorityVote(VotingEstimator):
    """The majority vote: each item gets the class that most annotators report.

    All annotators have the same weight. ``ties_`` marks the items where several classes have most
    votes; such a tie goes to the class whose annotators agree more often with the majority vote.

    Examples
    --------
    >>> from blindfuse import MajorityVote
    >>> vote = MajorityVote().fit([["a", "a", "b"], ["b", "b", "a"], ["b", "a", None]])
    >>> vote.labels_.tolist(), vote.ties_.tolist()
    (['a', 'b', 'a'], [False, False, True])
    """

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        return self._store(table, np.ones(table.n_annotators))
