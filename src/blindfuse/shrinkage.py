"""Pulling the confusion matrices of annotators with few labels towards the crowd's.

A zero in an estimated confusion matrix vetoes a class, and an annotator with three answers has
many zeros. Both are mended by pseudo-labels: ``pseudo[reported, true]``, how many imaginary labels
of each kind every annotator is credited with. They are learned from how annotators differ from one
another, never from the truth.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

Floats = NDArray[np.float64]

CROWD_LABELS = 3.0
"""Pseudo-labels a class towards the crowd, where they are not learned."""

FEWEST, MOST = 1e-4, 1e4
"""Bounds of a single pseudo-label count: a trace, and more than annotators can be told apart by."""


def shrink(confusions: Floats, counts: Floats, pseudo: Floats) -> Floats:
    """Mix each column with the pseudo-labels as if they were labels.

    Γ̃_m[:, k] = (n_mk Γ̂_m[:, k] + p[:, k]) / (n_mk + Σp[:, k]), where n_mk, the labels that
    annotator m is expected to have given to items of class k, is the sum of ``counts[m, :, k]``.
    """
    labels = counts.sum(axis=1, keepdims=True)
    mixed: Floats = (labels * confusions + pseudo) / (labels + pseudo.sum(axis=0))
    return mixed


def columns_of(counts: Floats) -> Floats:
    """Confusion matrices from ``counts[m, reported, true]``; an empty column is uniform."""
    labels = counts.sum(axis=1, keepdims=True)
    even = np.full_like(counts, 1 / counts.shape[1])
    return np.asarray(np.divide(counts, labels, out=even, where=labels > 0))


def pooled_pseudo(counts: Floats, strength: float) -> Floats:
    """``strength`` pseudo-labels a class, spread like the labels of the whole crowd."""
    total = counts.sum(axis=0) + _almost_nothing(counts.shape[1])
    spread: Floats = strength * total / total.sum(axis=0)
    return spread


def learned_pseudo(counts: Floats) -> Floats:
    """The pseudo-labels under which the annotators' ``counts[m, reported, true]`` are most likely.

    Empirical Bayes: column k of every annotator is taken as a draw from one Dirichlet
    distribution with parameters p[:, k], so few pseudo-labels mean that annotators differ and
    many that they are alike. The Dirichlet–multinomial likelihood of all columns is maximised
    over log p.
    """
    K = counts.shape[1]
    counts = _without_order(counts)
    columns = np.concatenate([counts, _almost_nothing(K)[None]])
    labels = columns.sum(axis=1)

    def surprise(log_pseudo: Floats) -> tuple[float, Floats]:
        pseudo = np.exp(log_pseudo).reshape(K, K)
        total = pseudo.sum(axis=0)
        likelihood = (gammaln(columns + pseudo) - gammaln(pseudo)).sum()
        likelihood -= (gammaln(labels + total) - gammaln(total)).sum()
        slope = (digamma(columns + pseudo) - digamma(pseudo)).sum(axis=0)
        slope -= (digamma(labels + total) - digamma(total)).sum(axis=0)
        return -likelihood, -(pseudo * slope).ravel()

    best = minimize(
        surprise,
        np.log(pooled_pseudo(counts, 2.0)).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(FEWEST), np.log(MOST))] * K**2,
        options={"ftol": 1e-15, "gtol": 1e-6},
    )
    return np.asarray(np.exp(best.x).reshape(K, K), dtype=np.float64)


def _without_order(counts: Floats) -> Floats:
    """Counts in an order of their own, without their last digits, which depend on that of items.

    Minimising amplifies rounding: without this the same answers in another order, or added up on
    other machines, would give another model in the eighth digit.
    """
    rounded = np.round(counts, 6)
    return np.asarray(rounded[np.lexsort(rounded.reshape(len(rounded), -1).T)])


def _almost_nothing(n_classes: int) -> Floats:
    """One label a class, half of it right and half spread evenly, where the crowd says nothing."""
    return 0.5 * np.eye(n_classes) + 0.5 / n_classes
