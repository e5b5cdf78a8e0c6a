"""Pulling the confusion matrices of annotators with few labels towards the crowd's.

A zero in an estimated confusion matrix vetoes a class, and an annotator with three answers has
many zeros. Both are mended by pseudo-labels: ``pseudo[reported, true]``, how many imaginary labels
of each kind every annotator is credited with. They are learned from how annotators differ from one
another, never from the truth.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

Floats = NDArray[np.float64]

ROUNDS = 200
CLOSE_ENOUGH = 1e-3
"""Relative change of all pseudo-labels at which learning them stops."""

MOST = 1e4
"""Pseudo-labels per class, at most: beyond, annotators are alike for all that can be seen."""


def shrink(confusions: Floats, counts: Floats, pseudo: Floats) -> Floats:
    """Mix each column with the pseudo-labels as if they were labels.

    Γ̃_m[:, k] = (n_mk Γ̂_m[:, k] + p[:, k]) / (n_mk + Σp[:, k]), where n_mk, the labels that
    annotator m is expected to have given to items of class k, is the sum of ``counts[m, :, k]``.
    """
    labels = counts.sum(axis=1, keepdims=True)
    mixed: Floats = (labels * confusions + pseudo) / (labels + pseudo.sum(axis=0))
    return mixed


def pooled_pseudo(counts: Floats, strength: float) -> Floats:
    """``strength`` pseudo-labels a class, spread like the labels of the whole crowd."""
    total = counts.sum(axis=0) + _almost_nothing(counts.shape[1])
    spread: Floats = strength * total / total.sum(axis=0)
    return spread


def learned_pseudo(counts: Floats) -> Floats:
    """The pseudo-labels under which the annotators' ``counts[m, reported, true]`` are most likely.

    Empirical Bayes: column k of every annotator is taken as a draw from one Dirichlet
    distribution with parameters p[:, k], so few pseudo-labels mean that annotators differ and
    many that they are alike. Minka's fixed point maximises the Dirichlet–multinomial likelihood.
    """
    K = counts.shape[1]
    counts = np.concatenate([counts, _almost_nothing(K)[None]])
    labels = counts.sum(axis=1)
    pseudo = pooled_pseudo(counts[:-1], 2.0)
    for _ in range(ROUNDS):
        strength = pseudo.sum(axis=0)
        up = (digamma(counts + pseudo) - digamma(pseudo)).sum(axis=0)
        down = (digamma(labels + strength) - digamma(strength)).sum(axis=0)
        better = np.maximum(pseudo * up / down, 1e-6)
        better *= np.minimum(1.0, MOST / better.sum(axis=0))
        done = np.all(np.abs(better - pseudo) <= CLOSE_ENOUGH * better)
        pseudo = better
        if done:
            break
    return pseudo


def _almost_nothing(n_classes: int) -> Floats:
    """One label a class, half of it right and half spread evenly, where the crowd says nothing."""
    return 0.5 * np.eye(n_classes) + 0.5 / n_classes
