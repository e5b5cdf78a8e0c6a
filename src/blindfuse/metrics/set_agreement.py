"""Agreement between annotators who report sets of classes."""

from typing import Any

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.metrics.interval import Interval, bootstrap_interval, chance_corrected
from blindfuse.responses.response_sets import as_response_sets
from blindfuse.typing import Flags, Floats, Integers

MAX_SETS = 5000
"""Distinct sets of which all distances are computed; with more, responses are sampled evenly."""


def masi_alpha(
    responses: Any,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Interval:
    """Return Krippendorff's α of sets of classes, with the MASI distance.

    α = 1 − D_o / D_e, where D_o is the mean distance of two responses to the same item, with items
    weighted by their number of responses, and D_e that of any two responses. The distance of A and
    B is 1 − J · m: J = |A ∩ B| / |A ∪ B| is Jaccard's index, and m is 1 if the sets are equal, 2/3
    if one contains the other, 1/3 if they overlap, and 0 otherwise. Two empty sets are equal.

    Passonneau (2006), "Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic
    Annotation".

    Parameters
    ----------
    responses
        ResponseSets, or a frame of sets; items with fewer than two responses are left out.
    resamples, confidence, seed
        options of the bootstrap interval over items.
    """
    table = as_response_sets(responses)
    item, n = table.item_of_response(), table.responses_per_item
    paired = np.flatnonzero((n >= 2)[item])
    if not len(paired):
        raise BadLabels(
            "No item has two responses. Agreement needs items that several annotators labelled."
        )
    items, rows = np.unique(item[paired], return_inverse=True)
    within = _distances_within(table.members, table.symbols[paired], rows) / (n[items] - 1)
    has_many = len(np.unique(table.symbols[paired])) > MAX_SETS
    sample = slice(None, None, 1 + len(paired) // MAX_SETS if has_many else 1)
    used, symbols = np.unique(table.symbols[paired][sample], return_inverse=True)
    distances, row_of = _masi_distances(table.members[used]), rows[sample]

    def alpha(weights: Integers) -> float:
        totals = np.bincount(symbols, weights[row_of], len(used))
        total = totals.sum()
        by_chance = totals @ distances @ totals / max(total * (total - 1), 1.0)
        return chance_corrected(float(weights @ within / (weights @ n[items])), float(by_chance))

    return bootstrap_interval(
        alpha, np.ones(len(items), dtype=np.int64), resamples, confidence, seed
    )


def _distances_within(members: Flags, symbols: Integers, rows: Integers) -> Floats:
    """Sum over ordered pairs of responses to the same item of their distances, ``[item]``.

    ``symbols`` are the sets of the responses, and ``rows`` their items, in ascending order.
    """
    total = np.zeros(int(rows[-1]) + 1)
    for lag in range(1, int(np.bincount(rows).max())):
        first = np.flatnonzero(rows[lag:] == rows[:-lag])
        one, other = members[symbols[first]], members[symbols[first + lag]]
        distance = _masi(
            (one & other).sum(axis=1).astype(float), one.sum(axis=1), other.sum(axis=1)
        )
        total += 2 * np.bincount(rows[first], distance, len(total))
    return total


def _masi_distances(members: Flags) -> Floats:
    """MASI distances ``[set, set]`` of sets ``[set, class]``."""
    indicators = members.astype(np.float64)
    sizes = indicators.sum(axis=1)
    return _masi(indicators @ indicators.T, sizes[:, None], sizes)


def _masi(shared: Floats, first: Any, second: Any) -> Floats:
    """MASI distances of sets of these sizes that share this many classes."""
    union, smaller = first + second - shared, np.minimum(first, second)
    factor = np.select([union == shared, smaller == shared, shared > 0], [1.0, 2 / 3, 1 / 3], 0.0)
    jaccard = np.divide(shared, union, out=np.ones_like(shared), where=union > 0)
    return np.asarray(1 - jaccard * factor)
