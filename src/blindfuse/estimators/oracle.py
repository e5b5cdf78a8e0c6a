"""The oracle: the best result for conditionally independent annotators, for evaluation only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors
from blindfuse.model.shrinkage import normalize_columns
from blindfuse.parameters import instance_of, optional
from blindfuse.responses.gold import gold_codes


@dataclass(kw_only=True, eq=False, repr=False)
class Oracle(ModelEstimator):
    """The MAP or ML rule with the true confusion matrices and class prior, for evaluation only.

    Parameters
    ----------
    model
        the true :class:`Model`, as known in a simulation; pass it or ``truth``.
    truth
        a mapping of items to true labels, from which the confusion matrices and the class prior are
        counted.
    rule
        ``"map"`` or ``"ml"``, which ignores the class prior.
    threads
        maximum number of threads; None for all cores.
    """

    model: Annotated[Model | None, optional(instance_of(Model, description="a Model"))] = None
    truth: Annotated[
        Mapping[Any, Any] | None,
        optional(instance_of(Mapping, description="a mapping of items to labels")),
    ] = None

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        if (self.model is None) == (self.truth is None):
            raise BadParameter("Oracle needs either model= or truth=, not both. Pass one of them.")
        if self.model is not None:
            names = table.annotators, table.classes, table.symbols
            return self._store(self.model.for_annotators(*names), table)
        positions, codes = gold_codes(table, self.truth)
        one_hot = np.eye(table.n_classes)[codes]
        counted = count_posteriors(table.select_items(positions), one_hot, self.threads)
        confusions, prior = normalize_columns(counted.counts), counted.totals / counted.totals.sum()
        named = table.annotators, table.classes, None, table.symbols
        return self._store(Model(confusions, prior, *named), table)
