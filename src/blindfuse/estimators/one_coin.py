"""One-coin Dawid–Skene: one accuracy per annotator."""

from dataclasses import dataclass

import numpy as np

from blindfuse.estimators.base import ClassPrior
from blindfuse.estimators.em import EMEstimator, EMParameters, estimate_prior, plain_parameters
from blindfuse.model.posteriors import ExpectedCounts


@dataclass(kw_only=True, eq=False, repr=False)
class OneCoin(EMEstimator):
    """Dawid–Skene with one accuracy per annotator and errors spread evenly over the other classes.

    Γ_m(k, k) = p_m and Γ_m(a, k) = (1 − p_m)/(K − 1) for a ≠ k, fitted by EM. It has far fewer
    parameters than :class:`DawidSkene` and suits annotators with few responses. This is the
    one-coin model of Zhang et al. (2014), "Spectral Methods Meet EM: A Provably Optimal Algorithm
    for Crowdsourcing". Parameters and attributes are those of :class:`DawidSkene`.
    """

    class_prior: ClassPrior = "estimated"

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """p_m is the expected share of correct responses; 1/2 without responses."""
        K = len(expected.totals)
        correct = np.einsum("mkk->m", expected.counts)
        total = expected.counts.sum(axis=(1, 2))
        accuracy = np.divide(correct, total, out=np.full_like(correct, 0.5), where=total > 0)
        wrong = (1 - accuracy)[:, None, None] / (K - 1)
        confusions = np.where(np.eye(K, dtype=bool), accuracy[:, None, None], wrong)
        return plain_parameters(confusions, estimate_prior(expected.totals, self.class_prior))
