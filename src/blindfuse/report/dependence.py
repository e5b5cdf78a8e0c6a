"""Who errs together, as a page shows it: a map of pairs, and the pairs that stand out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.dependence import Dependence
from blindfuse.report.names import distinct

MAP_ANNOTATORS = 30
"""Annotators on the map; of more, members of groups, and then those first looked at."""
LONGEST = 40
"""Characters of a name, which the map repeats in every cell."""
LISTED_PAIRS = 20
"""Pairs that are listed by name."""


@dataclass(frozen=True)
class Pair:
    """Two annotators, by name, the excess of their agreement, and whether they stand out."""

    one: str
    other: str
    excess: float
    stands_out: bool


@dataclass(frozen=True)
class Together:
    """The map's ``names`` in order, its cells ``[one ≠ other]`` both ways, and ``listed`` pairs.

    ``standing_out`` pairs were found among ``looked_at`` annotators.
    """

    names: tuple[str, ...]
    cells: tuple[Pair, ...]
    listed: tuple[Pair, ...]
    standing_out: int
    looked_at: int


def who_errs_together(found: Dependence) -> Together:
    """From what was measured; annotators of a group stand side by side."""
    chosen, names = _chosen(found), distinct(found.names, LONGEST)
    flagged = {frozenset(pair) for pair in found.pairs.tolist()}
    at = found.looked_at
    cells = tuple(
        Pair(
            names[at[i]],
            names[at[j]],
            round(float(found.excesses[i, j]), 4),
            frozenset((int(at[i]), int(at[j]))) in flagged,
        )
        for i in chosen
        for j in chosen
        if not np.isnan(found.excesses[i, j])
    )
    order = np.argsort(-found.excess, kind="stable")[:LISTED_PAIRS]
    listed = tuple(
        Pair(names[one], names[other], round(float(excess), 4), True)
        for (one, other), excess in zip(found.pairs[order], found.excess[order], strict=True)
    )
    return Together(
        tuple(names[at[i]] for i in chosen), cells, listed, len(found.pairs), found.n_annotators
    )


def _chosen(found: Dependence) -> list[int]:
    """Rows of ``excesses`` that the map has: groups first, largest first."""
    place = {int(m): i for i, m in enumerate(found.looked_at)}
    grouped = [place[m] for group in sorted(found.groups, key=len, reverse=True) for m in group]
    rest = _most_pairs(found.excesses)
    return list(dict.fromkeys([*grouped, *rest]))[:MAP_ANNOTATORS]


def _most_pairs(excesses: NDArray[np.float64]) -> list[int]:
    """All rows if the map has room for them, else those with most pairs first."""
    if len(excesses) <= MAP_ANNOTATORS:
        return list(range(len(excesses)))
    pairs = np.count_nonzero(~np.isnan(excesses), axis=1)
    return np.argsort(-pairs, kind="stable").tolist()  # type: ignore[no-any-return]
