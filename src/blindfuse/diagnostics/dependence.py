"""Pairs and groups of annotators with correlated errors, and the effective number of votes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr, ndtri, rel_entr

from blindfuse.diagnostics.pairs import MIN_COMMON_ITEMS, Pairs
from blindfuse.errors import list_names
from blindfuse.typing import Array, Codes, Flags, Floats

FALSE_DISCOVERY_RATE = 0.05
"""Expected share of false pairs among the dependent pairs (Benjamini and Hochberg 1995)."""
MIN_TESTED = 3
"""Annotators that the test needs: the agreement of two says nothing about their errors."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """Pairs that agree significantly more often than the model predicts and other pairs do.

    Attributes
    ----------
    pairs ``[pair, 2]``
        positions of the annotators of each dependent pair.
    excess ``[pair]``
        excess agreement of a dependent pair, (observed − expected)/(1 − expected).
    groups
        connected components of the dependent pairs, as positions of annotators.
    tested ``[i]``
        positions of the annotators whose pairs were tested.
    excess_matrix ``[i, j]``
        excess agreement of all tested pairs; NaN on the diagonal and for pairs that share too few
        items.
    correlation
        mean excess agreement of all tested pairs.
    effective_votes
        number of independent votes that M annotators are worth, M/(1 + (M − 1) correlation).
    """

    pairs: Codes
    excess: Floats
    groups: tuple[tuple[int, ...], ...]
    tested: Codes
    excess_matrix: Floats
    correlation: float
    effective_votes: float
    n_annotators: int
    names: Array

    def summary(self) -> str:
        """The effective number of votes, and the dependent groups."""
        if self.n_annotators < MIN_TESTED:
            return f"Not tested: that needs {MIN_TESTED} annotators who share items."
        worth = (
            f"{self.n_annotators:,} annotators are worth {self.effective_votes:.1f} independent "
            "votes"
        )
        if not self.groups:
            return f"{worth}; no pair stands out."
        return (
            f"{worth}. Groups with correlated errors: {self.named_groups()}; consider keeping one "
            "annotator per group."
        )

    def named_groups(self) -> str:
        """The members of the first groups by name; groups are separated by semicolons."""
        return name_groups(self.groups, self.names)


def find_dependence(pairs: Pairs, names: Array) -> Dependence:
    """Find pairs whose standardized excess agreement is far above the median of all pairs.

    Copiers distort the model of all other annotators, so the null distribution is empirical: it
    has the median and the median absolute deviation of the pairs' scores, but is never narrower
    than sampling noise.
    """
    M, pairs = len(pairs.annotators), pairs.with_common_items(MIN_COMMON_ITEMS)
    n, p = pairs.n_common, np.clip(pairs.expected_agreement, 1e-6, 1 - 1e-6)
    scores = _agreement_scores(pairs.agreement, p, n)
    excess = (pairs.agreement - p) / (1 - p)
    correlation = float(np.clip(np.average(excess, weights=n), 0, 1)) if len(n) else 0.0
    excess_matrix = np.full((M, M), np.nan)
    excess_matrix[pairs.i, pairs.j] = excess_matrix[pairs.j, pairs.i] = excess
    dependent = _is_outlier(scores)
    i, j = pairs.i[dependent], pairs.j[dependent]
    return Dependence(
        pairs=np.column_stack([pairs.annotators[i], pairs.annotators[j]]),
        excess=excess[dependent],
        groups=_closer_groups(pairs, connected_groups(i, j, pairs.annotators)),
        tested=pairs.annotators,
        excess_matrix=excess_matrix,
        correlation=correlation,
        effective_votes=M / (1 + (M - 1) * correlation),
        n_annotators=M,
        names=names,
    )


def _closer_groups(
    pairs: Pairs, groups: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    """The groups, or the annotators who agree most closely if the groups are most of the others.

    A model takes annotators who repeat each other for the truth. The independent ones, who
    contradict them together, then seem to have correlated errors.
    """
    if not groups:
        return groups
    closest = float(pairs.agreement.max())
    is_close = pairs.agreement >= (closest + float(np.median(pairs.agreement))) / 2
    repeating = connected_groups(pairs.i[is_close], pairs.j[is_close], pairs.annotators)
    grouped = {m for group in groups for m in group}
    copies = {m for group in repeating for m in group}
    others = set(pairs.annotators.tolist()) - copies
    return repeating if 2 * len(grouped - copies) >= max(len(others), 1) else groups


def _agreement_scores(agreement: Floats, expected: Floats, n: Floats) -> Floats:
    """Standard errors by which the agreement on n items exceeds the expected one, ``[pair]``.

    These are signed roots of the binomial deviance, ±√(2 n KL(agreement ‖ expected)), with half an
    item as continuity correction. The usual score is far too large for annotators who rarely agree:
    5 common responses of 20 where 0.4 are expected are 7.3 standard errors by the variance, but as
    improbable as 4.0 of a normal distribution, and the deviance says 3.8.
    """
    difference = agreement - expected
    half = np.minimum(0.5 / n, np.abs(difference))
    share = agreement - np.sign(difference) * half
    deviance = 2 * n * (rel_entr(share, expected) + rel_entr(1 - share, 1 - expected))
    return np.asarray(np.sign(difference) * np.sqrt(np.maximum(deviance, 0)))


def connected_groups(i: Codes, j: Codes, annotators: Codes) -> tuple[tuple[int, ...], ...]:
    """Annotators that the pairs (i, j) connect, as groups of at least two."""
    M = len(annotators)
    graph = csr_array((np.ones(len(i)), (i, j)), shape=(M, M))
    _, component = connected_components(graph, directed=False)
    return tuple(
        tuple(sorted(annotators[component == g].tolist()))
        for g in np.flatnonzero(np.bincount(component, minlength=1) > 1)
    )


def name_groups(groups: Sequence[Sequence[int]], names: Array) -> str:
    """The members of the first groups by name; groups are separated by semicolons."""
    shown = groups[:5]
    return "; ".join(list_names(names[list(group)]) for group in shown)


def _is_outlier(scores: Floats) -> Flags:
    """Whether each pair's score is significantly high, ``[pair]``."""
    if len(scores) == 0:
        return np.zeros(0, dtype=bool)
    median = np.median(scores)
    spread = max(1.0, np.median(np.abs(scores - median)) / ndtri(0.75))
    p_values = ndtr((median - scores) / spread)
    ordered = np.sort(p_values)
    limits = FALSE_DISCOVERY_RATE * np.arange(1, len(ordered) + 1) / len(ordered)
    return np.asarray(p_values <= ordered[ordered <= limits].max(initial=-1.0))
