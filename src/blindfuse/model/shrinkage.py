"""Pulling the confusion matrices of annotators with few labels towards the crowd's.

A zero in an estimated confusion matrix vetoes a class, and an annotator with three answers has
many zeros. Both are mended by pseudo-labels: ``pseudo[reported, true]``, how many imaginary labels
of each kind every annotator is credited with. They are learned from how annotators differ from one
another, never from the truth.
"""

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.dirichlet import dirichlet_likelihood

Floats = NDArray[np.float64]
Columns = tuple[Floats, Floats]
"""Counts ``[reported, true, annotator]`` and their sums ``[true, annotator]``."""

DEFAULT_PSEUDO_COUNT = 3.0
"""Pseudo-labels a class towards the crowd, where they are not learned."""

VOTE_STRENGTH = 1.0
"""Labels' worth of the crowd's matrix in each annotator's start: enough to fill empty columns."""

FEWEST, MOST = 1e-4, 1e4
"""Bounds of a single pseudo-label count: a trace, and more than annotators can be told apart by."""

FLAT, ROUNDING = 1e-4, 1e-11
"""Slope over log p at which Newton's method ends; change of a likelihood that is none."""
MOST_STEPS, MOST_CUTS, LONGEST = 200, 12, 3.0
"""Steps of Newton's method, how often one is cut to a quarter, how far one goes in log p."""
ALMOST_ONE, TINY = 1 - 1e-6, np.finfo(float).tiny
"""Keep the Hessian downwards in all directions, and divisors from being zero."""


def shrink(confusions: Floats, counts: Floats, pseudo: Floats) -> Floats:
    """Mix each column with the pseudo-labels as if they were labels.

    Γ̃_m[:, k] = (n_mk Γ̂_m[:, k] + p[:, k]) / (n_mk + Σp[:, k]), where n_mk, the labels that
    annotator m is expected to have given to items of class k, is the sum of ``counts[m, :, k]``.
    """
    labels = counts.sum(axis=1, keepdims=True)
    mixed: Floats = (labels * confusions + pseudo) / (labels + pseudo.sum(axis=0))
    return mixed


def normalize_columns(counts: Floats) -> Floats:
    """Confusion matrices from ``counts[m, reported, true]``; an empty column is uniform."""
    labels = counts.sum(axis=1, keepdims=True)
    if labels.all():
        return np.asarray(counts / labels)
    even = np.full_like(counts, 1 / counts.shape[1])
    return np.asarray(np.divide(counts, labels, out=even, where=labels > 0))


def pooled_pseudo_counts(counts: Floats, strength: float) -> Floats:
    """``strength`` pseudo-labels a class, spread like the labels of the whole crowd."""
    total = counts.sum(axis=0) + _almost_nothing(counts.shape[1])
    spread: Floats = strength * total / total.sum(axis=0)
    return spread


def vote_confusions(counts: Floats) -> Floats:
    """Each annotator's confusion matrix, taking the majority vote for the truth."""
    return normalize_columns(counts + pooled_pseudo_counts(counts, VOTE_STRENGTH))


def learned_pseudo_counts(counts: Floats) -> Floats:
    """The pseudo-labels under which the annotators' ``counts[m, reported, true]`` are most likely.

    Empirical Bayes: column k of every annotator is taken as a draw from one Dirichlet
    distribution with parameters p[:, k], so few pseudo-labels mean that annotators differ and
    many that they are alike. The Dirichlet–multinomial likelihood of each column is maximised
    over log p by Newton's method; a step that would lower it is cut.
    """
    columns = _without_order(counts)
    crowd = columns[0].sum(axis=2)
    logs = np.log(np.clip(2.0 * crowd / crowd.sum(axis=0), FEWEST, MOST))
    likelihood, slope, step = _newton(columns, logs)
    for _ in range(MOST_STEPS):
        if np.abs(slope).max() <= FLAT:
            break
        size = np.ones_like(likelihood)
        for _ in range(MOST_CUTS):
            tried = np.clip(logs + size * step, np.log(FEWEST), np.log(MOST))
            found, slope, next_step = _newton(columns, tried)
            lower = found < likelihood - ROUNDING * np.abs(likelihood)
            if not lower.any():
                break
            size[lower] /= 4
        logs, likelihood, step = tried, found, next_step
    return np.asarray(np.exp(logs))


def _newton(columns: Columns, logs: Floats) -> tuple[Floats, Floats, Floats]:
    """At log p ``[reported, true]``: likelihoods ``[true]``, slopes, and Newton's step upwards.

    The Hessian of a column is a diagonal, −h, and a product of vectors, z p pᵀ, so that the step
    costs no more than the slope g: g/h + z (p/h) (p/h)ᵀg / (1 − z pᵀ(p/h)). Where that is not
    downwards in all directions, h is taken as positive and z as small as it must be. A bound is
    not pushed against.
    """
    pseudo = np.exp(logs)
    K, L = pseudo.shape
    likelihood, z = np.empty(L), np.empty(L)
    slopes, bends, total = np.empty((K, L)), np.empty((K, L)), np.empty(L)
    dirichlet_likelihood(*columns, pseudo, likelihood, slopes, bends, total, z)
    slope = pseudo * (slopes - total)
    h = np.maximum(np.abs(pseudo * pseudo * bends - slope), 1e-3 * pseudo * slopes)
    free = (slope > 0) & (pseudo < MOST) | (slope < 0) & (pseudo > FEWEST)
    slope, pull = np.where(free, slope, 0.0), np.where(free, pseudo, 0.0) / h
    along = (pull * pseudo).sum(axis=0)
    z = np.minimum(z, ALMOST_ONE / np.maximum(along, TINY))
    step = slope / h + pull * (z * (pull * slope).sum(axis=0) / (1 - z * along))
    return (
        likelihood,
        slope,
        step * np.minimum(1, LONGEST / np.maximum(np.abs(step).max(axis=0), TINY)),
    )


def _without_order(counts: Floats) -> Columns:
    """Columns in an order of their own, without last digits, which depend on the order of items.

    Minimising amplifies rounding: without this the same answers in another order, or added up on
    other machines, would give another model in the eighth digit. One annotator is added who says
    almost nothing.
    """
    everybody = np.concatenate([counts, _almost_nothing(counts.shape[1])[None]])
    cells = np.ascontiguousarray(np.round(everybody, 6).transpose(1, 2, 0))
    labels = cells.sum(axis=0)
    cells.sort(axis=2)
    labels.sort(axis=1)
    return cells, labels


def _almost_nothing(n_classes: int) -> Floats:
    """One label a class, half of it right and half spread evenly, where the crowd says nothing."""
    return 0.5 * np.eye(n_classes) + 0.5 / n_classes
