"""Votes plus what a model may add to them, bounded by what sampling noise could explain.

No model of dependent annotators can be trusted to overrule a clear majority, but where votes are
close, EM is right more often than the vote. The score of class k of an item with n responses and
v_k votes is v_k + ½ √n' q_k, where q is the posterior of EM and n' = n / (1 + (n − 1) ρ) is the
effective number of votes, with ρ the mean excess agreement of pairs. The lead of a class has a
standard deviation of at most √n'; the model may make up for half of it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import Estimator
from blindfuse.estimators.mixed_membership import MixedMembership
from blindfuse.estimators.wawa import Wawa
from blindfuse.fusion.choice import Choice
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.guards import object_to_labels
from blindfuse.fusion.tempering import keep_labels
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, most_likely, weighted_votes
from blindfuse.model.shrinkage import make_shrinkage
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

BOUNDED_CORRECTION = "bounded correction of the vote"
"""The name of the method."""
MAJORITY_VOTE = "MajorityVote"
"""The name of the method if the model does not pass the guards."""
BOUND = 0.5
"""What the model may add, in standard deviations of the lead of a class."""


@dataclass(frozen=True, eq=False)
class CorrectedVotes:
    """The labels of votes that ``model`` corrects, with the confidence of ``mixed``.

    Without a model, ``tie_breaker`` adds less than one vote.
    """

    model: Estimator | None
    correlation: float
    tie_breaker: Estimator
    mixed: MixedMembership

    def __call__(self, responses: Responses) -> Floats:
        """Posteriors ``[item, class]`` of these responses."""
        return keep_labels(self.scores(responses), self.mixed.predict_proba(responses))

    def scores(self, responses: Responses) -> Floats:
        """Corrected votes per item and class, ``[item, class]``."""
        votes = weighted_votes(responses)
        if self.model is None:
            return votes + self.tie_breaker.predict_proba(responses)
        n = votes.sum(axis=1, keepdims=True)
        effective = n / (1 + np.maximum(n - 1, 0) * self.correlation)
        return np.asarray(votes + BOUND * np.sqrt(effective) * self.model.predict_proba(responses))


def correct_votes(evidence: Evidence) -> Choice:
    """The vote, corrected by EM if it passes the guards."""
    model = evidence.context.dawid_skene_from_vote
    labels = most_likely(model.posteriors_)
    objection = object_to_labels(labels, evidence.votes, evidence.responses.classes)
    reasons = " ".join(evidence.refusals)
    if objection is not None:
        return only_vote(
            evidence,
            f"{reasons} EM may not correct the vote either, because it {objection}. The majority "
            "vote is used.",
        )
    why = (
        f"{reasons} The majority vote is used, and EM may add to it at most half the standard "
        "deviation of the votes."
    )
    return _choose(evidence, BOUNDED_CORRECTION, why, model)


def only_vote(evidence: Evidence, why: str) -> Choice:
    """The vote, whose ties are broken by the annotators who agree with it more often."""
    return _choose(evidence, MAJORITY_VOTE, why, None)


def _choose(evidence: Evidence, name: str, why: str, model: Estimator | None) -> Choice:
    context, responses = evidence.context, evidence.responses
    correlation = 0.0 if model is None else evidence.correlation
    tie_breaker, mixed = Wawa().fit(responses), context.mixed_membership
    corrected = CorrectedVotes(model, correlation, tie_breaker, mixed)
    posteriors = corrected(responses)
    return Choice(
        name,
        why,
        describe_posteriors(responses, posteriors, context.threads),
        posteriors,
        getattr(model, "log_likelihoods_", np.empty(0)),
        posteriors_of=corrected,
    )


def describe_posteriors(responses: Responses, posteriors: Floats, threads: int | None) -> Model:
    """The confusion matrices and prior that these posteriors imply, with learned shrinkage."""
    counts = count_posteriors(responses, posteriors, threads)
    confusions = make_shrinkage("learned", counts.counts).shrink(counts.counts)
    prior = counts.totals / counts.totals.sum()
    return Model(confusions, prior, responses.annotators, responses.classes)
