"""One-coin Dawid–Skene: one accuracy per annotator."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from blindfuse.estimators.em import EMEstimator, EMParameters, EMStart, plain_parameters
from blindfuse.model.model import Rule
from blindfuse.model.posteriors import ExpectedCounts
from blindfuse.typing import Floats


class OneCoin(EMEstimator):
    """Dawid–Skene with one accuracy per annotator and errors spread evenly over the other classes.

    Γ_m(k, k) = p_m and Γ_m(a, k) = (1 − p_m)/(K − 1) for a ≠ k, fitted by EM. It has far fewer
    parameters than :class:`DawidSkene` and suits annotators with few responses. This is the
    one-coin model of Zhang et al. (2014), "Spectral Methods Meet EM: A Provably Optimal Algorithm
    for Crowdsourcing". Parameters and attributes are those of :class:`DawidSkene`.
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

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """p_m is the expected share of correct responses; 1/2 without responses."""
        K = len(expected.totals)
        correct = np.einsum("mkk->m", expected.counts)
        total = expected.counts.sum(axis=(1, 2))
        accuracy = np.divide(correct, total, out=np.full_like(correct, 0.5), where=total > 0)
        wrong = (1 - accuracy)[:, None, None] / (K - 1)
        confusions = np.where(np.eye(K, dtype=bool), accuracy[:, None, None], wrong)
        return plain_parameters(confusions, self._estimate_prior(expected))
