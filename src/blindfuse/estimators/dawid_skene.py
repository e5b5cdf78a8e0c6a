"""Dawid–Skene: one confusion matrix per annotator, fitted by EM."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import digamma

from blindfuse.errors import BadParameter
from blindfuse.estimators.base import (
    ClassPrior,
    NonNegative,
    ShrinkageStrength,
    require_two_classes,
)
from blindfuse.estimators.em import (
    EMEstimator,
    EMParameters,
    estimate_prior,
    initial_counts,
    make_e_step,
)
from blindfuse.estimators.streaming import Arrays, StreamEstimator
from blindfuse.model.model import Model, weigh_confusions
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_posteriors,
    expected_counts,
    safe_log,
    vote_posteriors,
)
from blindfuse.model.shrinkage import (
    PseudoCounts,
    learn_class_pseudo_count,
    make_shrinkage,
)
from blindfuse.moments.em_statistics import EMStatistics
from blindfuse.parameters import array_at_least, instance_of, optional, positive
from blindfuse.responses.anchor import Alphabet
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

    def _refit(self, statistics: EMStatistics, last: Model | None) -> tuple[Model, Arrays]:
        require_two_classes(statistics.alphabet.classes)
        if self.weights is not None:
            raise BadParameter(
                "weights= cannot be used with batches, whose annotators may differ. "
                "Leave weights= out, or call fit on the whole table."
            )
        patterns, sizes = statistics.patterns, statistics.sizes
        names = statistics.annotators, statistics.alphabet
        votes = count_posteriors(patterns, vote_posteriors(patterns) * sizes[:, None], self.threads)
        if last is None:
            table = statistics.to_responses()
            expected = initial_counts(table, self._resolve_start(table), None, self.threads)
        else:
            start = _extend_model(last, *names)
            expected = expected_counts(patterns, start.confusions, start.prior, self.threads, sizes)
        e_step = make_e_step(patterns, self.threads, sizes=sizes)
        return self._run_em(e_step, expected, statistics.n_responses, *names, votes), {}

    def _initialize_m_step(
        self, annotators: Array, alphabet: Alphabet, expected: ExpectedCounts
    ) -> None:
        """Set the priors: the earlier model for annotators that it has, else shrinkage."""
        self._known = np.zeros(len(annotators), dtype=bool)
        if self.prior_model is not None:
            self._known = positions(annotators, self.prior_model.annotators) >= 0
            names = annotators, alphabet.classes, alphabet.symbols
            earlier = self.prior_model.for_annotators(*names)
            own = self.prior_count * earlier.confusions[self._known]
            self._earlier = PseudoCounts(own + self.pseudo_count)
        is_learned = isinstance(self.shrinkage, str)
        self._class_pseudo_count = learn_class_pseudo_count(expected.totals) if is_learned else 0.0
        new = expected.counts[~self._known]
        counts = new if len(new) else expected.counts
        self._shrinkage = make_shrinkage(self.shrinkage, counts, alphabet.anchor)

    @property
    def _initializes_again(self) -> bool:
        return isinstance(self.shrinkage, str)

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """Γ_m from expected counts and its prior; an empty column without a prior is uniform."""
        prior = estimate_prior(expected.totals + self._class_pseudo_count, self.class_prior)
        confusions, log_prior = self._shrunk(expected.counts)
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

    def _shrunk(self, counts: Floats) -> tuple[Floats, float]:
        """Confusion matrices from the counts, and their log density under the priors."""
        if not self._known.any():
            confusions = self._shrinkage.shrink(counts + self.pseudo_count)
            return confusions, self._shrinkage.log_density(confusions)
        confusions, log_prior = np.empty_like(counts), 0.0
        for rows, shrinkage in ((self._known, self._earlier), (~self._known, self._shrinkage)):
            if rows.any():
                extra = 0.0 if rows is self._known else self.pseudo_count
                confusions[rows] = shrinkage.shrink(counts[rows] + extra)
                log_prior += shrinkage.log_density(confusions[rows])
        return confusions, log_prior


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


def _extend_model(last: Model, annotators: Array, alphabet: Alphabet) -> Model:
    """Return the last model with new annotators, classes and symbols.

    New annotators get the mean confusion matrix. A new class gets a prior of 1/K², and annotators
    report it correctly with probability 1/2 plus an even share of the rest. A new symbol that is
    not a class has probability 1/R² for every class.
    """
    classes = alphabet.classes
    if not alphabet.is_plain:
        return _add_symbols(last, annotators, alphabet)
    K, new = len(last.classes), len(classes) - len(last.classes)
    if not new:
        return last.for_annotators(annotators, classes)
    known = last.for_annotators(annotators, last.classes)
    confusions = np.zeros((len(annotators), K + new, K + new))
    confusions[:, :K, :K] = known.confusions
    confusions[:, :, K:] = 0.5 / (K + new)
    confusions[:, range(K, K + new), range(K, K + new)] += 0.5
    probability = 1 / (K + new) ** 2
    prior = np.concatenate([last.prior * (1 - new * probability), np.full(new, probability)])
    return Model(confusions, prior, annotators, classes)


def _add_symbols(last: Model, annotators: Array, alphabet: Alphabet) -> Model:
    """Return the last model for these annotators and symbols, some of which may be new."""
    classes, symbols, _ = alphabet
    known = last.for_annotators(annotators, classes, last.symbols)
    old = positions(symbols, last.symbols)
    confusions = np.where((old < 0)[None, :, None], 1 / len(symbols) ** 2, known.confusions[:, old])
    confusions /= confusions.sum(axis=1, keepdims=True)
    return Model(confusions, known.prior, annotators, classes, symbols=symbols)
