"""Packed answers: those of several annotators to an item as one code.

Where every annotator answers every item, an E-step need not go through every answer. The answers of
a few annotators together are one of a few thousand; their joint probability is looked up, and what
they are worth is added up, once for all of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_CODES = 4096
"""Codes of a group at most: a table of them stays in the second cache."""
FEWEST_ITEMS, ITEMS_A_CODE = 5_000, 8
"""Items there must be, and for each code: fewer do not make up for the tables."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Codes ``[item, group]``, each the row of a table that holds all groups' rows in turn.

    ``groups`` are positions of annotators. The code of a group is a number with a digit an
    annotator, its label, to the base of the number of classes.
    """

    codes: NDArray[np.uint16]
    groups: list[NDArray[np.intp]]

    def tables(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """The probability of each code in each class ``[code, true]``, and what it was divided by.

        The first group's rows have the prior in them. Rows are divided by their largest entry
        ``[code]``, so that products of many stay in range.
        """
        rows = []
        for at, group in enumerate(self.groups):
            table = (np.ones_like(prior) if at else prior)[None]
            for m in group:
                table = (table[:, None] * confusions[m]).reshape(-1, len(prior))
            rows.append(table)
        table = np.concatenate(rows)
        largest = table.max(axis=1)
        return table / largest[:, None], largest

    def spread(self, sums: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """Beliefs added up by code ``[code, true]`` as counts and totals of every annotator."""
        L = sums.shape[1]
        counts = np.empty((sum(map(len, self.groups)), n_classes, L))
        begin = 0
        for group in self.groups:
            end = begin + n_classes ** len(group)
            table = sums[begin:end].reshape(*[n_classes] * len(group), L)
            for digit, m in enumerate(group):
                others = tuple(axis for axis in range(len(group)) if axis != digit)
                counts[m] = table.sum(axis=others)
            begin = end
        return counts, sums[: n_classes ** len(self.groups[0])].sum(axis=0)


def pack(matrix: NDArray[Any], n_classes: int, most_together: int) -> Packed | None:
    """Pack ``matrix[item, annotator]`` of labels; None where it saves nothing.

    At most ``most_together`` annotators may stay outside of a group's product.
    """
    N, M = matrix.shape
    size = 1
    while size < M and n_classes ** (size + 1) <= min(MOST_CODES, N // ITEMS_A_CODE):
        size += 1
    if N < FEWEST_ITEMS or size < 2 or M - size > most_together:
        return None
    groups = np.array_split(np.arange(M), -(-M // size))
    codes = np.empty((N, len(groups)), np.uint16)
    begin = 0
    for at, group in enumerate(groups):
        code = np.zeros(N, np.uint16)
        for m in group:
            code *= np.uint16(n_classes)
            code += matrix[:, m].astype(np.uint16)
        codes[:, at] = code + begin
        begin += n_classes ** len(group)
    return Packed(codes, groups) if begin < 2**16 else None
