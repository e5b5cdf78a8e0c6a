"""Whether annotators agree beyond chance: without that, no method can tell who is right."""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtri

from blindfuse.diagnostics.pairs import MIN_COMMON_ITEMS, count_pairs, evenly_spaced
from blindfuse.metrics.interval import Interval
from blindfuse.model.anchored_votes import symbol_counts, symbol_votes
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats

Z_95 = float(ndtri(0.975))
"""Standard errors of the 95 % interval of α, and of the test for agreement beyond chance."""
OPPOSED_LEVEL = 0.01
"""Significance level at which pairs of annotators count as opposed."""


@dataclass(frozen=True)
class Information:
    """Agreement of the annotators, corrected for chance.

    Attributes
    ----------
    alpha
        Krippendorff's α with its 95 % interval. Chance is one distribution of classes for all.
    excess, excess_low
        how much more often pairs of responses agree than they would by the class rates of their own
        annotators, and its lower 95 % limit. Annotators who report the classes at different rates
        can agree beyond chance although α is zero.
    are_opposed
        whether pairs of annotators agree and contradict each other beyond chance, although that
        cancels in the mean.
    """

    alpha: Interval
    excess: float
    excess_low: float
    are_opposed: bool = False

    @property
    def is_beyond_chance(self) -> bool:
        """Whether annotators agree, or contradict each other, beyond chance."""
        return self.excess_low > 0 or self.are_opposed

    def summary(self) -> str:
        """α, and what it means."""
        value, low, high = self.alpha
        text = f"Krippendorff's α {value:.2f} ({low:.2f} to {high:.2f})"
        if not self.is_beyond_chance and low > 0:
            return (
                f"{text} because annotators report the classes at different rates; given those, "
                "they agree no more than by chance."
            )
        if not self.is_beyond_chance:
            return f"{text}: annotators agree no more than by chance."
        if self.are_opposed:
            return (
                f"{text}: some annotators contradict others more than by chance. If their labels "
                "are clusters with names of their own, use `blindfuse cluster` (fuse_clusters)."
            )
        if low <= 0:
            return (
                f"{text} because annotators report the classes at different rates; given those, "
                "they agree beyond chance."
            )
        return f"{text}; 0 is chance, 1 is perfect."


def measure_information(responses: Responses) -> Information | None:
    """Measure agreement; None if no item has two responses, or classes have no names yet."""
    if responses.anchor.kind == "none":
        return None
    items = np.flatnonzero(responses.responses_per_item >= 2)
    items = items[evenly_spaced(len(items))]
    table = responses if len(items) == responses.n_items else responses.select_items(items)
    votes = weighted_votes(table)
    paired = votes.sum(axis=1) >= 2
    if not paired.any():
        return None
    excess = _excess_agreement(table, votes)[paired]
    number = votes[paired].sum(axis=1)
    n_pairs = number * (number - 1) / 2
    mean = float(excess.sum() / n_pairs.sum())
    error = float(np.sqrt(np.sum((excess - mean * n_pairs) ** 2)) / n_pairs.sum())
    low = mean - Z_95 * error
    opposed = low <= 0 and table.is_plain and _are_opposed(table)
    return Information(_krippendorff(votes[paired]), mean, low, opposed)


def _excess_agreement(table: Responses, votes: Floats) -> Floats:
    """Agreeing pairs of responses minus those expected by the annotators' own rates, ``[item]``.

    Σ_{i<j} 1[f_i = f_j] − Σ_k p_i(k) p_j(k), where p_m(k) is the share of class k in the votes of
    annotator m.
    """
    of_symbols = symbol_votes(table)  # of every annotator, or one for all
    counts = (symbol_counts(table)[:, None] @ of_symbols)[:, 0]
    rates = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    items, (_, annotators, symbols) = table.item_of_response(), table.by_item
    row = annotators if len(of_symbols) > 1 else 0
    number = of_symbols.sum(axis=2)[row, symbols]  # abstentions have no vote
    of_response = number[:, None] * rates[annotators]
    sums = [np.bincount(items, column, table.n_items) for column in of_response.T]
    squares = np.bincount(items, (of_response**2).sum(axis=1), table.n_items)
    expected = (sum(column**2 for column in sums) - squares) / 2
    agreeing = ((votes**2).sum(axis=1) - votes.sum(axis=1)) / 2
    return np.asarray(agreeing - expected)


def _are_opposed(table: Responses) -> bool:
    """Whether the agreement of pairs of annotators deviates from chance, in either direction.

    The sum of the squared scores of all pairs that share enough items is tested by χ².
    """
    counts = count_pairs(table).counts.astype(float)
    of_first, of_second = counts.sum(axis=3), counts.sum(axis=1)
    i, j = np.nonzero(of_first.sum(axis=1) >= MIN_COMMON_ITEMS)
    n = of_first[i, :, j].sum(axis=1)
    chance = (of_first[i, :, j] * of_second[i, j]).sum(axis=1) / n**2
    varying = (chance > 0) & (chance < 1)
    i, j, n, chance = i[varying], j[varying], n[varying], chance[varying]
    agreed = np.einsum("pkk->p", counts[i, :, j, :])
    squares = (agreed - n * chance) ** 2 / (n * chance * (1 - chance))
    return bool(chdtrc(max(len(squares), 1), squares.sum()) < OPPOSED_LEVEL)


def _krippendorff(votes: Floats) -> Interval:
    """α of ``votes[item, class]`` with at least two votes each; the interval by the delta method.

    α = 1 − D_o/D_e. Item i changes D_o by n_i (d_i − D_o)/n and D_e by
    2 (n_i (1 − D_e) − Σ_k p_k v_ik)/n, where d_i is the share of its pairs that differ.
    """
    n_i = votes.sum(axis=1)
    n, p = n_i.sum(), votes.sum(axis=0) / n_i.sum()
    differ = 1 - ((votes**2).sum(axis=1) - n_i) / (n_i * (n_i - 1))
    observed = float(n_i @ differ / n)
    expected = float((1 - p @ p) * n / (n - 1))
    if expected == 0:
        return Interval(1.0, 1.0, 1.0)
    change = n_i * (differ - observed) / n / expected
    change -= 2 * (n_i * (1 - expected) - votes @ p) / n * observed / expected**2
    half = Z_95 * float(np.sqrt(np.sum(change**2)))
    alpha = 1 - observed / expected
    return Interval(alpha, alpha - half, min(alpha + half, 1.0))
