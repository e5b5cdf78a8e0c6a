"""Agreement between annotators, or between two sets of labels.

A coefficient is 1 for perfect agreement, or if all responses are of one class, and 0 at chance
level. It is a sum over items. Items with the same counts of responses per class therefore share
one row, and a bootstrap resample is one integer weight per row.

``resamples``, ``confidence`` and ``seed`` are options of the bootstrap interval over items.
"""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.metrics.interval import Interval, bootstrap_interval, chance_corrected
from blindfuse.metrics.truth import check_codes
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.coding import smallest_integer_dtype
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.typing import Array, Floats, Integers

Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Interval:
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
    return bootstrap_interval(kappa, counts, resamples, confidence, seed)


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


def fleiss_kappa(
    responses: Any,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Interval:
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
    votes, repeats = _distinct_votes(as_responses(responses))
    disagreement, shares = _mean_difference(votes), votes / votes.sum(axis=1, keepdims=True)

    def kappa(weights: Integers) -> float:
        n = weights.sum()
        p = weights @ shares / n
        return chance_corrected(weights @ disagreement / n, 1 - p @ p)

    return bootstrap_interval(kappa, repeats, resamples, confidence, seed)


def krippendorff_alpha(
    responses: Any,
    level: Level = "nominal",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
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

    return bootstrap_interval(alpha, repeats, resamples, confidence, seed)


def gwet_ac1(
    responses: Any,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Interval:
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
    return _gwet(table, np.eye(table.n_classes), resamples, confidence, seed)


def gwet_ac2(
    responses: Any,
    level: Literal["ordinal", "linear", "quadratic"] = "quadratic",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
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
    return _gwet(table, _agreement_weights(table.classes, level), resamples, confidence, seed)


def _gwet(
    table: Responses, weights: Floats, resamples: int, confidence: float, seed: int | None
) -> Interval:
    """AC2 with weights ``[class, class]``."""
    votes, repeats = _distinct_votes(table, minimum=1)
    n, K = votes.sum(axis=1), len(weights)
    paired = n >= 2
    if not paired.any():
        raise BadLabels(
            "No item has two responses. Agreement needs items that several annotators labelled."
        )
    shares, agreeing = votes / n[:, None], np.einsum("rk,kl,rl->r", votes, weights, votes) - n
    agreement = np.where(paired, agreeing / np.maximum(n * (n - 1), 1), 0.0)

    def coefficient(counts: Integers) -> float:
        p = counts @ shares / counts.sum()
        observed = counts @ agreement / max(float(counts @ paired), 1.0)
        by_chance = weights.sum() / max(K * (K - 1), 1) * (p @ (1 - p))
        return chance_corrected(float(1 - observed), float(1 - by_chance))

    return bootstrap_interval(coefficient, repeats, resamples, confidence, seed)


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


def _distinct_votes(responses: Responses, minimum: int = 2) -> tuple[Floats, Integers]:
    """Return the distinct votes ``[row, class]`` of items, and the number of items ``[row]``.

    Items with fewer than ``minimum`` responses are left out. The order of the rows does not depend
    on the order of the items.
    """
    votes = weighted_votes(responses)[responses.responses_per_item >= minimum]
    if not len(votes):
        raise BadLabels(
            "No item has two responses. Agreement needs items that several annotators labelled."
        )
    # Small integers are sorted by radix: np.unique of the rows takes fifty times as long.
    small = votes.astype(smallest_integer_dtype(int(votes.max()), np.int16, np.int32))
    order = np.lexsort(small.T)
    ordered = small[order]
    starts = np.flatnonzero(np.append(True, np.any(ordered[1:] != ordered[:-1], axis=1)))
    return votes[order[starts]], np.diff(starts, append=len(votes))


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
