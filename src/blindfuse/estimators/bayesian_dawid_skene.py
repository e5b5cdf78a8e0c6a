"""Bayesian Dawid–Skene (IBCC) by variational Bayes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from blindfuse.errors import BadParameter
from blindfuse.estimators.em import EMEstimator, EMStart, Parameters
from blindfuse.model.model import Rule
from blindfuse.model.posteriors import ExpectedCounts

Floats = NDArray[np.float64]


class BayesianDawidSkene(EMEstimator):
    """Dawid–Skene with Dirichlet priors on every column and on the class shares.

    The E-step uses expected logarithms E[log Γ_m(a, k)] = ψ(α_mak) − ψ(Σ_a α_mak), where α are
    prior labels plus expected counts; likewise for the shares. The model holds posterior means.

    Parameters
    ----------
    right, wrong
        prior labels on and off the diagonal of every confusion matrix.
    class_count
        prior items of every class.

    The other parameters are those of :class:`DawidSkene`. ``log_likelihoods_`` are those of the
    expected logarithms, which need not rise at every step.
    """

    def __init__(
        self,
        *,
        right: float = 4.0,
        wrong: float = 1.0,
        class_count: float = 1.0,
        start: EMStart = "mv",
        max_iter: int = 1000,
        tolerance: float = 1e-7,
        rule: Rule = "map",
        threads: int | None = None,
    ) -> None:
        self.right = right
        self.wrong = wrong
        self.class_count = class_count
        self.start: EMStart = start
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.rule: Rule = rule
        self.threads = threads

    def _prepare(
        self, annotators: NDArray[Any], classes: NDArray[Any], sums: ExpectedCounts
    ) -> None:
        for name in ("right", "wrong", "class_count"):
            if not getattr(self, name) > 0:
                raise BadParameter(f"{name}={getattr(self, name)!r} must be positive.")

    def _m_step(self, sums: ExpectedCounts) -> Parameters:
        K = len(sums.totals)
        labels = sums.counts + self.wrong + (self.right - self.wrong) * np.eye(K)
        items = sums.totals + self.class_count
        return Parameters(
            labels / labels.sum(axis=1, keepdims=True),
            items / items.sum(),
            (
                np.exp(digamma(labels) - digamma(labels.sum(axis=1, keepdims=True))),
                np.exp(digamma(items) - digamma(items.sum())),
            ),
        )
