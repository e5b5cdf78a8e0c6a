"""Weighted voting: how annotators' weights turn into labels, and how ties are broken."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import PosteriorEstimator
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


class VotingEstimator(PosteriorEstimator):
    """A vote in which each annotator has a weight.

    Attributes
    ----------
    weights_ ``[annotator]``
        the weight of each annotator's vote; a negative weight is a vote for all other classes.
    posteriors_ ``[item, class]``
        shares of the weighted votes; the overall share of each class for items without votes.
    ties_ ``[item]``
        whether several classes share the largest number of votes. A tie goes to the class that
        was reported more often overall, then to the first in the order of classes.
    """

    prior_: Floats
    weights_: Floats
    ties_: NDArray[np.bool_]

    def _store(self, responses: Responses, weights: Floats) -> Self:
        """Store these weights, and the result of the vote with them."""
        self.annotators_, self.classes_ = responses.annotators, responses.classes
        self.prior_ = responses.responses_per_class / responses.n_responses
        self.weights_ = weights
        self.posteriors_ = self._posteriors(responses)
        best = self.posteriors_.max(axis=1, keepdims=True)
        self.ties_ = np.count_nonzero(self.posteriors_ == best, axis=1) > 1
        self.labels_ = self._name_labels(self.posteriors_)
        return self

    def _posteriors(self, responses: Responses) -> Floats:
        votes = weighted_votes(responses, np.maximum(self.weights_, 0.0))
        if np.any(self.weights_ < 0):  # a vote against one class is a vote for all others
            against = weighted_votes(responses, np.maximum(-self.weights_, 0.0))
            votes += against.sum(axis=1, keepdims=True) - against
        total = votes.sum(axis=1, keepdims=True)
        posteriors = np.broadcast_to(self.prior_, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=posteriors, where=total > 0))

    def _class_codes(self, posteriors: Floats) -> NDArray[np.intp]:
        """Return the class with most votes; ties go to the more common class, then the first."""
        winners = posteriors == posteriors.max(axis=1, keepdims=True)
        return most_likely(np.where(winners, self.prior_, -1.0))


def agreement_with(responses: Responses, class_codes: NDArray[np.intp]) -> Floats:
    """Return the share of each annotator's responses that equal the codes ``[item]``.

    The result has shape ``[annotator]`` and is zero for annotators without responses.
    """
    agrees = responses.by_item.symbols == class_codes[responses.item_of_response()]
    agreed = np.bincount(responses.by_item.codes, agrees, minlength=responses.n_annotators)
    return np.asarray(agreed / np.maximum(responses.responses_per_annotator, 1))
