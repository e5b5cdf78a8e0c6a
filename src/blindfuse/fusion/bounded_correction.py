"""Votes plus what models may add to them, bounded by what sampling noise could explain.

No model of dependent annotators can be trusted to overrule a clear majority, but where votes are
close, models are right more often than the vote. The score of class k of an item with n responses
and v_k votes is v_k + ¾ √n' q_k, where q is the posterior of the model, or the mean of several, and
n' = n / (1 + (n − 1) ρ) is the effective number of votes, with ρ the mean excess agreement of
pairs. The lead of a class has a standard deviation of at most √n'; models may make up for ¾ of it.

Four annotators who vote 2 : 1 : 1 have no majority to overrule, but a lead that the bound keeps.
Where several models are averaged, classes at most one vote behind the leader therefore count as
tied with it, unless it has more than half of the votes.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import capitalize
from blindfuse.fusion.choice import Choice, PosteriorsOf
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.guards import CORRECTION_GUARDS, object_to_labels
from blindfuse.fusion.model_pool import all_models, pooled_posteriors
from blindfuse.fusion.outvoted_groups import doubt_labels
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


@dataclass(frozen=True, eq=False)
class CorrectedVotes:
    """Votes that the posteriors of a ``model`` correct; ``tie_breaker`` breaks remaining ties.

    With ``needs_majority``, a class without a majority is not protected against the next one.
    """

    model: PosteriorsOf | None
    correlation: float
    tie_breaker: PooledModel
    needs_majority: bool = False

    def __call__(self, responses: Responses) -> Floats:
        """Corrected votes per item and class, ``[item, class]``."""
        return self.correct(responses, None if self.model is None else self.model(responses))

    def correct(self, responses: Responses, added: Floats | None) -> Floats:
        """The votes, corrected by posteriors ``added[item, class]`` of the responses."""
        votes = weighted_votes(responses)
        broken = TIE_BREAK * self.tie_breaker.posteriors(votes)
        if added is None:
            return votes + broken
        counted = tie_without_majority(votes) if self.needs_majority else votes
        n = votes.sum(axis=1, keepdims=True)
        effective = n / (1 + np.maximum(n - 1, 0) * self.correlation)
        return np.asarray(counted + broken + BOUND * np.sqrt(effective) * added)


def tie_without_majority(votes: Floats) -> Floats:
    """The ``votes[item, class]``, with close classes tied where none has more than half of them.

    A class is close if it is at most one vote behind the leader.
    """
    largest = votes.max(axis=1, keepdims=True)
    has_majority = largest > votes.sum(axis=1, keepdims=True) / 2
    return np.where(~has_majority & (votes >= largest - 1), largest, votes)


@dataclass(frozen=True, eq=False)
class ConfidentLabels:
    """The labels of ``corrected`` votes, with the confidence of other posteriors."""

    corrected: CorrectedVotes
    confidence: PosteriorsOf

    def __call__(self, responses: Responses) -> Floats:
        """Posteriors ``[item, class]`` of these responses."""
        return keep_labels(self.corrected(responses), self.confidence(responses))


def correct_votes(evidence: Evidence) -> Choice:
    """The vote, corrected by the mean of several models unless a guard objects to them."""
    context, added = evidence.context, pooled_posteriors(evidence.context, with_em=True)
    objection = object_to_labels(
        most_likely(added), evidence.votes, evidence.responses.classes, CORRECTION_GUARDS
    )
    if objection is not None:
        evidence.refusals.append(f"the mean of models {objection}")
        return only_vote(evidence, f"{_reason(evidence)}, so the majority vote is used.")
    why = f"{_reason(evidence)}, so the mean of several models corrects only close votes."
    correlation, breaker = evidence.correlation, evidence.pooled_model
    votes = CorrectedVotes(all_models(context), correlation, breaker, needs_majority=True)
    choice = replace(
        _choose(evidence, BOUNDED_CORRECTION, why, votes, added),
        history=context.dawid_skene_from_vote.log_likelihoods_,
    )
    return doubt_labels(choice, evidence.dependence.groups, evidence.responses)


def _reason(evidence: Evidence) -> str:
    """The last two refusals of other methods, as the beginning of a sentence."""
    return capitalize(", and ".join(evidence.refusals[-2:]))


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
