"""MACE: annotators who know, or spam (Hovy et al. 2013)."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import at_least
from blindfuse.estimators.em import EMEstimator, EMStart, Parameters, plain_parameters
from blindfuse.model.model import Rule
from blindfuse.model.posteriors import ExpectedCounts

Floats = NDArray[np.float64]


class MACE(EMEstimator):
    """EM in which an annotator reports the truth with probability θ, and else draws from its habit.

    Γ_m(a, k) = θ_m 1[a = k] + (1 − θ_m) ξ_m(a). The M-step splits right answers into known and
    lucky ones with the last θ and ξ.

    Parameters
    ----------
    smoothing
        labels added to knowing and to not knowing, and to every label of each habit.

    The other parameters are those of :class:`DawidSkene`.

    Attributes
    ----------
    competence_ ``[annotator]``
        θ, how often each annotator knows.
    guess_probabilities_ ``[annotator, label]``
        ξ, what it reports when it does not.
    """

    competence_: Floats
    guess_probabilities_: Floats

    def __init__(
        self,
        *,
        smoothing: float = 0.1,
        class_prior: Literal["estimated", "uniform"] | Sequence[float] | Floats = "uniform",
        start: EMStart = "mv",
        max_iter: int = 1000,
        tolerance: float = 1e-7,
        rule: Rule = "map",
        threads: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.start: EMStart = start
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.rule: Rule = rule
        self.threads = threads

    def _prepare(
        self, annotators: NDArray[Any], classes: NDArray[Any], sums: ExpectedCounts
    ) -> None:
        at_least("smoothing", self.smoothing, 0)
        M, K = len(annotators), len(classes)
        self.competence_ = np.full(M, 0.5)
        self.guess_probabilities_ = np.full((M, K), 1 / K)

    def _m_step(self, sums: ExpectedCounts) -> Parameters:
        reported = sums.counts.sum(axis=2)
        labels = reported.sum(axis=1)
        knows = self.competence_[:, None]
        lucky = (1 - knows) * self.guess_probabilities_
        known = np.einsum("mkk->mk", sums.counts) * (knows / np.maximum(knows + lucky, 1e-300))
        total = labels + 2 * self.smoothing
        half = np.full_like(labels, 0.5)
        self.competence_ = np.divide(
            known.sum(axis=1) + self.smoothing, total, out=half, where=total > 0
        )
        spam = np.maximum(reported - known, 0.0) + self.smoothing
        total = spam.sum(axis=1, keepdims=True)
        even = np.full_like(spam, 1 / spam.shape[1])
        self.guess_probabilities_ = np.divide(spam, total, out=even, where=total > 0)
        habit = (1 - self.competence_)[:, None, None] * self.guess_probabilities_[:, :, None]
        confusions = habit + self.competence_[:, None, None] * np.eye(spam.shape[1])
        return plain_parameters(confusions, self._shares(sums))
