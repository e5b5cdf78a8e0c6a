"""What voting methods share: weights of annotators, ties by a documented rule."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import TableEstimator
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


class VotingEstimator(TableEstimator):
    """A vote in which each annotator has a weight.

    Attributes
    ----------
    weights_ ``[annotator]``
        how much each annotator's vote counts; a negative one counts for all other classes.
    posteriors_ ``[item, class]``
        shares of the weighted votes; the share of all labels where nobody voted.
    ties_ ``[item]``
        whether several classes have most votes. Then the class that was reported more often
        overall wins, and among equals the first in the order of classes.
    """

    prior_: Floats
    weights_: Floats
    ties_: NDArray[np.bool_]

    def _keep(self, responses: Responses, weights: Floats) -> Self:
        """Store these weights, and how the items come out with them."""
        self.annotators_, self.classes_ = responses.annotators, responses.classes
        self.prior_ = responses.responses_per_class / responses.n_responses
        self.weights_ = weights
        self.posteriors_ = self._posteriors(responses)
        best = self.posteriors_.max(axis=1, keepdims=True)
        self.ties_ = np.count_nonzero(self.posteriors_ == best, axis=1) > 1
        self.labels_ = self._named(self.posteriors_)
        return self

    def _posteriors(self, responses: Responses) -> Floats:
        votes = weighted_votes(responses, np.maximum(self.weights_, 0.0))
        if np.any(self.weights_ < 0):  # a vote against one class is one for all the others
            against = weighted_votes(responses, np.maximum(-self.weights_, 0.0))
            votes += against.sum(axis=1, keepdims=True) - against
        total = votes.sum(axis=1, keepdims=True)
        empty = np.broadcast_to(self.prior_, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=empty, where=total > 0))

    def _codes(self, beliefs: Floats) -> NDArray[np.intp]:
        """The class with most votes; of equals the most reported, then the first."""
        winners = beliefs == beliefs.max(axis=1, keepdims=True)
        return most_likely(np.where(winners, self.prior_, -1.0))


def agreement(responses: Responses, labels: NDArray[np.intp]) -> Floats:
    """How often each annotator's answers equal these labels ``[item]`` (codes), ``[annotator]``."""
    right = responses.by_item.labels == labels[responses.item_of_response()]
    hits = np.bincount(responses.by_item.codes, right, minlength=responses.n_annotators)
    return np.asarray(hits / np.maximum(responses.responses_per_annotator, 1))
