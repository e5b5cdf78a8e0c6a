"""Which annotators err together beyond the model, and how many votes theirs are worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr, ndtri

from blindfuse.diagnostics.pairs import Pairs
from blindfuse.errors import naming

Floats = NDArray[np.float64]

DISCOVERY = 0.05
"""False discovery rate among the pairs that are named (Benjamini and Hochberg)."""
LEAST_COMMON = 20
"""Items that a pair must share to be looked at; ``pairs`` may leave others out."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """Pairs that agree more often than the model expects, and more than other pairs do.

    ``pairs[pair, 2]`` are positions of annotators, ``excess[pair]`` how much of the room for
    agreement beyond the expected they fill, (seen − expected)/(1 − expected); ``groups`` are what
    the pairs connect. ``looked_at[i]`` are the annotators whose pairs were looked at, and
    ``excesses[i, j]`` the excess of each such pair, NaN where they share too few items (and on the
    diagonal). ``correlation`` is the mean excess of all pairs, and ``votes`` what M votes
    are worth, M/(1 + (M − 1) correlation).
    """

    pairs: NDArray[np.intp]
    excess: Floats
    groups: tuple[tuple[int, ...], ...]
    looked_at: NDArray[np.intp]
    excesses: Floats
    correlation: float
    votes: float
    n_annotators: int
    names: NDArray[Any]

    def summary(self) -> str:
        """In words."""
        worth = (
            f"The votes of {self.n_annotators:,} annotators are worth about {self.votes:.1f} "
            "independent ones."
        )
        if not self.groups:
            return f"{worth} No pair stands out as erring together."
        return f"{worth} These err together more than others do: {self.named_groups()}."

    def named_groups(self) -> str:
        """The first groups by the names of their members."""
        return "; ".join(naming(self.names[list(group)]) for group in self.groups[:5])


def find_dependence(pairs: Pairs, names: NDArray[Any]) -> Dependence:
    """Standardised excess agreement of each pair, against the middle of all pairs.

    Copiers distort the model of everybody else, so the null distribution is empirical: the median
    and the median absolute deviation over pairs, no narrower than sampling alone would make it.
    """
    M, pairs = len(pairs.annotators), pairs.sharing(LEAST_COMMON)
    n, p = pairs.common, np.clip(pairs.expected, 1e-6, 1 - 1e-6)
    difference = pairs.agreed - p
    scores = difference / np.sqrt(p * (1 - p) / n)
    excess = difference / (1 - p)
    correlation = float(np.clip(np.average(excess, weights=n), 0, 1)) if len(n) else 0.0
    excesses = np.full((M, M), np.nan)
    excesses[pairs.i, pairs.j] = excesses[pairs.j, pairs.i] = excess
    found = _stand_out(scores)
    flagged = pairs.i[found], pairs.j[found]
    graph = csr_array((np.ones(len(flagged[0])), flagged), shape=(M, M))
    _, member = connected_components(graph, directed=False)
    groups = tuple(
        tuple(pairs.annotators[member == g].tolist())
        for g in np.flatnonzero(np.bincount(member, minlength=1) > 1)
    )
    return Dependence(
        np.column_stack([pairs.annotators[flagged[0]], pairs.annotators[flagged[1]]]),
        excess[found],
        groups,
        pairs.annotators,
        excesses,
        correlation,
        M / (1 + (M - 1) * correlation),
        M,
        names,
    )


def _stand_out(scores: Floats) -> NDArray[np.bool_]:
    if len(scores) == 0:
        return np.zeros(0, dtype=bool)
    middle = np.median(scores)
    spread = max(1.0, np.median(np.abs(scores - middle)) / ndtri(0.75))
    chances = ndtr((middle - scores) / spread)
    ordered = np.sort(chances)
    few_enough = ordered <= DISCOVERY * np.arange(1, len(ordered) + 1) / len(ordered)
    return np.asarray(chances <= ordered[few_enough].max(initial=-1.0))
