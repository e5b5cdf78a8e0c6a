"""One number per annotator: OneCoin, and MACE, whose annotators report the truth or guess."""

from dataclasses import dataclass

import numpy as np

from blindfuse.estimators.base import ClassPrior, NonNegative
from blindfuse.estimators.em import EMEstimator, EMParameters, estimate_prior, plain_parameters
from blindfuse.model.posteriors import ExpectedCounts
from blindfuse.responses.alphabet import Alphabet
from blindfuse.typing import Array


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


@dataclass(kw_only=True, eq=False, repr=False)
class MACE(EMEstimator):
    """Multi-annotator competence estimation: an annotator reports the true class or guesses.

    Annotator m reports the truth with probability θ_m and else draws a class from ξ_m, so that
    Γ_m(a, k) = θ_m 1[a = k] + (1 − θ_m) ξ_m(a). Fitted by EM; the M-step divides correct responses
    into known and guessed ones by the last θ and ξ. Reference: Hovy, Berg-Kirkpatrick, Vaswani and
    Hovy (2013), "Learning Whom to Trust with MACE".

    Parameters
    ----------
    smoothing
        pseudo-count of knowing, of guessing, and of every class in ξ.
    class_prior, start, max_iter, tolerance, rule, threads
        as in :class:`DawidSkene`.

    Attributes
    ----------
    competence_ ``[annotator]``
        θ, the probability that the annotator knows the class.
    guess_probabilities_ ``[annotator, reported]``
        ξ, the probability of each class when the annotator guesses.
    model_, labels_, posteriors_, log_likelihoods_, stopped_
        as in :class:`DawidSkene`.
    """

    smoothing: NonNegative = 0.1
    class_prior: ClassPrior = "uniform"

    def _initialize_m_step(
        self, annotators: Array, alphabet: Alphabet, expected: ExpectedCounts
    ) -> None:
        M, K = len(annotators), len(alphabet.classes)
        self.competence_ = np.full(M, 0.5)
        self.guess_probabilities_ = np.full((M, K), 1 / K)
        self._reported = np.einsum("mak->ma", expected.counts)
        self._n_responses = np.einsum("ma->m", self._reported)

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        reported, n_responses = self._reported, self._n_responses
        competence = self.competence_[:, None]
        known = (1 - competence) * self.guess_probabilities_
        known += competence
        np.divide(competence, np.maximum(known, 1e-300, out=known), out=known)
        known *= np.einsum("mkk->mk", expected.counts)
        total = n_responses + 2 * self.smoothing
        half = np.full_like(n_responses, 0.5)
        self.competence_ = np.divide(
            np.einsum("ma->m", known) + self.smoothing, total, out=half, where=total > 0
        )
        guessed = np.maximum(reported - known, 0.0) + self.smoothing
        total = np.einsum("ma->m", guessed)
        self.guess_probabilities_ = guessed / np.where(total > 0, total, 1.0)[:, None]
        self.guess_probabilities_[total == 0] = 1 / guessed.shape[1]
        guess = (1 - self.competence_)[:, None] * self.guess_probabilities_
        confusions = np.repeat(guess[:, :, None], guessed.shape[1], axis=2)
        np.einsum("mkk->mk", confusions)[:] += self.competence_[:, None]
        return plain_parameters(confusions, estimate_prior(expected.totals, self.class_prior))
