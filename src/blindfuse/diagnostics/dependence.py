"""Pairs and groups of annotators with correlated errors, and the effective number of votes."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr, ndtri, rel_entr

from blindfuse.diagnostics.pairs import MIN_COMMON_ITEMS, Pairs
from blindfuse.errors import list_names
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes, Flags, Floats

FALSE_DISCOVERY_RATE = 0.05
"""Expected share of false pairs among the dependent pairs (Benjamini and Hochberg 1995)."""

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Dependence:
    """Pairs that agree significantly more often than the model predicts and other pairs do.

    Attributes
    ----------
    pairs ``[pair, 2]``, excess ``[pair]``
        positions of the annotators of each dependent pair, and its excess agreement,
        (observed − expected)/(1 − expected).
    groups
        connected components of the dependent pairs, as positions of annotators.
    tested ``[i]``
        positions of the annotators whose pairs were tested.
    excess_matrix ``[i, j]``
        excess agreement of all tested pairs; NaN on the diagonal and for pairs that share too few
        items.
    correlation
        mean excess agreement of all tested pairs.
    votes
        M if most annotators respond to most items, and the mean number of responses per item else.
    effective_votes
        number of independent votes that these are worth, votes/(1 + (votes − 1) correlation); NaN
        if no pair was tested.
    """

    pairs: Codes
    excess: Floats
    groups: Groups
    tested: Codes
    excess_matrix: Floats
    correlation: float
    votes: float
    effective_votes: float
    n_annotators: int
    names: Array

    def summary(self) -> str:
        """The effective number of votes, and the dependent groups."""
        if self.n_annotators < 3 or self.effective_votes != self.effective_votes:
            return f"Not tested: that needs 3 annotators who share {MIN_COMMON_ITEMS} items."
        worth = f"{self.jury} are worth {self.effective_votes:.1f} independent votes"
        if not self.groups:
            return f"{worth}; no pair stands out."
        named = "; ".join(list_names(self.names[list(group)]) for group in self.groups[:5])
        return (
            f"{worth}. Groups with correlated errors: {named}; consider keeping one annotator per "
            "group."
        )

    @property
    def jury(self) -> str:
        """Whose votes are counted: those of all annotators, or of as many as respond to an item."""
        if self.votes == self.n_annotators:
            return f"{self.n_annotators:,} annotators"
        return f"{self.votes:.1f} responses per item"


def find_dependence(pairs: Pairs, responses: Responses) -> Dependence:
    """Find pairs whose standardized excess agreement is far above the median of all pairs.

    Copiers distort the model of all other annotators, so the null distribution is empirical: it
    has the median and the median absolute deviation of the pairs' scores, but is never narrower
    than sampling noise.
    """
    M, shared = len(pairs.annotators), pairs.n_common >= MIN_COMMON_ITEMS
    per_item = responses.n_responses / max(int(np.count_nonzero(responses.responses_per_item)), 1)
    votes = M if 2 * per_item >= responses.n_annotators else per_item
    i, j, n = pairs.i[shared], pairs.j[shared], pairs.n_common[shared]
    p = np.clip(pairs.expected_agreement[shared], 1e-6, 1 - 1e-6)
    agreement = pairs.agreement[shared]
    excess = (agreement - p) / (1 - p)
    correlation = float(np.clip(np.average(excess, weights=n), 0, 1)) if len(n) else 0.0
    excess_matrix = np.full((M, M), np.nan)
    excess_matrix[i, j] = excess_matrix[j, i] = excess
    dependent = _is_outlier(_agreement_scores(agreement, p, n))
    first, second = pairs.annotators[i], pairs.annotators[j]
    groups = _connected_groups(first[dependent], second[dependent])
    if groups:
        # A model takes annotators who repeat each other for the truth. The independent ones, who
        # contradict them together, then seem to have correlated errors.
        closest = agreement >= (agreement.max() + np.median(agreement)) / 2
        repeating = _connected_groups(first[closest], second[closest])
        copies = set(chain(*repeating))
        n_others = max(M - len(copies), 1)
        groups = repeating if 2 * len(set(chain(*groups)) - copies) >= n_others else groups
    return Dependence(
        pairs=np.column_stack([first[dependent], second[dependent]]),
        excess=excess[dependent],
        groups=groups,
        tested=pairs.annotators,
        excess_matrix=excess_matrix,
        correlation=correlation,
        votes=votes,
        effective_votes=votes / (1 + (votes - 1) * correlation) if len(n) else np.nan,
        n_annotators=M,
        names=responses.annotators,
    )


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


def _connected_groups(first: Codes, second: Codes) -> Groups:
    """The annotators that the pairs connect, as groups of at least two."""
    M = int(max(first.max(initial=0), second.max(initial=0))) + 1
    graph = csr_array((np.ones(len(first)), (first, second)), shape=(M, M))
    _, component = connected_components(graph, directed=False)
    groups = np.flatnonzero(np.bincount(component, minlength=1) > 1)
    return tuple(tuple(np.flatnonzero(component == group).tolist()) for group in groups)
