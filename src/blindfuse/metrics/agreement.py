"""Agreement between annotators, or between two sets of labels.

A coefficient is 1 for perfect agreement, or if all responses are of one class, and 0 at chance
level. It is a sum over items. Items with the same counts of responses per class therefore share
one row, and a bootstrap resample is one integer weight per row.
"""

from collections.abc import Callable
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.metrics.accuracy import check_codes
from blindfuse.metrics.interval import (
    Bootstrap,
    Interval,
    bootstrap_interval,
    chance_corrected,
)
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.response_sets import as_response_sets
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.typing import Array, Flags, Floats, Integers

Level = Literal["nominal", "ordinal", "interval"]

MAX_SETS = 5000
"""Distinct sets of which all distances are computed; with more, responses are sampled evenly."""


def cohen_kappa(first: ArrayLike, second: ArrayLike, **bootstrap: Unpack[Bootstrap]) -> Interval:
    """Return Cohen's κ of two annotators, or of any two sets of labels.

    κ = 1 − (1 − Σ_k p_kk) / (1 − Σ_k p_k· p_·k), where p_kl is the share of items with label k in
    the first set and l in the second.

    Cohen (1960), "A Coefficient of Agreement for Nominal Scales".

    Parameters
    ----------
    first, second ``[item]``
        class codes; items where either is −1 are left out.
    """
    first_codes, second_codes = check_codes(first), check_codes(second)
    if first_codes.shape != second_codes.shape:
        raise BadLabels(
            f"The two sets of labels have the shapes {first_codes.shape} and {second_codes.shape}. "
            "Pass one code per item in both, −1 where there is none."
        )
    both = (first_codes >= 0) & (second_codes >= 0)
    if not both.any():
        raise BadLabels(
            "No item has a label in both sets. Agreement needs items that are labelled twice."
        )
    pairs = np.stack([first_codes[both], second_codes[both]])
    used, codes = np.unique(pairs, return_inverse=True)
    K = len(used)

    def kappa(weights: Integers) -> float:
        n, table = weights.sum(), weights.reshape(K, K)
        by_chance = 1 - table.sum(axis=0) @ table.sum(axis=1) / n**2
        return chance_corrected((n - np.trace(table)) / n, by_chance)

    counts = np.bincount(codes[0] * K + codes[1], minlength=K * K)
    return bootstrap_interval(kappa, counts, **bootstrap)


def adjusted_rand_index(first: ArrayLike, second: ArrayLike) -> float:
    """Return the adjusted Rand index of two partitions of the same items.

    (S − E) / (½ (A + B) − E), where A and B are the numbers of pairs of items that each partition
    puts together, S those that both do, and E = A B / C(n, 2) what is expected of S by chance. It
    is 1 for equal partitions, whatever their names, and 0 on average for independent ones. Hubert
    and Arabie (1985), "Comparing Partitions".
    """
    codes, others = (
        np.unique(np.asarray(each), return_inverse=True)[1] for each in (first, second)
    )
    if len(codes) != len(others):
        raise BadLabels(
            f"The partitions have {len(codes):,} and {len(others):,} items. Pass the same items."
        )
    joint = codes * (int(others.max(initial=0)) + 1) + others

    def pairs(codes: Integers) -> float:
        sizes = np.unique(codes, return_counts=True)[1].astype(float)
        return float((sizes * (sizes - 1)).sum() / 2)

    n = len(codes)
    together = pairs(codes), pairs(others)
    expected = together[0] * together[1] / max(n * (n - 1) / 2, 1)
    most = sum(together) / 2
    return 1.0 if most == expected else (pairs(joint) - expected) / (most - expected)


def fleiss_kappa(responses: Any, **bootstrap: Unpack[Bootstrap]) -> Interval:
    """Return Fleiss' κ, for any number of responses per item.

    κ = 1 − D / (1 − Σ_k p_k²), where D is the mean over items of the share of response pairs that
    differ, and p_k the mean over items of the share of responses that are k. This is Gwet's
    generalisation, which equals Fleiss' κ if all items have the same number of responses. It
    departs from Gwet in that items with one response are left out of p_k too.

    Fleiss (1971), "Measuring Nominal Scale Agreement Among Many Raters"; Gwet (2014), "Handbook of
    Inter-Rater Reliability".

    Parameters
    ----------
    responses
        Responses, or whatever ``fit`` accepts; items with fewer than two responses are left out.
    """
    return _agreement(as_responses(responses), None, lambda p: p @ p, bootstrap, minimum=2)


