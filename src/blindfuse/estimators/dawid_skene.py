"""Dawid–Skene by EM: a confusion matrix per annotator, or one number: OneCoin and MACE."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import digamma

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import ClassPrior, NonNegative, ShrinkageStrength
from blindfuse.estimators.em import (
    EMEstimator,
    EMParameters,
    estimate_prior,
    initial_counts,
    make_e_step,
    plain_parameters,
)
from blindfuse.estimators.streaming import StreamEstimator
from blindfuse.model.model import Model, weigh_confusions
from blindfuse.model.posteriors import ExpectedCounts, safe_log
from blindfuse.model.shrinkage import PseudoCounts, learn_class_pseudo_count, make_shrinkage
from blindfuse.moments.statistics import EMStatistics
from blindfuse.parameters import array_at_least, instance_of, optional, positive
from blindfuse.responses.alphabet import Alphabet
from blindfuse.responses.coding import positions
from blindfuse.typing import Array, Floats


@dataclass(kw_only=True, eq=False, repr=False)
class DawidSkene(EMEstimator, StreamEstimator):
    """One confusion matrix per annotator and a class prior, fitted by EM (Dawid and Skene 1979).

    Annotators are conditionally independent given the class. EM maximises the log-likelihood
    Σ_n log Σ_k π_k Π_m Γ_m(f_m(n), k) plus the log prior that the pseudo-counts define.
    Reference: Dawid and Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using
    the EM Algorithm".

    Parameters
    ----------
    class_prior
        ``"estimated"``, ``"uniform"`` (as in the EM rows of the paper), or known probabilities
        ``[class]``.
    start
        ``"mv"`` (hard majority votes), ``"shares"`` (vote shares), ``"spectral"``
        (:class:`Spectral`), ``"blind"`` (:class:`BlindEnsemble`, Remark 2), or a :class:`Model`.
    pseudo_count
        added to every cell of every confusion matrix.
    shrinkage
        None, a number of pseudo-counts per class, distributed like the responses of all annotators,
        or ``"learned"``: confusion matrices are shrunk towards what the skill of the annotator
        predicts, and the class prior towards the uniform one, with strengths that are learned from
        the initial counts and again near convergence. Annotators
        with symbols of their own (clusterings) are shrunk towards how often they use each symbol.
    prior_model, prior_count
        a :class:`Model` of the annotators from earlier data, and its weight in responses per
        class. Annotators in that model are shrunk towards it instead of the mean.
    weights ``[annotator]``
        the exponent of each annotator's probabilities (see :class:`Model`); None for one each.
    max_iter, tolerance
        maximum number of iterations, and the rise of the log posterior per response at which EM
        stops.
    rule
        ``"map"`` (20) or ``"ml"``, which ignores the class prior.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    model_, labels_ ``[item]``, posteriors_ ``[item, class]``
        the fitted :class:`Model` and its result.
    log_likelihoods_ ``[iteration]``, stopped_
        log-likelihood before each M-step, and ``"converged"`` or ``"max_iter"``.

    Examples
    --------
    >>> from blindfuse import DawidSkene
    >>> votes = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
    >>> DawidSkene().fit_predict(votes).tolist()
    [0, 1, 0, 1, 0, 1]
    """

    class_prior: ClassPrior = "estimated"
    pseudo_count: NonNegative = 0.0
    shrinkage: ShrinkageStrength = "learned"
    prior_model: Annotated[Model | None, optional(instance_of(Model, description="a Model"))] = None
    prior_count: NonNegative = 20.0
    weights: Annotated[Floats | None, optional(array_at_least(0))] = None

    _statistics_class = EMStatistics

    def _refit(self, statistics: EMStatistics) -> Model:
        if self.weights is not None:
            raise BadParameter(
                "weights= cannot be used with batches, whose annotators may differ. "
                "Leave weights= out, or call fit on the whole table."
            )
        patterns, sizes, threads = statistics.patterns, statistics.sizes, self.threads
        if self.start in ("spectral", "blind") or not patterns.is_plain:
            table = statistics.to_responses()
            expected = initial_counts(table, self._resolve_start(table), None, threads)
        else:
            expected = initial_counts(patterns, self._resolve_start(patterns), None, threads, sizes)
        e_step = make_e_step(patterns, threads, sizes=sizes)
        names = statistics.annotators, statistics.alphabet
        return self._run_em(e_step, expected, statistics.n_responses, *names)

    def _initialize_m_step(
        self, annotators: Array, alphabet: Alphabet, expected: ExpectedCounts
    ) -> None:
        """Set the prior of each annotator: the earlier model, if that has them, else shrinkage."""
        is_learned = isinstance(self.shrinkage, str)
        self._class_pseudo_count = learn_class_pseudo_count(expected.totals) if is_learned else 0.0
        known = np.zeros(len(annotators), dtype=bool)
        if self.prior_model is not None:
            known = positions(annotators, self.prior_model.annotators) >= 0
        new = expected.counts if known.all() else expected.counts[~known]
        pseudo_counts = make_shrinkage(self.shrinkage, new, alphabet.anchor).pseudo_counts
        if self.prior_model is not None and known.any():
            names = annotators, alphabet.classes, alphabet.symbols
            earlier = self.prior_count * self.prior_model.for_annotators(*names).confusions
            if not known.all():
                earlier[~known] = pseudo_counts
            pseudo_counts = earlier
        self._prior = PseudoCounts(pseudo_counts + self.pseudo_count)

    @property
    def _initializes_again(self) -> bool:
        return isinstance(self.shrinkage, str)

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """Γ_m from expected counts and its prior; an empty column without a prior is uniform."""
        prior = estimate_prior(expected.totals + self._class_pseudo_count, self.class_prior)
        confusions = self._prior.shrink(expected.counts)
        log_prior = self._prior.log_density(confusions)
        log_prior += self._class_pseudo_count * float(safe_log(prior).sum())
        if self.weights is None:
            return EMParameters(confusions, prior, (confusions, prior), log_prior)
        if self.weights.shape != (len(confusions),):
            raise BadParameter(
                f"weights= has the shape {self.weights.shape}, but there are {len(confusions):,} "
                "annotators. Pass one weight per annotator."
            )
        evidence = weigh_confusions(confusions, self.weights)
        return EMParameters(confusions, prior, (evidence, prior), log_prior, self.weights)


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
