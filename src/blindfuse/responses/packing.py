"""Packed answers: those of several annotators to an item as one code.

Where every annotator answers every item, an E-step need not go through every answer. The answers of
a few annotators together are one of a few thousand; their joint probability is looked up, and what
they are worth is added up, once for all of them. Items with the same answers are looked at once.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import lanes_of
from blindfuse.kernels.posteriors import RUN, joint_answers

Floats = NDArray[np.float64]

MOST_CODES = 4096
"""Codes of a group at most: a table of them stays in the second cache."""
FEWEST_ITEMS, ITEMS_A_CODE = 5_000, 8
"""Items there must be, and for each code: fewer do not make up for the tables."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Codes ``[pattern, group]``, each the row of a table that holds all groups' rows in turn.

    ``groups`` are positions of annotators. The code of a group is a number with a digit an
    annotator, its label, to the base of the number of classes. Items with the same answers are one
    pattern, of ``sizes[pattern]`` items (None if all are of one). Patterns come sorted, and
    ``starts[code]`` says where those of a first code begin: what is looked up for it serves all of
    them. ``order[item]`` has items by pattern, and ``firsts[pattern]`` where each begins there.
    """

    codes: NDArray[np.uint16]
    groups: list[NDArray[np.intp]]
    starts: NDArray[np.intp]
    order: NDArray[np.intp]
    firsts: NDArray[np.intp]
    sizes: Floats | None

    def weigh(self, sizes: Floats | None) -> Floats | None:
        """How often each pattern counts, where ``sizes[item]`` says it of items; None is once."""
        if sizes is None:
            return self.sizes
        return np.asarray(np.add.reduceat(sizes[self.order], self.firsts))

    def tables(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats | None]:
        """The probability of each code in each class ``[code, true]``, and what it was divided by.

        The first group's rows have the prior in them. Where answers are so many that their product
        could leave the range of numbers, rows are divided by their largest entry ``[code]``.
        """
        K, L = confusions.shape[1:]
        sizes = [K ** len(group) for group in self.groups]
        table = np.empty((sum(sizes), L))
        begin, before = 0, prior
        for group, size in zip(self.groups, sizes, strict=True):
            joint_answers(confusions, group, before, lanes_of(L), table[begin : begin + size])
            begin, before = begin + size, np.ones_like(prior)
        if len(confusions) <= RUN:
            return table, None
        largest = table.max(axis=1)
        table /= largest[:, None]
        return table, largest

    def spread(self, sums: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """Beliefs added up by code ``[code, true]`` as counts and totals of every annotator."""
        L = sums.shape[1]
        counts = np.empty((sum(map(len, self.groups)), n_classes, L))
        begin = 0
        for group in self.groups:
            digits = _digits(n_classes, len(group))
            rows = sums[begin : begin + digits.shape[1]]
            counts[group] = (digits @ rows).reshape(len(group), n_classes, L)
            begin += len(rows)
        return counts, counts[self.groups[0][0]].sum(axis=0)


@cache
def _digits(base: int, size: int) -> Floats:
    """Which codes of a group have which digits: ones in ``[(place, digit), code]``."""
    codes = np.indices([base] * size).reshape(size, 1, -1)
    return np.asarray(codes == np.arange(base)[None, :, None], dtype=float).reshape(-1, base**size)


def pack(matrix: NDArray[Any], n_classes: int) -> Packed | None:
    """Pack ``matrix[item, annotator]`` of labels; None where it saves nothing.

    At most RUN annotators may stay outside of a group's product.
    """
    N, M = matrix.shape
    size = 1
    while size < M and n_classes ** (size + 1) <= min(MOST_CODES, N // ITEMS_A_CODE):
        size += 1
    if N < FEWEST_ITEMS or size < 2 or M - size > RUN:
        return None
    groups = np.array_split(np.arange(M), -(-M // size))
    codes = np.empty((len(groups), N), np.uint16)
    begin = 0
    for at, group in enumerate(groups):
        code = np.zeros(N, np.uint16)
        for m in group:
            code *= np.uint16(n_classes)
            code += matrix[:, m].astype(np.uint16)
        codes[at] = code + begin
        begin += n_classes ** len(group)
    if begin >= 2**16:
        return None
    order = np.lexsort(codes[::-1])
    codes = codes[:, order]
    new = np.concatenate([[True], (codes[:, 1:] != codes[:, :-1]).any(axis=0)])
    firsts = np.flatnonzero(new)
    sizes = None if len(firsts) == N else np.diff(firsts, append=N).astype(float)
    patterns = np.ascontiguousarray(codes[:, firsts].T)
    starts = np.searchsorted(patterns[:, 0], np.arange(n_classes ** len(groups[0]) + 1))
    return Packed(patterns, groups, starts, order, firsts, sizes)
