"""A model in which all annotators share one confusion matrix, to break ties of the vote.

Where annotators are dependent, a model that rates them follows those who repeat each other or share
a bias. This one treats them alike, and only learns which classes are reported too often.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.model.posteriors import safe_log, weighted_votes
from blindfuse.model.shrinkage import normalize_columns
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MAX_ITERATIONS = 50
"""Iterations of EM; ties need no convergence to many digits."""
TOLERANCE = 1e-6
"""Change of the confusion matrix at which EM stops."""


@dataclass(frozen=True, eq=False)
class PooledModel:
    """One confusion matrix Γ ``[reported, true]`` for all annotators, and the class prior π.

    The posterior of an item with v_a votes for class a is proportional to π_k Π_a Γ(a, k)^v_a.
    """

    confusion: Floats
    prior: Floats

    def predict_proba(self, responses: Responses) -> Floats:
        """Posteriors ``[item, class]``."""
        return self.posteriors(weighted_votes(responses))

    def posteriors(self, votes: Floats) -> Floats:
        """Posteriors ``[item, class]`` given ``votes[item, class]``."""
        scores = votes @ safe_log(self.confusion) + safe_log(self.prior)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def fit_pooled_model(votes: Floats) -> PooledModel:
    """Fit by EM from the majority vote, given ``votes[item, class]``.

    One response per class is added to the counts, half of it correct and half spread evenly.
    """
    votes, sizes = np.unique(votes, axis=0, return_counts=True)
    K = votes.shape[1]
    added = 0.5 * np.eye(K) + 0.5 / K
    winners = votes == votes.max(axis=1, keepdims=True)
    posteriors = winners / winners.sum(axis=1, keepdims=True)
    confusion = np.zeros((K, K))
    for _ in range(MAX_ITERATIONS):
        last = confusion
        expected = posteriors * sizes[:, None]
        confusion = normalize_columns((votes.T @ expected + added)[None])[0]
        totals = expected.sum(axis=0) + 1
        model = PooledModel(confusion, totals / totals.sum())
        if np.abs(confusion - last).max() < TOLERANCE:
            break
        posteriors = model.posteriors(votes)
    return model
