"""Shrinkage of confusion matrices towards the crowd, by pseudo-counts.

An annotator with three responses has mostly zeros in the estimated confusion matrix, and a zero
excludes a class. Pseudo-counts ``[reported, true]`` (the parameters of a Dirichlet prior on each
column) are added to the counts of every annotator. They are fixed, or learned from how much
annotators differ from one another; gold labels are not used.
"""

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.dirichlet import dirichlet_likelihood

Floats = NDArray[np.float64]
Columns = tuple[Floats, Floats]
"""Counts ``[reported, true, annotator]`` and their sums ``[true, annotator]``."""

DEFAULT_PSEUDO_COUNT = 3.0
"""Pseudo-counts per class, distributed like the responses of all annotators, if not learned."""

VOTE_PSEUDO_COUNT = 1.0
"""The same for confusion matrices against the majority vote: enough to fill empty columns."""

MIN_PSEUDO_COUNT, MAX_PSEUDO_COUNT = 1e-4, 1e4
"""Bounds of one learned pseudo-count. Beyond them the likelihood is flat."""

GRADIENT_TOLERANCE = 1e-4
"""Largest derivative with respect to log p at which Newton's method stops."""
ROUNDING = 1e-11
"""Relative decrease of the log-likelihood that counts as rounding error."""
MAX_STEPS = 200
"""Maximum number of Newton steps."""
MAX_CUTS = 12
"""Maximum number of times a step is cut to a quarter."""
MAX_STEP_LENGTH = 3.0
"""Largest change of any log p in one step."""
MAX_CURVATURE = 1 - 1e-6
"""Upper bound of z pᵀ(p/h); below one, the modified Hessian is negative definite."""
TINY = np.finfo(float).tiny
"""Keeps divisors from being zero."""


def shrink(confusions: Floats, counts: Floats, pseudo_counts: Floats) -> Floats:
    """Mix each column with the pseudo-counts, weighted by the annotator's number of responses.

    Γ̃_m[:, k] = (n_mk Γ̂_m[:, k] + p[:, k]) / (n_mk + Σ_a p[a, k]), where n_mk is the expected
    number of responses of annotator m to items of class k, the sum of ``counts[m, :, k]``.
    """
    n_responses = counts.sum(axis=1, keepdims=True)
    shrunk: Floats = (n_responses * confusions + pseudo_counts) / (
        n_responses + pseudo_counts.sum(axis=0)
    )
    return shrunk


def normalize_columns(counts: Floats) -> Floats:
    """Return confusion matrices from ``counts[m, reported, true]``; an empty column is uniform."""
    sums = counts.sum(axis=1, keepdims=True)
    if sums.all():
        return np.asarray(counts / sums)
    uniform = np.full_like(counts, 1 / counts.shape[1])
    return np.asarray(np.divide(counts, sums, out=uniform, where=sums > 0))


def pooled_pseudo_counts(counts: Floats, strength: float) -> Floats:
    """Return ``strength`` pseudo-counts per class, distributed like all annotators' responses."""
    pooled = counts.sum(axis=0) + _weak_counts(counts.shape[1])
    pseudo_counts: Floats = strength * pooled / pooled.sum(axis=0)
    return pseudo_counts


def vote_confusions(counts: Floats) -> Floats:
    """Return confusion matrices that take the majority vote for the truth.

    ``counts[m, reported, true]`` are those of :func:`~blindfuse.model.posteriors.count_votes`.
    """
    return normalize_columns(counts + pooled_pseudo_counts(counts, VOTE_PSEUDO_COUNT))


def learned_pseudo_counts(counts: Floats) -> Floats:
    """Return the pseudo-counts that maximise the likelihood of ``counts[m, reported, true]``.

    Empirical Bayes: column k of every annotator is a draw from one Dirichlet distribution with
    parameters p[:, k]. Small pseudo-counts mean that annotators differ, large ones that they are
    similar. The Dirichlet–multinomial likelihood of each column is maximised over log p by
    Newton's method; a step that would decrease it is cut.
    """
    columns = _canonical_columns(counts)
    pooled = columns[0].sum(axis=2)
    bounds = np.log(MIN_PSEUDO_COUNT), np.log(MAX_PSEUDO_COUNT)
    log_p = np.log(np.clip(2.0 * pooled / pooled.sum(axis=0), MIN_PSEUDO_COUNT, MAX_PSEUDO_COUNT))
    likelihood, gradient, step = _newton_step(columns, log_p)
    for _ in range(MAX_STEPS):
        if np.abs(gradient).max() <= GRADIENT_TOLERANCE:
            break
        size = np.ones_like(likelihood)
        for _ in range(MAX_CUTS):
            candidate = np.clip(log_p + size * step, *bounds)
            new_likelihood, gradient, new_step = _newton_step(columns, candidate)
            lower = new_likelihood < likelihood - ROUNDING * np.abs(likelihood)
            if not lower.any():
                break
            size[lower] /= 4
        log_p, likelihood, step = candidate, new_likelihood, new_step
    return np.asarray(np.exp(log_p))


def _newton_step(columns: Columns, log_p: Floats) -> tuple[Floats, Floats, Floats]:
    """Log-likelihoods ``[true]``, gradients and Newton steps ``[reported, true]`` at log p.

    The Hessian of a column is −diag(h) + z p pᵀ, so by the Sherman–Morrison formula the step is
    g/h + z (p/h) (p/h)ᵀg / (1 − z pᵀ(p/h)), at the cost of the gradient g. Where the Hessian is
    not negative definite, h is made positive and z is reduced until it is. Entries at a bound
    with a gradient that points outwards do not move.
    """
    p = np.exp(log_p)
    K, L = p.shape
    likelihood, z = np.empty(L), np.empty(L)
    slopes, bends, total = np.empty((K, L)), np.empty((K, L)), np.empty(L)
    dirichlet_likelihood(*columns, p, likelihood, slopes, bends, total, z)
    gradient = p * (slopes - total)
    h = np.maximum(np.abs(p * p * bends - gradient), 1e-3 * p * slopes)
    free = (gradient > 0) & (p < MAX_PSEUDO_COUNT) | (gradient < 0) & (p > MIN_PSEUDO_COUNT)
    gradient, p_over_h = np.where(free, gradient, 0.0), np.where(free, p, 0.0) / h
    curvature = (p_over_h * p).sum(axis=0)
    z = np.minimum(z, MAX_CURVATURE / np.maximum(curvature, TINY))
    step = gradient / h + p_over_h * (z * (p_over_h * gradient).sum(axis=0) / (1 - z * curvature))
    length = np.maximum(np.abs(step).max(axis=0), TINY)
    return likelihood, gradient, step * np.minimum(1, MAX_STEP_LENGTH / length)


def _canonical_columns(counts: Floats) -> Columns:
    """Rounded and sorted counts, so that the result does not depend on the order of the input.

    Maximisation amplifies rounding: without this, the same responses in another order, or summed
    on other machines, would change the model in the eighth digit. The weak counts are added as
    one more annotator.
    """
    with_weak = np.concatenate([counts, _weak_counts(counts.shape[1])[None]])
    cells = np.ascontiguousarray(np.round(with_weak, 6).transpose(1, 2, 0))
    sums = cells.sum(axis=0)
    cells.sort(axis=2)
    sums.sort(axis=1)
    return cells, sums


def _weak_counts(n_classes: int) -> Floats:
    """One response per class, half of it correct and half uniform, for classes without data."""
    return 0.5 * np.eye(n_classes) + 0.5 / n_classes
