"""The selection rule for responses whose symbols are not classes: scores, confidences, clusters.

The baseline is what the anchor says of an item (:mod:`blindfuse.model.anchored_votes`). EM with one
R × K matrix per annotator starts from it and replaces it, unless too few annotators share items or
a guard objects to its labels.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.fit import measure_fit
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.errors import NotIdentifiable
from blindfuse.estimators.mixed_membership import MixedMembership
from blindfuse.fusion.choice import Choice, FuseContext
from blindfuse.fusion.copies import Copies, find_copies, with_all_annotators
from blindfuse.fusion.guards import CORRECTION_GUARDS, object_to_labels
from blindfuse.fusion.held_out import sample_items
from blindfuse.fusion.recalibration import with_expected_error
from blindfuse.fusion.tempering import LOWERED, keep_labels
from blindfuse.model.anchored_votes import ScoreRule
from blindfuse.model.decisions import decide
from blindfuse.model.implied import implied_model
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely, vote_posteriors, weighted_votes
from blindfuse.moments.requirements import require_overlap
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

ANCHORED_VOTE = {
    "matrix": "weighted vote of the symbols",
    "order": "mean of the standardised scores",
    "none": "spectral clustering of the items",
}
"""The baseline by kind of anchor."""


@dataclass(frozen=True, eq=False)
class DecisionConfidence:
    """A model's labels, with the mean of its posteriors and those of mixed membership.

    Where errors are correlated, a model of conditionally independent annotators is far too
    confident; :class:`MixedMembership` of the annotators' decisions is not.
    """

    model: Model
    mixed: MixedMembership
    threads: int | None

    def __call__(self, responses: Responses) -> Floats:
        posteriors = self.model.posteriors(responses, threads=self.threads)
        names = self.model.annotators, self.model.classes, self.model.symbols
        decided, _ = decide(responses.recoded(*names), self.model)
        return keep_labels(posteriors, (posteriors + self.mixed.predict_proba(decided)) / 2)


@dataclass(frozen=True, eq=False)
class AnchoredConfidence:
    """The labels that the anchor says of new items, with the confidences of a model.

    Scores are read by the ``rule`` of the items that were fused. Without an anchor, a cluster says
    only what the model says about it.
    """

    model: Model
    rule: ScoreRule | None
    threads: int | None

    def __call__(self, responses: Responses) -> Floats:
        posteriors = self.model.posteriors(responses, threads=self.threads)
        if responses.anchor.kind == "none":
            return posteriors
        votes = vote_posteriors(responses, self.threads, self.rule)
        voted = votes.sum(axis=1, keepdims=True) > 0
        return keep_labels(np.where(voted, votes, posteriors), posteriors)


@dataclass(eq=False)
class AnchoredVote:
    """The baseline: labels by the anchor alone, described by a model.

    Scores are read by the ``rule`` from which EM has the larger likelihood, if there is one.
    """

    context: FuseContext
    rule: ScoreRule | None = None

    @cached_property
    def posteriors(self) -> Floats:
        """What the anchor says, ``[item, class]``; the class proportions for items without."""
        found = vote_posteriors(self.context.responses, self.context.threads, self.rule)
        return np.where(found.sum(axis=1, keepdims=True) > 0, found, found.mean(axis=0) + 1e-12)

    @cached_property
    def model(self) -> Model:
        """The confusion matrices and prior that these posteriors imply, with learned shrinkage."""
        return implied_model(self.context.responses, self.posteriors, self.context.threads)

    def choose(self, why: str) -> Choice:
        """The choice of this baseline.

        Confidences are those of the model where its label is the anchor's.
        """
        responses = self.context.responses
        by_model = self.model.posteriors(responses, threads=self.context.threads)
        posteriors = keep_labels(self.posteriors, by_model)
        rule = self.rule
        if rule is None and responses.anchor.kind == "order":
            rule = ScoreRule.of(responses)
        return Choice(
            ANCHORED_VOTE[responses.anchor.kind],
            why,
            self.model,
            posteriors,
            np.empty(0),
            most_likely(self.posteriors),
            AnchoredConfidence(self.model, rule, self.context.threads),
        )


def select_with_symbols(context: FuseContext) -> Choice:
    """EM from the anchor's start, or the anchor's own labels where EM cannot be trusted."""
    responses = context.responses
    name = ANCHORED_VOTE[responses.anchor.kind]
    try:
        require_overlap(responses)
    except NotIdentifiable as refusal:
        return AnchoredVote(context).choose(f"{refusal.reason} The {name} is used.")
    fitted = context.fit_dawid_skene()
    copies = find_copies(responses, fitted.model_)
    if copies.groups:
        return _select_without_copies(context, copies)
    labels = most_likely(fitted.posteriors_)
    baseline = AnchoredVote(context, fitted.score_rule_)
    votes = _guarding_votes(responses, fitted.score_rule_)
    objection = object_to_labels(labels, votes, responses.classes, CORRECTION_GUARDS)
    if objection is not None:
        return baseline.choose(
            f"EM was not used, because it {objection}. The {name} is used instead."
        )
    moved = int(np.count_nonzero(labels != most_likely(baseline.posteriors)))
    choice = Choice(
        "DawidSkene",
        f"EM learns what each of {responses.n_symbols:,} symbols means for every annotator, "
        f"starting from the {name}. {moved:,} of {responses.n_items:,} labels differ from that.",
        fitted.model_,
        fitted.posteriors_,
        fitted.log_likelihoods_,
    )
    return _tempered(choice, context)


def _select_without_copies(context: FuseContext, copies: Copies) -> Choice:
    """The choice for one annotator per group of annotators who repeat each other.

    Its error is expected from the merged responses, because copies add no evidence.
    """
    merged = replace(context, responses=copies.merge(context.responses))
    choice = with_expected_error(select_with_symbols(merged), merged)
    return with_all_annotators(choice, copies, context)


def _guarding_votes(responses: Responses, rule: ScoreRule | None) -> Floats:
    """The votes ``[item, class]`` that guards compare labels with.

    Without an anchor, classes have no names before EM has found them, so only the cluster of each
    item counts, as one vote per response.
    """
    if responses.anchor.kind == "none":
        return vote_posteriors(responses) * responses.responses_per_item[:, None]
    return weighted_votes(responses, rule=rule)


def _tempered(choice: Choice, context: FuseContext) -> Choice:
    """The choice as it is where its model fits pairs of annotators, otherwise less confident."""
    pairs = count_pairs(context.responses).compare_with(choice.model)
    fit = measure_fit(pairs, context.responses.n_annotators)
    if fit.holds:
        return choice
    decided, _ = decide(context.responses, choice.model)
    mixed = MixedMembership(threads=context.threads).fit(sample_items(decided, context.seed))
    confidence = DecisionConfidence(choice.model, mixed, context.threads)
    posteriors = (choice.posteriors + mixed.predict_proba(decided)) / 2
    why = f"{choice.why} {LOWERED}"
    posteriors = keep_labels(choice.posteriors, posteriors)
    return replace(choice, why=why, posteriors=posteriors, posteriors_of=confidence)
