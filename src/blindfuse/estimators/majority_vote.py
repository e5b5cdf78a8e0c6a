"""The majority vote."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.base import to_fit
from blindfuse.estimators.voting import VotingEstimator


class MajorityVote(VotingEstimator):
    """Every annotator counts the same; ties go by a documented rule and are visible in ``ties_``.

    Examples
    --------
    >>> from blindfuse import MajorityVote
    >>> vote = MajorityVote().fit([["a", "a", "b"], ["b", "b", "a"], ["b", "a", None]])
    >>> vote.labels_.tolist(), vote.ties_.tolist()
    (['a', 'b', 'a'], [False, False, True])
    """

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        return self._keep(table, np.ones(table.n_annotators))
