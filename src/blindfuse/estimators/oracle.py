"""The oracle: what could be reached with the truth in hand, for evaluation only."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import ModelEstimator, to_fit
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import count_posteriors
from blindfuse.model.shrinkage import normalize_columns
from blindfuse.responses.gold import gold_codes


class Oracle(ModelEstimator):
    """The MAP or ML rule with the true confusion matrices and class shares.

    Parameters
    ----------
    model
        the true ones, of a simulation; or
    truth
        the labels of items, by name, to score the annotators' answers against.
    """

    def __init__(
        self,
        *,
        model: Model | None = None,
        truth: Mapping[Any, Any] | None = None,
        rule: Rule = "map",
        threads: int | None = None,
    ) -> None:
        self.model = model
        self.truth = truth
        self.rule: Rule = rule
        self.threads = threads

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        if (self.model is None) == (self.truth is None):
            raise BadParameter("Oracle needs either model= or truth=, and not both.")
        if self.model is not None:
            return self._keep(self.model.for_annotators(table.annotators, table.classes), table)
        positions, codes = gold_codes(table, self.truth or {})
        certain = np.eye(table.n_classes)[codes]
        sums = count_posteriors(table.select_items(positions), certain, self.threads)
        confusions, prior = normalize_columns(sums.counts), sums.totals / sums.totals.sum()
        return self._keep(Model(confusions, prior, table.annotators, table.classes), table)
