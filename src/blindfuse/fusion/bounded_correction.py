"""Votes plus what models may add to them, bounded by what sampling noise could explain.

No model of dependent annotators can be trusted to overrule a clear majority, but where votes are
close, models are right more often than the vote. The score of class k of an item with n responses
and v_k votes is v_k + ¾ √n' q_k, where q is the posterior of the model, or the mean of several, and
n' = n / (1 + (n − 1) ρ) is the effective number of votes, with ρ the mean excess agreement of
pairs. The lead of a class has a standard deviation of at most √n'; models may make up for ¾ of it.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.fusion.choice import Choice, PosteriorsOf
from blindfuse.fusion.discounted_votes import DiscountedVotes, discount_votes
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.guards import CORRECTION_GUARDS, object_to_labels
from blindfuse.fusion.model_pool import all_models, pooled_posteriors
from blindfuse.fusion.pooled_model import PooledModel
from blindfuse.fusion.tempering import keep_labels
from blindfuse.model.implied import implied_model
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

BOUNDED_CORRECTION = "bounded correction of the vote"
"""The name of the method."""
MAJORITY_VOTE = "MajorityVote"
"""The name of the method if no model may correct the vote."""
BOUND = 0.75
"""What models may add, in standard deviations of the lead of a class."""
TIE_BREAK = 1e-9
"""What the pooled model adds to the votes: enough to break ties, and nothing else."""
CHECK_LABELS = "Check about 50 items with `blindfuse audit` to measure the error."
"""The advice where no model explains the responses."""


@dataclass(frozen=True, eq=False)
class CorrectedVotes:
    """Votes that the posteriors of a ``model`` correct; ``tie_breaker`` breaks remaining ties.

    With ``second_opinion``, the model corrects only items to which that gives the same label.
    """

    model: PosteriorsOf | None
    correlation: float
    tie_breaker: PooledModel
    second_opinion: DiscountedVotes | None = None

    def __call__(self, responses: Responses) -> Floats:
        """Corrected votes per item and class, ``[item, class]``."""
        return self.correct(responses, None if self.model is None else self.model(responses))

    def correct(self, responses: Responses, added: Floats | None) -> Floats:
        """The votes, corrected by posteriors ``added[item, class]`` of the responses."""
        votes = weighted_votes(responses)
        scores = votes + TIE_BREAK * self.tie_breaker.posteriors(votes)
        if added is None:
            return scores
        if self.second_opinion is not None:
            same = most_likely(added) == most_likely(self.second_opinion(responses))
            added = added * same[:, None]
        n = votes.sum(axis=1, keepdims=True)
        effective = n / (1 + np.maximum(n - 1, 0) * self.correlation)
        return np.asarray(scores + BOUND * np.sqrt(effective) * added)


@dataclass(frozen=True, eq=False)
class ConfidentLabels:
    """The labels of ``corrected`` votes, with the confidence of other posteriors."""

    corrected: CorrectedVotes
    confidence: PosteriorsOf

    def __call__(self, responses: Responses) -> Floats:
        """Posteriors ``[item, class]`` of these responses."""
        return keep_labels(self.corrected(responses), self.confidence(responses))


def correct_votes(evidence: Evidence) -> Choice:
    """The vote, corrected by the mean of several models.

    If a guard objects to the labels of that mean, it corrects only where a second opinion agrees:
    a vote that discounts annotators who repeat each other.
    """
    added = pooled_posteriors(evidence.context, with_em=True)
    labels = most_likely(added)
    objection = object_to_labels(
        labels, evidence.votes, evidence.responses.classes, CORRECTION_GUARDS
    )
    second, where = None, "where it is close"
    if objection is not None:
        evidence.refusals.append(f"the mean of models {objection}")
        second = discount_votes(evidence.pairs, evidence.responses)
        where += " and a vote that discounts annotators who repeat each other agrees"
    why = (
        f"{_reason(evidence)}, so the majority vote is used; the mean of several models corrects "
        f"it {where}."
    )
    models = all_models(evidence.context)
    votes = CorrectedVotes(models, evidence.correlation, evidence.pooled_model, second)
    return replace(
        _choose(evidence, BOUNDED_CORRECTION, why, votes, added),
        history=evidence.context.dawid_skene_from_vote.log_likelihoods_,
        advice=CHECK_LABELS,
    )


def _reason(evidence: Evidence) -> str:
    """The last two refusals of other methods, as the beginning of a sentence."""
    reasons = "; ".join(evidence.refusals[-2:])
    return f"No model can be trusted ({reasons})"


def only_vote(evidence: Evidence, why: str) -> Choice:
    """The vote, whose ties are broken by a model that treats all annotators alike."""
    votes = CorrectedVotes(None, 0.0, evidence.pooled_model)
    return _choose(evidence, MAJORITY_VOTE, why, votes, None)


def correct_with(evidence: Evidence, model: PosteriorsOf, correlation: float) -> CorrectedVotes:
    """Votes that this model may correct; ``correlation`` lowers the effective number of votes."""
    return CorrectedVotes(model, correlation, evidence.pooled_model)


def _choose(
    evidence: Evidence, name: str, why: str, votes: CorrectedVotes, added: Floats | None
) -> Choice:
    """The labels of ``votes``, corrected by posteriors ``added[item, class]`` of the responses."""
    context, responses = evidence.context, evidence.responses
    posteriors = keep_labels(votes.correct(responses, added), context.mixed_posteriors)
    return Choice(
        name,
        why,
        implied_model(responses, posteriors, context.threads),
        posteriors,
        np.empty(0),
        posteriors_of=ConfidentLabels(votes, context.mixed_membership.predict_proba),
        rates_by_labels=True,
    )
