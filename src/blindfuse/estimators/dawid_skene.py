"""Dawid and Skene's EM: a confusion matrix for every annotator."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import Shrinkage, at_least, pseudo_counts, require_classes
from blindfuse.estimators.em import EMEstimator, EMStart, Parameters, make_e_step
from blindfuse.estimators.streaming import Arrays, StreamEstimator
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_posteriors,
    expected_counts,
    safe_log,
    vote_shares,
)
from blindfuse.model.shrinkage import normalize_columns
from blindfuse.moments.em_statistics import EMStatistics
from blindfuse.responses.coding import positions

Floats = NDArray[np.float64]


class DawidSkene(EMEstimator, StreamEstimator):
    """Maximum likelihood of all confusion matrices and the prior (Dawid and Skene 1979).

    Parameters
    ----------
    class_prior
        ``"estimated"``, ``"uniform"`` (the paper's EM rows), or known shares ``[class]``.
    start
        ``"mv"`` (hard majority votes), ``"shares"`` (soft vote shares), ``"spectral"``
        (:class:`Spectral`), ``"blind"`` (:class:`BlindEnsemble`, Remark 2), or a :class:`Model`.
    pseudo_count
        added to every cell of every confusion matrix.
    shrinkage
        towards the crowd's mean matrix: None, a number of pseudo-labels a class, or
        ``"learned"`` from the start's counts, and again from those where EM has nearly ended.
    prior_model, prior_count
        a :class:`Model` of annotators from earlier work, and how many labels a class it is worth:
        whom it knows is shrunk towards that, not towards the crowd.
    weights ``[annotator]``
        how much an answer counts (see :class:`Model`); None is one for all.
    max_iter, tolerance
        iterations at most, and the rise per label, of the log-likelihood and what pseudo-labels add
        to it, at which they end.
    """

    _memory = EMStatistics

    def __init__(
        self,
        *,
        class_prior: Literal["estimated", "uniform"] | Sequence[float] | Floats = "estimated",
        start: EMStart = "mv",
        pseudo_count: float = 0.0,
        shrinkage: Shrinkage = "learned",
        prior_model: Model | None = None,
        prior_count: float = 20.0,
        weights: Floats | None = None,
        max_iter: int = 1000,
        tolerance: float = 1e-7,
        rule: Rule = "map",
        threads: int | None = None,
    ) -> None:
        self.class_prior = class_prior
        self.start: EMStart = start
        self.pseudo_count = pseudo_count
        self.shrinkage = shrinkage
        self.prior_model = prior_model
        self.prior_count = prior_count
        self.weights = weights
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.rule: Rule = rule
        self.threads = threads

    def _refit(self, statistics: EMStatistics, last: Model | None) -> tuple[Model, Arrays]:
        require_classes(statistics.classes)
        self.check()
        if self.weights is not None:
            raise BadParameter("weights= are of a table's annotators. Leave it out in streams.")
        patterns, sizes = statistics.patterns, statistics.sizes
        names = statistics.annotators, statistics.classes
        votes = count_posteriors(patterns, vote_shares(patterns) * sizes[:, None], self.threads)
        if last is None:
            table = statistics.items()
            sums = self.first_sums(table, self.begin(table))
        else:
            begin = _grown(last, *names)
            sums = expected_counts(patterns, begin.confusions, begin.prior, self.threads, sizes)
        e_step = make_e_step(patterns, self.threads, sizes=sizes)
        return self.estimate(e_step, sums, statistics.n_responses, *names, votes), {}

    def _prepare(
        self, annotators: NDArray[Any], classes: NDArray[Any], sums: ExpectedCounts
    ) -> None:
        at_least("pseudo_count", self.pseudo_count, 0)
        at_least("prior_count", self.prior_count, 0)
        pseudo = pseudo_counts(self.shrinkage, sums.counts) + self.pseudo_count
        self._pseudo = np.broadcast_to(pseudo, sums.counts.shape)
        if self.prior_model is not None:
            earlier = self.prior_model.for_annotators(annotators, classes)
            is_known = positions(annotators, self.prior_model.annotators) >= 0
            own = self.prior_count * earlier.confusions + self.pseudo_count
            self._pseudo = np.where(is_known[:, None, None], own, self._pseudo)

    @property
    def _learns_again(self) -> bool:
        return isinstance(self.shrinkage, str)

    def _m_step(self, sums: ExpectedCounts) -> Parameters:
        """Γ_m(a, k) ∝ expected counts plus pseudo-labels; an empty column stays uniform."""
        confusions, prior = normalize_columns(sums.counts + self._pseudo), self._shares(sums)
        # Not by BLAS, whose threads would spin between rounds.
        log_prior = float((self._pseudo * safe_log(confusions)).sum())
        if self.weights is None:
            return Parameters(confusions, prior, (confusions, prior), log_prior)
        worth = confusions ** self.weights[:, None, None]
        return Parameters(confusions, prior, (worth, prior), log_prior)


def _grown(last: Model, annotators: NDArray[Any], classes: NDArray[Any]) -> Model:
    """The last model with new annotators, who get the mean matrix, and new classes, hardly there.

    A new class begins with the share of one label, reported as if half of its labels were right.
    """
    K, new = len(last.classes), len(classes) - len(last.classes)
    if not new:
        return last.for_annotators(annotators, classes)
    known = last.for_annotators(annotators, last.classes)
    confusions = np.zeros((len(annotators), K + new, K + new))
    confusions[:, :K, :K] = known.confusions
    confusions[:, :, K:] = 0.5 / (K + new)
    confusions[:, range(K, K + new), range(K, K + new)] += 0.5
    share = 1 / (K + new) ** 2
    prior = np.concatenate([last.prior * (1 - new * share), np.full(new, share)])
    return Model(confusions, prior, annotators, classes)
