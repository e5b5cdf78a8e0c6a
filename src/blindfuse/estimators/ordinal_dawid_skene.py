"""Dawid–Skene for ordered classes: an annotator is one of many types that confuse neighbours."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import entr, ndtr, softmax

from blindfuse.estimators.base import ClassPrior
from blindfuse.estimators.em import EMEstimator, EMParameters, estimate_prior
from blindfuse.model.model import Model
from blindfuse.model.posteriors import ExpectedCounts, safe_log
from blindfuse.responses.alphabet import Alphabet
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Floats

BIASES = (-1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.2)
"""By how many classes an annotator perceives too high."""
NOISES = (0.15, 0.25, 0.4, 0.6, 0.9, 1.4)
"""Standard deviation of what an annotator perceives, in classes."""
GUESS_SHARES = (0.01, 0.1, 0.3, 0.6)
"""Share of responses that are guesses, all classes equally often."""
ACCURACIES = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.92, 0.97)
NEIGHBOUR_SHARES = (0.3, 0.6, 0.85, 0.97, 0.999)
"""Share of wrong responses that are neighbours of the class."""
UPPER_SHARES = (0.15, 0.5, 0.85)
"""Share of those neighbours that are above the class."""
TYPE_PSEUDO_COUNT = 0.02
"""Annotators that the prior of each type is worth."""


@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalDawidSkene(EMEstimator):
    """Dawid–Skene for ordered classes, such as grades: wrong responses are near the true class.

    An annotator is of one of some 300 types. One family perceives class k at k + b + σ z, with
    normal noise z, and reports the nearest class, except for a share ε of guesses: Γ(a, k) =
    (1 − ε) [Φ((a + ½ − k − b)/σ) − Φ((a − ½ − k − b)/σ)] + ε/K, a cumulative probit model. The
    other family has an accuracy and a share of wrong responses that are neighbours of k. The
    frequencies of the types are learned; the type of an annotator has a posterior distribution,
    fitted by variational Bayes. The model holds posterior means. Parameters are those of
    :class:`DawidSkene`.

    Attributes
    ----------
    biases_ ``[annotator]``
        by how many classes the annotator reports too high, on average.
    log_likelihoods_ ``[iteration]``
        computed from expected logarithms of Γ: a lower bound of the log-likelihood.

    Examples
    --------
    >>> from blindfuse import OrdinalDawidSkene
    >>> grades = [[1, 1, 2], [2, 2, 3], [3, 3, 4], [4, 4, 4], [1, 1, 2], [2, 2, 3]]
    >>> fitted = OrdinalDawidSkene().fit(grades)
    >>> fitted.labels_.tolist(), bool(fitted.biases_[2] > fitted.biases_[0])
    ([1, 2, 3, 4, 1, 2], True)
    """

    class_prior: ClassPrior = "estimated"

    def _initialize_m_step(
        self, annotators: Array, alphabet: Alphabet, expected: ExpectedCounts
    ) -> None:
        """Set the types, all of them equally frequent."""
        self._types = type_confusions(len(alphabet.classes))
        self._log_types = safe_log(self._types)
        self._frequencies = np.full(len(self._types), 1 / len(self._types))

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """Posterior of every annotator's type, then the frequencies of the types."""
        log_likelihoods = np.tensordot(expected.counts, self._log_types, axes=([1, 2], [1, 2]))
        log_frequencies = np.log(self._frequencies)
        posterior = softmax(log_likelihoods + log_frequencies, axis=1)
        log_prior = float((posterior @ log_frequencies).sum() + entr(posterior).sum())
        counts = posterior.sum(axis=0) + TYPE_PSEUDO_COUNT
        self._frequencies = counts / counts.sum()
        confusions = np.tensordot(posterior, self._types, axes=1)
        confusions /= confusions.sum(axis=1, keepdims=True)
        prior = estimate_prior(expected.totals, self.class_prior)
        evidence = np.exp(np.tensordot(posterior, self._log_types, axes=1)), prior
        return EMParameters(confusions, prior, evidence, log_prior)

    def _store(self, model: Model, table: Responses) -> None:
        position = np.arange(len(model.classes))
        shift = np.einsum("mak,a->mk", model.confusions, position) - position
        self.biases_ = shift @ model.prior
        super()._store(model, table)


def type_confusions(n_classes: int) -> Floats:
    """The confusion matrices ``[type, reported, true]`` of all types; the last only guesses."""
    guesses = np.full((1, n_classes, n_classes), 1 / n_classes)
    return np.concatenate([_noisy_types(n_classes), _neighbour_types(n_classes), guesses])


def _noisy_types(n_classes: int) -> Floats:
    """Types that perceive the class with bias and noise, and sometimes guess."""
    grid = np.array(list(product(BIASES, NOISES, GUESS_SHARES)))
    bias, noise, guesses = grid.T[:, :, None, None]
    cuts = np.arange(n_classes - 1)[:, None] + 0.5
    below = ndtr((cuts - np.arange(n_classes) - bias) / noise)
    ends = np.zeros_like(below[:, :1])
    perceived = np.diff(np.concatenate([ends, below, ends + 1], axis=1), axis=1)
    return np.asarray((1 - guesses) * perceived + guesses / n_classes)


def _neighbour_types(n_classes: int) -> Floats:
    """Types with an accuracy, whose wrong responses are mostly neighbours of the class."""
    grid = np.array(list(product(ACCURACIES, NEIGHBOUR_SHARES, UPPER_SHARES)))
    accuracy, near_share, upper = grid.T[:, :, None, None]
    distance = np.arange(n_classes)[:, None] - np.arange(n_classes)
    near = upper * (distance == 1) + (1 - upper) * (distance == -1)
    near = near / near.sum(axis=1, keepdims=True)
    far = (np.abs(distance) > 1) / np.maximum((np.abs(distance) > 1).sum(axis=0), 1)
    near_share = np.where(far.sum(axis=0) > 0, near_share, 1.0)
    wrong = near_share * near + (1 - near_share) * far
    return np.asarray(accuracy * (distance == 0) + (1 - accuracy) * wrong)
