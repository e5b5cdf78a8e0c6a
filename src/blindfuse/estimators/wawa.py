"""Worker agreement with aggregate."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.base import to_fit
from blindfuse.estimators.voting import VotingEstimator, agreement


class Wawa(VotingEstimator):
    """One majority vote, then one more in which annotators weigh as they agreed with the first."""

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        self._keep(table, np.ones(table.n_annotators))
        return self._keep(table, agreement(table, self._codes(self.posteriors_)))
