"""One-coin Dawid–Skene: one accuracy for every annotator."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.em import EMEstimator, EMStart, Parameters, plain_parameters
from blindfuse.model.model import Rule
from blindfuse.model.posteriors import ExpectedCounts

Floats = NDArray[np.float64]


class OneCoin(EMEstimator):
    """EM in which an annotator is right with one probability, and errs evenly among the others.

    Γ_m(k, k) = p_m and Γ_m(a, k) = (1 − p_m)/(K − 1). Far fewer parameters than
    :class:`DawidSkene`, whose other parameters are the same.
    """

    def __init__(
        self,
        *,
        class_prior: Literal["estimated", "uniform"] | Sequence[float] | Floats = "estimated",
        start: EMStart = "mv",
        max_iter: int = 1000,
        tolerance: float = 1e-7,
        rule: Rule = "map",
        threads: int | None = None,
    ) -> None:
        self.class_prior = class_prior
        self.start: EMStart = start
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.rule: Rule = rule
        self.threads = threads

    def _m_step(self, sums: ExpectedCounts) -> Parameters:
        """p_m is the expected share of right answers; one half for a silent annotator."""
        K = len(sums.totals)
        right = np.einsum("mkk->m", sums.counts)
        labels = sums.counts.sum(axis=(1, 2))
        accuracy = np.divide(right, labels, out=np.full_like(right, 0.5), where=labels > 0)
        wrong = (1 - accuracy)[:, None, None] / (K - 1)
        confusions = np.where(np.eye(K, dtype=bool), accuracy[:, None, None], wrong)
        return plain_parameters(confusions, self._shares(sums))
