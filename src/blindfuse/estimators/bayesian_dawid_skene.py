"""Bayesian Dawid–Skene (IBCC) by variational Bayes."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import digamma

from blindfuse.estimators.em import EMEstimator, EMParameters
from blindfuse.model.posteriors import ExpectedCounts
from blindfuse.parameters import positive
from blindfuse.responses.anchor import Alphabet
from blindfuse.typing import Array


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianDawidSkene(EMEstimator):
    """Dawid–Skene with Dirichlet priors on the confusion matrices and on the class prior (IBCC).

    Fitted by variational Bayes: the E-step uses E[log Γ_m(a, k)] = ψ(α_mak) − ψ(Σ_a α_mak), where
    α is the sum of pseudo-counts and expected counts, and likewise for the class prior. The model
    holds posterior means. Independent Bayesian classifier combination is due to Kim and Ghahramani
    (2012), "Bayesian Classifier Combination"; the variational algorithm is that of Simpson et al.
    (2013), "Dynamic Bayesian Combination of Multiple Imperfect Classifiers".

    Parameters
    ----------
    diagonal_pseudo_count, off_diagonal_pseudo_count
        pseudo-count of every cell on and off the diagonal of every confusion matrix.
    class_pseudo_count
        pseudo-count of every class in the class prior.
    start, max_iter, tolerance, rule, threads
        as in :class:`DawidSkene`.

    Attributes
    ----------
    log_likelihoods_ ``[iteration]``
        computed from the expected logarithms; they need not rise in every iteration.
    model_, labels_, posteriors_, stopped_
        as in :class:`DawidSkene`.
    """

    diagonal_pseudo_count: Annotated[float, positive()] = 4.0
    off_diagonal_pseudo_count: Annotated[float, positive()] = 1.0
    class_pseudo_count: Annotated[float, positive()] = 1.0

    def _initialize_m_step(
        self, annotators: Array, alphabet: Alphabet, expected: ExpectedCounts
    ) -> None:
        """Set the pseudo-counts ``[reported, true]``.

        A symbol that speaks for the class counts as on the diagonal; without a diagonal (scores,
        clusterings), all are off it.
        """
        _, R, K = expected.counts.shape
        on_diagonal, off_diagonal = self.diagonal_pseudo_count, self.off_diagonal_pseudo_count
        speaks = np.eye(K) if alphabet.is_plain else np.zeros((R, K))
        if alphabet.anchor.matrix is not None:
            speaks = alphabet.anchor.matrix / np.maximum(alphabet.anchor.matrix.max(), 1e-300)
        self._pseudo_counts = off_diagonal + (on_diagonal - off_diagonal) * speaks

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        alpha = expected.counts + self._pseudo_counts
        class_alpha = expected.totals + self.class_pseudo_count
        return EMParameters(
            alpha / alpha.sum(axis=1, keepdims=True),
            class_alpha / class_alpha.sum(),
            (
                np.exp(digamma(alpha) - digamma(alpha.sum(axis=1, keepdims=True))),
                np.exp(digamma(class_alpha) - digamma(class_alpha.sum())),
            ),
        )
