"""What all classes together say about the annotators, and the questions of single classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit

from blindfuse.fusion.bounded_correction import correct_votes
from blindfuse.fusion.choice import Choice, FuseContext, SelectionRule
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.fusion.selection import select_by_prediction
from blindfuse.fusion.set_prediction import EPSILON
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Members = NDArray[np.bool_]

MAX_POOLED = 500_000
"""Questions (response × class) that all classes together are fused on, as a sample of items."""
STRENGTHS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Pseudo-counts per class among which the most likely is chosen."""
PRIOR_STEPS = 100
"""Iterations of the prior of one class; they converge geometrically."""


@dataclass(frozen=True, eq=False)
class SharedRates:
    """What the questions of all classes say about the question of one class.

    Attributes
    ----------
    pooled
        the fusion of all questions, as if every one were an item of its own.
    strength
        pseudo-counts that its confusion matrices are worth in each class.
    difficulty
        standard errors by which errors in different classes of an item are correlated; None if
        that is not significant.
    """

    pooled: Fusion
    strength: float
    difficulty: float | None = None

    @property
    def is_dependent(self) -> bool:
        """Whether all questions together show dependent annotators.

        That is then used in each class, which may have too few responses to show it.
        """
        return bool(self.pooled.groups) or self.pooled.method == "LatentSubtypes"

    @property
    def are_independent(self) -> bool:
        """Whether responses can be predicted one by one, as if annotators were independent."""
        return self.difficulty is None and not self.is_dependent

    def fuse_questions(
        self, table: ResponseSets, known: Mapping[int, Members], options: Mapping[str, Any]
    ) -> list[Fusion | None]:
        """The fusion of each class; None where all responses agree."""
        agreed = (0, table.n_responses)
        return [
            None if count in agreed else self._fuse(table, k, known, options)
            for k, count in enumerate(table.responses_per_class.tolist())
        ]

    def _fuse(
        self,
        table: ResponseSets,
        k: int,
        known: Mapping[int, Members],
        options: Mapping[str, Any],
    ) -> Fusion:
        """The fusion of "does class k apply?"."""
        rule: SelectionRule = select_by_prediction
        if self.difficulty is not None:
            rule = _correct_votes
        elif self.is_dependent:
            rule = self._select_pooled
        return fuse(
            table.question(k),
            gold={table.items[n]: "yes" if row[k] else "no" for n, row in known.items()},
            prior_model=self.pooled.model,
            prior_count=self.strength,
            selection=_with_likelihoods(rule),
            **options,
        )

    def _select_pooled(self, context: FuseContext) -> Choice:
        """The method of all questions together, with the prior of one class.

        Only the posteriors of merged groups are likelihoods; the prior of other methods stays that
        of all classes.
        """
        own = self.pooled.predict_proba(context.responses)[:, 1].clip(EPSILON, 1 - EPSILON)
        log_odds = float(logit(self.pooled.model.prior[1].clip(EPSILON, 1 - EPSILON)))
        evidence = logit(own) - log_odds
        if self.pooled.method == MERGED_GROUPS:
            log_odds = _class_log_odds(evidence)
        applies = expit(evidence + log_odds)
        share = float(expit(log_odds))
        model = replace(self.pooled.model, prior=np.array([1 - share, share]))
        posteriors = np.stack([1 - applies, applies], axis=1)
        if context.responses.classes[0] == "yes":  # classes are in canonical order here
            posteriors = np.ascontiguousarray(posteriors[:, ::-1])
        return Choice(
            self.pooled.method,
            self.pooled.why,
            model.for_annotators(context.responses.annotators, context.responses.classes),
            posteriors,
            np.empty(0),
        )


def share_rates(table: ResponseSets, options: Mapping[str, Any]) -> SharedRates:
    """Fuse the questions of all classes together, and learn what they say about each class."""
    pooled = _fuse_pooled(table, options)
    return SharedRates(pooled, _choose_strength(table, pooled))


def _with_likelihoods(rule: SelectionRule) -> SelectionRule:
    """The rule without recalibration, which would change likelihood ratios between questions."""

    def select(context: FuseContext) -> Choice:
        return replace(rule(context), keeps_posteriors=True)

    return select


def _correct_votes(context: FuseContext) -> Choice:
    return correct_votes(Evidence(context, ["some items are harder than others"]))


def _class_log_odds(evidence: Floats) -> float:
    """The prior log odds under which responses with these log likelihood ratios are likeliest.

    One pseudo-item with the class and one without keep them finite.
    """
    log_odds = 0.0
    for _ in range(PRIOR_STEPS):
        expected = expit(evidence + log_odds).sum()
        log_odds = float(logit((expected + 1) / (len(evidence) + 2)))
    return log_odds


def _fuse_pooled(table: ResponseSets, options: Mapping[str, Any]) -> Fusion:
    """The fusion of the questions of all classes, as if each were an item of its own."""
    n_classes, sample = table.n_classes, table.sample_items(MAX_POOLED)
    n_items, items = sample.n_items, sample.item_of_response()
    pooled = Responses.from_codes(
        np.repeat(items, n_classes) + n_items * np.tile(np.arange(n_classes), len(items)),
        np.repeat(sample.codes, n_classes),
        sample.indicators().ravel().astype(np.int8),
        items=np.arange(n_items * n_classes),
        annotators=table.annotators,
        classes=["no", "yes"],
    )
    return fuse(pooled, selection=_with_likelihoods(select_by_prediction), **options)


def _choose_strength(table: ResponseSets, pooled: Fusion) -> float:
    """Pseudo-counts per class under which the counts of all classes are most likely.

    The rates of annotator m in class k are Dirichlet with mean Γ_m of all classes together. The
    expected counts follow from the posteriors of the pooled questions.
    """
    n_classes = table.n_classes
    n_sampled = len(pooled.posteriors) // n_classes
    posteriors = pooled.posteriors[:, 1].reshape(n_classes, n_sampled)
    responses = pooled.responses
    question = responses.item_of_response()
    k, n = np.divmod(question, n_sampled)
    yes = posteriors[k, n]
    codes, symbols = responses.by_item.codes.astype(np.int64), responses.by_item.symbols
    cells = (codes * n_classes + k) * 2 + symbols
    shape = table.n_annotators, n_classes, 2
    counts = np.stack(
        [np.bincount(cells, weight, np.prod(shape)).reshape(shape) for weight in (1 - yes, yes)],
        axis=3,
    )
    mean = pooled.model.confusions[:, None].clip(1e-3)

    def log_likelihood(strength: float) -> float:
        own = strength * mean
        gained = gammaln(own + counts) - gammaln(own)
        total = gammaln(own.sum(axis=2)) - gammaln((own + counts).sum(axis=2))
        return float(gained.sum() + total.sum())

    return max(STRENGTHS, key=log_likelihood)
