"""A Dirichlet prior for the columns of confusion matrices whose symbols are not classes.

Γ_m(·, k) ~ Dirichlet(s c_mk): the centre c_mk is what the crowd reports for class k or, where every
annotator has symbols of its own, what the annotator reports for all items. The strength s is
learned by maximum marginal likelihood of expected counts, as in
:mod:`blindfuse.model.annotator_prior`.
"""

import numpy as np
from scipy.special import gammaln

from blindfuse.model.annotator_prior import MAX_CELLS, best_strength
from blindfuse.responses.anchor import Anchor
from blindfuse.typing import Floats

SYMBOL_COUNT = 0.5
"""Pseudo-count of a symbol in a centre: no symbol is impossible for the whole crowd (Jeffreys)."""


def column_centres(counts: Floats, anchor: Anchor) -> Floats:
    """Return c from expected counts ``[annotator, reported, true]``; columns sum to one.

    The result has one row of annotators, or one per annotator with symbols of its own; symbols
    that such an annotator never reports stay impossible.
    """
    if anchor.kind == "none":
        own = counts.sum(axis=2, keepdims=True)
        shares = (own + SYMBOL_COUNT * (own > 0)) / np.maximum(
            (own + SYMBOL_COUNT * (own > 0)).sum(axis=1, keepdims=True), SYMBOL_COUNT
        )
        return np.asarray(np.broadcast_to(shares, counts.shape))
    pooled = counts.sum(axis=0, keepdims=True)
    # Of a symbol that is rare for one class, the crowd's share among all classes is the best guess.
    overall = pooled.sum(axis=2, keepdims=True) + SYMBOL_COUNT
    smoothed = pooled + overall / overall.sum(axis=1, keepdims=True)
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


def learn_column_strength(counts: Floats, centres: Floats) -> float:
    """Return the s of largest Dirichlet-multinomial likelihood of the counts.

    Of large crowds, evenly spaced annotators are used.
    """
    step = -(-counts.size // MAX_CELLS)
    cells = counts[::step]
    shares = np.broadcast_to(centres, counts.shape)[::step]
    used = shares > 0
    cells, shares = cells[used], shares[used]
    columns = counts[::step].sum(axis=1)

    def log_likelihood(s: float) -> float:
        entries = gammaln(cells + s * shares).sum() - gammaln(s * shares).sum()
        return float(entries + columns.size * gammaln(s) - gammaln(columns + s).sum())

    return best_strength(log_likelihood)