def krippendorff_alpha(
    responses: Any, level: Level = "nominal", **bootstrap: Unpack[Bootstrap]
) -> Interval:
    """Return Krippendorff's α, for any number of responses per item.

    α = 1 − D_o / D_e, where D_o is the mean δ² of two responses to the same item, with items
    weighted by their number of responses, and D_e the mean δ² of any two responses. The bootstrap
    interval resamples items, which are independent; Krippendorff's bootstrap resamples pairs of
    responses.

    Krippendorff (2018), "Content Analysis", chapter 12.

    Parameters
    ----------
    responses
        Responses, or whatever ``fit`` accepts; items with fewer than two responses are left out.
    level
        level of measurement, which defines the difference δ of two classes. ``"nominal"``: 0 or 1.
        ``"ordinal"``: the number of responses between them in the order of ``responses.classes``.
        ``"interval"``: the difference of the class names if they are numbers, and of the class
        codes if not.
    """
    if level not in get_args(Level):
        raise BadParameter(f"level={level!r} must be one of {list_names(get_args(Level))}.")
    table = as_responses(responses)
    votes, repeats = _distinct_votes(table)
    n_responses, numbers = votes.sum(axis=1), _class_numbers(table.classes)

    def alpha(weights: Integers) -> float:
        totals = weights @ votes
        values = _class_values(level, totals, numbers)
        observed = (weights * n_responses) @ _mean_difference(votes, values) / totals.sum()
        return chance_corrected(observed, _mean_difference(totals, values))

    return bootstrap_interval(alpha, repeats, **bootstrap)


def gwet_ac1(responses: Any, **bootstrap: Unpack[Bootstrap]) -> Interval:
    """Return Gwet's AC1, for any number of responses per item.

    AC1 = (p_a − p_e) / (1 − p_e), where p_a is the mean over items of the share of response pairs
    that agree, p_e = Σ_k p_k (1 − p_k) / (K − 1), and p_k is the mean over items of the share of
    responses that are k. Unlike κ and α, it stays high where one class dominates.

    Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement".

    Parameters
    ----------
    responses
        Responses, or whatever ``fit`` accepts; items with one response count in p_k only.
    """
    table = as_responses(responses)
    K = table.n_classes
    return _agreement(table, None, lambda p: p @ (1 - p) / max(K - 1, 1), bootstrap)


def gwet_ac2(
    responses: Any,
    level: Literal["ordinal", "linear", "quadratic"] = "quadratic",
    **bootstrap: Unpack[Bootstrap],
) -> Interval:
    """Return Gwet's AC2: AC1 with partial agreement of classes that are close to each other.

    p_a counts a pair of responses k and l by its weight w_kl, and
    p_e = Σ_kl w_kl / (K (K − 1)) · Σ_k p_k (1 − p_k).

    Gwet (2014), "Handbook of Inter-Rater Reliability".

    Parameters
    ----------
    responses
        Responses with ordered classes, or whatever ``fit`` accepts.
    level
        ``"quadratic"`` and ``"linear"``: 1 minus the difference of the class names, squared or
        not, relative to the largest one; class codes if the names are not numbers. ``"ordinal"``:
        by the number of pairs of classes between them.
    """
    if level not in ("ordinal", "linear", "quadratic"):
        raise BadParameter(f"level={level!r} must be one of 'ordinal', 'linear', 'quadratic'.")
    table = as_responses(responses)
    weights = _agreement_weights(table.classes, level)
    scale = weights.sum() / max(weights.size - len(weights), 1)
    return _agreement(table, weights, lambda p: scale * (p @ (1 - p)), bootstrap)


