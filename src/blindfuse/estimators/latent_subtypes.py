"""Dawid–Skene for items that are not all alike: clear and contested ones of every class."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import TableEstimator, at_least, to_fit
from blindfuse.estimators.em import Parameters, make_e_step, plain_parameters, run_em
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    compute_posteriors,
    count_posteriors,
    vote_shares,
    weighted_votes,
)
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


class LatentSubtypes(TableEstimator):
    """Each class has several kinds of items, and every annotator a column for each kind.

    Dawid–Skene takes annotators as independent given the class. They are not where some items are
    harder than others: then they err together, and EM takes the contested items of one class for
    another class. Here such items may be a kind of their own, P(answers) = Σ_l π_l Π_m Γ_m(f_m, l)
    over K · ``subtypes`` kinds l, and a kind belongs to the class that the crowd reports most
    in it, each annotator weighted by its labels. EM starts from the majority vote, with the items
    of each class cut into kinds of equal number by how contested they are.

    Parameters
    ----------
    subtypes
        of items in each class.
    shrinkage
        pseudo-labels with which a column is pulled towards the crowd's.
    max_iter, tolerance
        iterations at most, and the rise of log-likelihood per label at which they end.

    Attributes
    ----------
    subtype_confusions_ ``[annotator, reported, kind]``, subtype_prior_ ``[kind]``
        Γ and π.
    class_of_subtype_ ``[kind]``
        the code of each kind's class.
    model_
        kinds of a class taken together, in proportion to their shares.
    """

    subtype_confusions_: Floats
    subtype_prior_: Floats
    class_of_subtype_: NDArray[np.intp]
    model_: Model
    log_likelihoods_: Floats
    stopped_: str

    def __init__(
        self,
        *,
        subtypes: int = 2,
        shrinkage: float = DEFAULT_PSEUDO_COUNT,
        max_iter: int = 1000,
        tolerance: float = 1e-6,
        threads: int | None = None,
    ) -> None:
        self.subtypes = subtypes
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.threads = threads

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        for name in ("subtypes", "max_iter"):
            at_least(name, getattr(self, name), 1)
        for name in ("shrinkage", "tolerance"):
            at_least(name, getattr(self, name), 0)
        start = count_posteriors(
            table, _by_contest(table, self.subtypes, self.threads), self.threads
        )
        found = run_em(
            make_e_step(table, self.threads),
            self._m_step,
            start,
            table.n_responses,
            self.max_iter,
            self.tolerance,
        )
        self.log_likelihoods_, self.stopped_ = found.history, found.stopped
        self.subtype_confusions_, self.subtype_prior_, *_ = found.parameters
        crowd = np.tensordot(table.responses_per_annotator, self.subtype_confusions_, axes=1)
        self.class_of_subtype_ = crowd.argmax(axis=0)
        self.annotators_, self.classes_ = table.annotators, table.classes
        self.model_ = self._together()
        self.posteriors_ = self._posteriors(table)
        self.labels_ = self._named(self.posteriors_)
        return self

    def _m_step(self, sums: ExpectedCounts) -> Parameters:
        """Γ_m(a, l) ∝ expected counts and pseudo-labels that are spread like the crowd's."""
        K = sums.counts.shape[1]
        crowd = sums.counts.sum(axis=0) + 1 / K
        counts = sums.counts + max(self.shrinkage, 1e-9) * crowd / crowd.sum(axis=0)
        confusions = counts / counts.sum(axis=1, keepdims=True)
        return plain_parameters(confusions, sums.totals / sums.totals.sum())

    def subtype_posteriors(self, responses: Responses) -> Floats:
        """Posteriors ``[item, kind]`` of items by annotators that ``fit`` has seen."""
        known = responses.recoded(self.annotators_, self.classes_)
        return compute_posteriors(
            known, self.subtype_confusions_, self.subtype_prior_, self.threads
        )[0]

    def _posteriors(self, responses: Responses) -> Floats:
        one_hot = np.eye(len(self.classes_))[self.class_of_subtype_]
        return np.asarray(self.subtype_posteriors(responses) @ one_hot)

    def _together(self) -> Model:
        """Kinds of one class as one; a class that no kind belongs to keeps those it began with."""
        K = len(self.classes_)
        share = self.subtype_prior_[:, None] * np.eye(K)[self.class_of_subtype_]
        began = np.repeat(np.eye(K), self.subtypes, axis=0)
        weights = np.where(share.sum(axis=0) > 0, share, began)
        weights /= weights.sum(axis=0)
        prior = share.sum(axis=0)
        confusions = self.subtype_confusions_ @ weights
        return Model(confusions, prior / prior.sum(), self.annotators_, self.classes_)


def _by_contest(responses: Responses, subtypes: int, threads: int | None) -> Floats:
    """Beliefs ``[item, kind]`` to begin with: the vote's class, its kind by the winner's share."""
    N, K = responses.n_items, responses.n_classes
    shares = vote_shares(responses, threads)
    votes = weighted_votes(responses)
    top = votes.max(axis=1) / np.maximum(votes.sum(axis=1), 1.0)
    kind = np.zeros(N, dtype=np.intp)
    for k in range(K):
        of_class = np.flatnonzero(shares.argmax(axis=1) == k)
        _, rank, equals = np.unique(-top[of_class], return_inverse=True, return_counts=True)
        middles = (np.cumsum(equals) - equals / 2) / max(len(of_class), 1)
        kind[of_class] = np.minimum(middles[rank] * subtypes, subtypes - 1)
    beliefs = np.zeros((N, K, subtypes))
    np.put_along_axis(beliefs, kind[:, None, None], shares[:, :, None], axis=2)
    return beliefs.reshape(N, K * subtypes)
