"""Strengths of Dirichlet priors, learned from counts by maximum marginal likelihood.

Expected counts say by themselves how much the columns of confusion matrices, or the proportions of
classes, vary around a centre (empirical Bayes). Gold labels are not used.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from blindfuse.kernels.dirichlet import log_rising_factorials
from blindfuse.responses.anchor import Anchor
from blindfuse.typing import Floats

MIN_STRENGTH, MAX_STRENGTH = 0.1, 1e4
"""Bounds of a learned strength, in pseudo-counts. Beyond them the likelihood is flat."""
STRENGTH_TOLERANCE = 0.02
"""Absolute tolerance of the logarithm of a strength."""
MAX_CELLS = 200_000
"""Counts that strengths are learned from; of larger crowds, evenly spaced annotators are used."""
MIN_CELLS = 2_000
"""Counts from which a kernel sums their likelihood."""
SYMBOL_COUNT = 0.5
"""Pseudo-count of a symbol in a centre: no symbol is impossible for the whole crowd (Jeffreys)."""


def best_strength(
    log_likelihood: Callable[[float], float], tolerance: float = STRENGTH_TOLERANCE
) -> float:
    """Return the strength of largest likelihood between MIN_STRENGTH and MAX_STRENGTH.

    Last digits of the likelihood depend on the order of annotators and would change the way of the
    search, so they are dropped.
    """
    result = minimize_scalar(
        lambda log_strength: -round(log_likelihood(float(np.exp(log_strength))), 7),
        bounds=(np.log(MIN_STRENGTH), np.log(MAX_STRENGTH)),
        method="bounded",
        options={"xatol": tolerance},
    )
    return float(np.exp(result.x))


def column_log_likelihood(counts: Floats, centres: Floats) -> Callable[[float], float]:
    """Return log P(counts | s), where columns Γ_m(·, k) ~ Dirichlet(s c_mk) are integrated out.

    Axes of ``counts`` and of the centres c are ``[annotator, reported, true]``.
    """
    # Terms of cells and columns without counts are zero; of many classes, most are.
    used = np.nonzero(counts)
    cells, shares = counts[used], np.broadcast_to(centres, counts.shape)[used]
    columns = column_sums(counts)
    columns = columns[columns > 0]
    ones = np.ones_like(columns)
    return lambda s: _log_rising(cells, shares, s) - _log_rising(columns, ones, s)


def column_sums(counts: Floats) -> Floats:
    """Sums of ``counts[annotator, reported, true]`` over what was reported, ``[annotator, true]``.

    For few classes, einsum takes a fifth of the time of a sum over the middle axis.
    """
    return np.asarray(np.einsum("mak->mk", counts))


def _log_rising(counts: Floats, shares: Floats, strength: float) -> float:
    """Σ log Γ(n + s c) / Γ(s c) over counts n with shares c of the strength s."""
    if counts.size >= MIN_CELLS:
        return float(log_rising_factorials(counts, shares, strength))
    return float((gammaln(counts + strength * shares) - gammaln(strength * shares)).sum())


def symbol_centres(counts: Floats, anchor: Anchor) -> Floats:
    """Return centres of the columns where symbols are not classes; they sum to one.

    Column k is centred at what the crowd reports for class k or, where every annotator has symbols
    of its own, at what the annotator reports for all items. ``counts[annotator, reported, true]``
    are expected ones. The result has one row of annotators, or one per annotator with symbols of
    its own; symbols that such an annotator never reports stay impossible.
    """
    if anchor.kind == "none":
        reported = counts.sum(axis=2, keepdims=True)
        smoothed = reported + SYMBOL_COUNT * (reported > 0)
        total = np.maximum(smoothed.sum(axis=1, keepdims=True), SYMBOL_COUNT)
        return np.asarray(np.broadcast_to(smoothed / total, counts.shape))
    pooled = counts.sum(axis=0, keepdims=True)
    # Of a symbol that is rare for one class, the crowd's share among all classes is the best guess.
    overall = pooled.sum(axis=2, keepdims=True) + SYMBOL_COUNT
    smoothed = pooled + overall / overall.sum(axis=1, keepdims=True)
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


def learn_symbol_strength(counts: Floats, centres: Floats) -> float:
    """Return the s of largest likelihood of the counts, where symbols are not classes."""
    step = -(-counts.size // MAX_CELLS)
    shares = np.broadcast_to(centres, counts.shape)
    return best_strength(column_log_likelihood(counts[::step], shares[::step]))


def learn_class_pseudo_count(totals: Floats) -> float:
    """Return c/K from expected numbers of items ``totals[class]``, where π ~ Dirichlet(c/K, …).

    Where few items per class show no difference between classes, π is then nearly uniform; where
    classes differ, it is what the items say.
    """
    K = len(totals)
    counts = np.round(totals, 6)[None, :, None]  # last digits depend on the order of items
    return best_strength(column_log_likelihood(counts, np.full((1, K, 1), 1 / K))) / K
