"""What the questions about all classes together say about the annotators."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.fusion.fuse import Fusion, fuse_table
from blindfuse.model.model import Model
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses

STRENGTHS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Pseudo-counts per class among which the most likely is chosen."""


@dataclass(frozen=True, eq=False)
class SharedRates:
    """What all questions together say about the annotators, as a prior for each class.

    Attributes
    ----------
    pooled
        the fusion of all questions, as if every one were an item of its own.
    strength
        pseudo-counts that its confusion matrices are worth in each class.
    """

    pooled: Fusion
    strength: float

    @property
    def is_dependent(self) -> bool:
        """Whether all questions together show correlated errors: a second subtype predicts better.

        Independent annotators have a gain below zero. Single questions have too few responses to
        show it, and a model would take shared errors for confirmations.
        """
        evidence = self.pooled.evidence
        return evidence.is_modelled and evidence.second_subtype.mean > 0

    @property
    def prior_model(self) -> Model | None:
        """The prior of the annotators in each class; None without agreement beyond chance."""
        return self.pooled.model.independent if self.pooled.evidence.is_informative else None

    def expected_error(self, least: float) -> ExpectedError | None:
        """The expected share of wrong decisions; None if the responses do not tell.

        That of the pooled questions was fitted to tables of classes that are about equally
        frequent, but most classes apply to few items, about which nearly all decisions are right.
        What correlated errors add is therefore reduced by the share of the rarer decision, relative
        to one half. The interval reaches down to the share if errors are independent, and to
        ``least``, what it is with rates of their own in each class.
        """
        expected = self.pooled.expected_error
        if expected is None:
            return None
        applies = float(np.mean(self.pooled.posteriors[:, 1] > 0.5))
        added = 2 * min(applies, 1 - applies) * (expected.value - expected.if_independent)
        value = expected.if_independent + added
        low = min(expected.low, expected.if_independent, least)
        return replace(expected, value=value, low=low)


def learn_shared_rates(table: ResponseSets, options: Mapping[str, Any]) -> SharedRates:
    """Fuse the questions of all classes together, and learn what they say about each class.

    Of more than 500,000 questions (response × class), a sample of the items is fused.
    """
    n_classes, sample = table.n_classes, table.sample_items(500_000)
    n_items, items = sample.n_items, sample.item_of_response()
    questions = Responses.from_codes(
        np.repeat(items, n_classes) + n_items * np.tile(np.arange(n_classes), len(items)),
        np.repeat(sample.codes, n_classes),
        sample.indicators().ravel().astype(np.int8),
        items=np.arange(n_items * n_classes),
        annotators=table.annotators,
        classes=["no", "yes"],
    )
    pooled = fuse_table(questions, **options)
    return SharedRates(pooled, _choose_strength(pooled, n_classes))


def _choose_strength(pooled: Fusion, n_classes: int) -> float:
    """Pseudo-counts per class under which the counts of all classes are most likely.

    The rates of annotator m in class k are Dirichlet with mean Γ_m of all classes together. The
    expected counts follow from the posteriors of the pooled questions.
    """
    responses = pooled.responses
    question = responses.item_of_response()
    k, yes = question // (responses.n_items // n_classes), pooled.posteriors[question, 1]
    codes, symbols = responses.by_item.codes.astype(np.int64), responses.by_item.symbols
    cells = (codes * n_classes + k) * 2 + symbols
    shape = responses.n_annotators, n_classes, 2
    counts = np.stack(
        [np.bincount(cells, weight, np.prod(shape)).reshape(shape) for weight in (1 - yes, yes)],
        axis=3,
    )
    mean = pooled.model.confusions[:, None].clip(1e-3)

    def log_likelihood(strength: float) -> float:
        prior = strength * mean
        cells = gammaln(prior + counts) - gammaln(prior)
        totals = gammaln(prior.sum(axis=2)) - gammaln((prior + counts).sum(axis=2))
        return float(cells.sum() + totals.sum())

    return max(STRENGTHS, key=log_likelihood)
