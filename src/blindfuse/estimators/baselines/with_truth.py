"""Methods that are given the truth, for evaluation only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import Estimator, ModelEstimator
from blindfuse.estimators.voting import agreement_with
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors
from blindfuse.model.shrinkage import normalize_columns
from blindfuse.parameters import instance_of, optional
from blindfuse.responses.responses import Responses
from blindfuse.responses.table import gold_codes
from blindfuse.typing import Floats

Truth = Annotated[
    Mapping[Any, Any] | None,
    optional(instance_of(Mapping, description="a mapping of items to labels")),
]


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
    truth: Truth = None

    def _fit(self, table: Responses) -> None:
        if (self.model is None) == (self.truth is None):
            raise BadParameter("Oracle needs either model= or truth=, not both. Pass one of them.")
        if self.model is not None:
            names = table.annotators, table.classes, table.symbols
            self._store(self.model.for_annotators(*names), table)
            return
        positions, codes = gold_codes(table, self.truth)
        one_hot = np.eye(table.n_classes)[codes]
        counted = count_posteriors(table.select_items(positions), one_hot, self.threads)
        confusions, prior = normalize_columns(counted.counts), counted.totals / counted.totals.sum()
        named = table.annotators, table.classes, None, table.symbols
        self._store(Model(confusions, prior, *named), table)


@dataclass(kw_only=True, eq=False, repr=False)
class SingleBest(Estimator):
    """The responses of the most accurate annotator by the true labels, for evaluation only.

    An item that the best annotator did not label gets the response of the next best one.

    Parameters
    ----------
    truth
        a mapping of items to true labels.

    Attributes
    ----------
    accuracies_ ``[annotator]``
        the share of each annotator's correct responses to the items in ``truth``.
    """

    truth: Truth = None

    def _fit(self, table: Responses) -> None:
        if not self.truth:
            raise BadParameter("SingleBest needs the true labels. Pass truth={item: label, …}.")
        positions, codes = gold_codes(table, self.truth)
        self.accuracies_ = agreement_with(table.select_items(positions), codes)
        self._remember_names(table)
        self._prior = table.responses_per_symbol / table.n_responses
        self._store_posteriors(self._posteriors(table))

    def _posteriors(self, responses: Responses) -> Floats:
        """Return 1 for the best response of each item; the class proportions without responses."""
        rank = np.empty(responses.n_annotators, dtype=np.intp)
        rank[np.argsort(-self.accuracies_, kind="stable")] = np.arange(responses.n_annotators)
        items = responses.item_of_response()
        order = np.lexsort((rank[responses.by_item.codes], items))
        is_labelled = responses.responses_per_item > 0
        best = order[responses.by_item.starts[:-1][is_labelled]]
        posteriors = np.tile(self._prior, (responses.n_items, 1))
        posteriors[is_labelled] = np.eye(responses.n_classes)[responses.by_item.symbols[best]]
        return posteriors
