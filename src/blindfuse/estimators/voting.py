"""Votes, weighted by agreement with the vote (Wawa, zero-based skill), and how ties are broken."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from blindfuse.estimators.base import Estimator, Iterations, NonNegative
from blindfuse.model.anchored_votes import symbol_votes
from blindfuse.model.posteriors import most_likely, vote_posteriors, weighted_votes
from blindfuse.parameters import integer_at_least
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes, Flags, Floats


class VotingEstimator(Estimator):
    """A vote in which each annotator has a weight.

    Attributes
    ----------
    weights_ ``[annotator]``
        the weight of each annotator's vote; a negative weight is a vote for all other classes.
    posteriors_ ``[item, class]``
        shares of the weighted votes; the overall share of each class for items without votes.
    ties_ ``[item]``
        whether several classes share the largest number of votes. A tie goes to the class whose
        annotators agree more often with the majority vote (their ``agreement_`` is added up), then
        to the class that is reported more often overall, then to the first.
    agreement_ ``[annotator]``
        share of the annotator's responses that equal the majority vote; a tie counts in part.
    """

    prior_: Floats
    weights_: Floats
    ties_: Flags
    agreement_: Floats

    def _store(self, responses: Responses, weights: Floats) -> None:
        """Store these weights, and the result of the vote with them."""
        self._remember_names(responses)
        self.prior_ = _response_shares(responses)
        self.weights_ = weights
        self.agreement_ = _agreement(responses)
        self.posteriors_ = self._posteriors(responses)
        self.ties_ = np.count_nonzero(_winners(self.posteriors_), axis=1) > 1
        self.labels_ = self.classes_[self._winning_codes(responses, self.posteriors_)]

    def predict(self, responses: Any) -> Array:
        table = self._recode(responses)
        return np.asarray(self.classes_[self._winning_codes(table, self._posteriors(table))])

    def _posteriors(self, responses: Responses) -> Floats:
        votes = weighted_votes(responses, np.maximum(self.weights_, 0.0))
        if np.any(self.weights_ < 0):  # a vote against one class is a vote for all others
            against = weighted_votes(responses, np.maximum(-self.weights_, 0.0))
            votes += against.sum(axis=1, keepdims=True) - against
        total = votes.sum(axis=1, keepdims=True)
        posteriors = np.broadcast_to(self.prior_, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=posteriors, where=total > 0))

    def _winning_codes(self, responses: Responses, posteriors: Floats) -> Codes:
        """Return the code of the class with most votes per item, with ties broken."""
        winners = _winners(posteriors)
        tied = np.flatnonzero(np.count_nonzero(winners, axis=1) > 1)
        codes = most_likely(posteriors)
        if len(tied):
            support = weighted_votes(responses.select_items(tied), self.agreement_)
            # Rounded, because sums of equal numbers in another order may differ in the last digit.
            supported = _winners(np.where(winners[tied], np.round(support, 9), -1.0))
            codes[tied] = most_likely(np.where(supported, self.prior_, -1.0))
        return codes


class MajorityVote(VotingEstimator):
    """The majority vote: each item gets the class that most annotators report.

    All annotators have the same weight. ``ties_`` marks the items where several classes have most
    votes; such a tie goes to the class whose annotators agree more often with the majority vote.

    Examples
    --------
    >>> from blindfuse import MajorityVote
    >>> vote = MajorityVote().fit([["a", "a", "b"], ["b", "b", "a"], ["b", "a", None]])
    >>> vote.labels_.tolist(), vote.ties_.tolist()
    (['a', 'b', 'a'], [False, False, True])
    """

    def _fit(self, table: Responses) -> None:
        self._store(table, np.ones(table.n_annotators))


class Wawa(VotingEstimator):
    """Worker agreement with aggregate: a vote weighted by agreement with the majority vote.

    The weight of an annotator is the share of its responses that equal the majority vote.

    Examples
    --------
    >>> from blindfuse import Wawa
    >>> wawa = Wawa().fit([["a", "a", "b"], ["b", "b", "b"], ["b", "b", "a"]])
    >>> wawa.labels_.tolist(), wawa.weights_.round(2).tolist()
    (['a', 'b', 'b'], [1.0, 1.0, 0.33])
    """

    def _fit(self, table: Responses) -> None:
        self._store(table, np.ones(table.n_annotators))
        codes = self._winning_codes(table, self.posteriors_)
        self._store(table, agreement_with(table, codes))


@dataclass(kw_only=True, eq=False, repr=False)
class ZeroBasedSkill(VotingEstimator):
    """A weighted vote, repeated with each annotator's agreement with the last vote as its weight.

    All weights start at 1/K. Each iteration votes with the present weights w_m and updates them by
    w_m ← w_m + η (a_m − w_m), where a_m is the annotator's agreement with that vote.

    Parameters
    ----------
    max_iter
        maximum number of iterations.
    learning_rate
        the initial step size η.
    halve_every
        number of iterations after which η is halved.
    tolerance
        largest change of a weight at which the iterations stop.
    """

    max_iter: Iterations = 100
    learning_rate: NonNegative = 1.0
    halve_every: Annotated[int, integer_at_least(1)] = 20
    tolerance: NonNegative = 1e-5

    def _fit(self, table: Responses) -> None:
        weights = np.full(table.n_annotators, 1 / table.n_classes)
        for iteration in range(self.max_iter):
            self._store(table, weights)
            rate = self.learning_rate * 0.5 ** (iteration // self.halve_every)
            codes = self._winning_codes(table, self.posteriors_)
            step = rate * (agreement_with(table, codes) - weights)
            weights = weights + step
            if np.abs(step).max() <= self.tolerance:
                break
        self._store(table, weights)


def _agreement(responses: Responses) -> Floats:
    """Share of each annotator's votes that equal the majority vote, ``[annotator]``."""
    _, annotators, symbols = responses.by_item
    items = responses.item_of_response()
    if responses.is_plain:
        agrees = vote_posteriors(responses)[items, symbols]
        agreed = np.bincount(annotators, agrees, responses.n_annotators)
        return np.asarray(agreed / np.maximum(responses.responses_per_annotator, 1))
    winners, votes = vote_posteriors(responses)[items], symbol_votes(responses)
    cast = votes[annotators if len(votes) > 1 else 0, symbols]
    agreed = np.bincount(annotators, (winners * cast).sum(axis=1), responses.n_annotators)
    total = np.bincount(annotators, cast.sum(axis=1), responses.n_annotators)
    return np.asarray(np.divide(agreed, total, out=np.zeros_like(agreed), where=total > 0))


def _response_shares(responses: Responses) -> Floats:
    """Share of the responses that report each class, or speak for it, ``[class]``."""
    if responses.is_plain:
        return np.asarray(responses.responses_per_symbol / responses.n_responses)
    votes = weighted_votes(responses).sum(axis=0)
    return np.asarray(votes / votes.sum())


def _winners(scores: Floats) -> Flags:
    """Which classes have the largest score of the item, ``[item, class]``."""
    return np.asarray(scores == scores.max(axis=1, keepdims=True))


def agreement_with(responses: Responses, class_codes: Codes) -> Floats:
    """Return the share of each annotator's responses that equal the codes ``[item]``.

    The result has shape ``[annotator]`` and is zero for annotators without responses.
    """
    agrees = responses.by_item.symbols == class_codes[responses.item_of_response()]
    agreed = np.bincount(responses.by_item.codes, agrees, minlength=responses.n_annotators)
    return np.asarray(agreed / np.maximum(responses.responses_per_annotator, 1))