def masi_alpha(responses: Any, **bootstrap: Unpack[Bootstrap]) -> Interval:
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
    """
    table = as_response_sets(responses)
    item, n = table.item_of_response(), table.responses_per_item
    _require_pairs(n)
    paired = np.flatnonzero((n >= 2)[item])
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

    return bootstrap_interval(alpha, np.ones(len(items), dtype=np.int64), **bootstrap)


def _agreement(
    table: Responses,
    weights: Floats | None,
    by_chance: Callable[[Floats], Any],
    bootstrap: Bootstrap,
    minimum: int = 1,
) -> Interval:
    """Return 1 − (1 − p_a) / (1 − p_e), where ``by_chance(p)`` is p_e for class proportions ``p``.

    Items with fewer than ``minimum`` responses do not count in ``p``. Without ``weights[class,
    class]``, only equal classes agree.
    """
    votes, repeats = _distinct_votes(table, minimum)
    n = votes.sum(axis=1)
    shares, paired = votes / n[:, None], n >= 2
    agreeing = (votes * (votes if weights is None else votes @ weights)).sum(axis=1) - n
    disagreement = np.where(paired, 1 - agreeing / np.maximum(n * (n - 1), 1), 0.0)

    def coefficient(counts: Integers) -> float:
        observed = float(counts @ disagreement) / max(float(counts @ paired), 1.0)
        return chance_corrected(observed, 1 - by_chance(counts @ shares / counts.sum()))

    return bootstrap_interval(coefficient, repeats, **bootstrap)


def _agreement_weights(classes: Array, level: str) -> Floats:
    """Weights ``[class, class]`` of pairs of classes: 1 if equal, 0 if farthest apart."""
    K = len(classes)
    if level == "ordinal":
        between = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))
        distance = between * (between + 1) / 2
    else:
        numbers = _class_numbers(classes)
        distance = np.abs(np.subtract.outer(numbers, numbers))
        if level == "quadratic":
            distance = distance**2
    return np.asarray(1 - distance / max(float(distance.max()), 1e-300))


def _require_pairs(responses_per_item: Integers) -> None:
    if responses_per_item.max(initial=0) < 2:
        raise BadLabels(
            "No item has two responses. Agreement needs items that several annotators labelled."
        )


def _distinct_votes(responses: Responses, minimum: int = 2) -> tuple[Floats, Integers]:
    """Return the distinct votes ``[row, class]`` of items, and the number of items ``[row]``.

    Items with fewer than ``minimum`` responses are left out. The order of the rows does not depend
    on the order of the items.
    """
    _require_pairs(responses.responses_per_item)
    votes = weighted_votes(responses)[responses.responses_per_item >= minimum]
    votes = votes[np.lexsort(votes.T)]  # np.unique of the rows takes five times as long
    starts = np.flatnonzero(np.append(True, np.any(votes[1:] != votes[:-1], axis=1)))
    return votes[starts], np.diff(starts, append=len(votes))


def _mean_difference(votes: Floats, values: Floats | None = None) -> Any:
    """Return the mean δ² ``[…]`` of two distinct responses out of ``votes[…, class]``.

    δ is the difference of the classes' values ``[class]``; without values, 1 if the classes differ.
    """
    n = votes.sum(axis=-1)
    if values is None:
        total = n**2 - np.einsum("...k,...k", votes, votes)
    else:
        # Rounding can make the difference negative if the values are far apart.
        total = np.maximum(2 * (n * (votes @ values**2) - (votes @ values) ** 2), 0.0)
    return total / (n * (n - 1))


def _class_values(level: Level, totals: Floats, numbers: Floats) -> Floats | None:
    """Return values ``[class]`` whose differences are Krippendorff's δ; None for nominal classes.

    The ordinal δ of k and l, Σ_{g=k..l} n_g − (n_k + n_l)/2, is the difference of their mean ranks.
    """
    if level == "nominal":
        return None
    values = np.cumsum(totals) - totals / 2 if level == "ordinal" else numbers
    # Relative to the most frequent class, so that responses of one class differ by exactly zero.
    return np.asarray(values - values[totals.argmax()])


def _class_numbers(classes: Array) -> Floats:
    """Return the class names if they are numbers, else the class codes."""
    return (classes if classes.dtype.kind in "iuf" else np.arange(len(classes))).astype(float)


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
