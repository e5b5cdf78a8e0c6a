"""The single best annotator, found with the truth in hand, for evaluation only."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import TableEstimator, to_fit
from blindfuse.estimators.voting import agreement
from blindfuse.responses.gold import gold_codes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


class SingleBest(TableEstimator):
    """The answers of the annotator that is right most often; where it is silent, of the next best.

    ``truth`` maps items to labels; ``accuracies_`` are the annotators' shares of right answers.
    """

    accuracies_: Floats

    def __init__(self, *, truth: Mapping[Any, Any] | None = None) -> None:
        self.truth = truth

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        if not self.truth:
            raise BadParameter("SingleBest needs truth={item: label, …} to know who is best.")
        positions, codes = gold_codes(table, self.truth)
        self.accuracies_ = agreement(table.select_items(positions), codes)
        self.annotators_, self.classes_ = table.annotators, table.classes
        self._prior = table.responses_per_class / table.n_responses
        self.posteriors_ = self._posteriors(table)
        self.labels_ = self._named(self.posteriors_)
        return self

    def _posteriors(self, responses: Responses) -> Floats:
        """One for the best answering annotator's label; the share of all labels without answers."""
        rank = np.empty(responses.n_annotators, dtype=np.intp)
        rank[np.argsort(-self.accuracies_, kind="stable")] = np.arange(responses.n_annotators)
        items = responses.item_of_response()
        order = np.lexsort((rank[responses.by_item.codes], items))
        answered = responses.responses_per_item > 0
        best = order[responses.by_item.starts[:-1][answered]]
        found = np.tile(self._prior, (responses.n_items, 1))
        found[answered] = np.eye(responses.n_classes)[responses.by_item.labels[best]]
        return found
