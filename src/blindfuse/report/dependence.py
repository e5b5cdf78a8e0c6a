"""Dependent annotators on the page: a map of excess agreement, and the dependent pairs."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.dependence import Dependence
from blindfuse.report.names import distinct_names
from blindfuse.typing import Floats

MAX_ANNOTATORS = 30
"""Annotators on the map; of more, members of dependent groups and then those with most pairs."""
MAX_NAME_LENGTH = 40
"""Characters of a name; the map repeats names in every cell."""
MAX_LISTED_PAIRS = 20
"""Dependent pairs that are listed by name."""


@dataclass(frozen=True)
class AnnotatorPair:
    """Two annotators by name, their excess agreement, and whether it is significant."""

    first: str
    second: str
    excess: float
    dependent: bool


@dataclass(frozen=True)
class DependenceMap:
    """The ``names`` on both axes of the map, its ``cells``, and the ``listed`` dependent pairs.

    Each pair has two cells. ``n_dependent`` pairs were found among ``n_tested`` annotators.
    """

    names: tuple[str, ...]
    cells: tuple[AnnotatorPair, ...]
    listed: tuple[AnnotatorPair, ...]
    n_dependent: int
    n_tested: int


def dependence_map(dependence: Dependence) -> DependenceMap:
    """Return the map; members of a dependent group are neighbours."""
    rows, names = (
        _map_rows(dependence),
        distinct_names(dependence.names, MAX_NAME_LENGTH),
    )
    dependent = {frozenset(pair) for pair in dependence.pairs.tolist()}
    tested, excess = dependence.tested, dependence.excess_matrix
    cells = tuple(
        AnnotatorPair(
            names[tested[i]],
            names[tested[j]],
            round(float(excess[i, j]), 4),
            frozenset((int(tested[i]), int(tested[j]))) in dependent,
        )
        for i in rows
        for j in rows
        if not np.isnan(excess[i, j])
    )
    return DependenceMap(
        names=tuple(names[tested[i]] for i in rows),
        cells=cells,
        listed=_listed_pairs(dependence, names),
        n_dependent=len(dependence.pairs),
        n_tested=dependence.n_annotators,
    )


def _listed_pairs(dependence: Dependence, names: list[str]) -> tuple[AnnotatorPair, ...]:
    """The dependent pairs with the largest excess agreement."""
    order = np.argsort(-dependence.excess, kind="stable")[:MAX_LISTED_PAIRS]
    return tuple(
        AnnotatorPair(names[first], names[second], round(float(excess), 4), dependent=True)
        for (first, second), excess in zip(
            dependence.pairs[order], dependence.excess[order], strict=True
        )
    )


def _map_rows(dependence: Dependence) -> list[int]:
    """Rows of ``excess_matrix`` on the map: dependent groups first, the largest first."""
    row_of = {int(m): i for i, m in enumerate(dependence.tested)}
    groups = sorted(dependence.groups, key=len, reverse=True)
    grouped = [row_of[m] for group in groups for m in group]
    return list(dict.fromkeys([*grouped, *_other_rows(dependence.excess_matrix)]))[:MAX_ANNOTATORS]


def _other_rows(excess_matrix: Floats) -> list[int]:
    """All rows in order if the map has space for them, else those with most pairs first."""
    if len(excess_matrix) <= MAX_ANNOTATORS:
        return list(range(len(excess_matrix)))
    n_pairs = np.count_nonzero(~np.isnan(excess_matrix), axis=1)
    return np.argsort(-n_pairs, kind="stable").tolist()  # type: ignore[no-any-return]
