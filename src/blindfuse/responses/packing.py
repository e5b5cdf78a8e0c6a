"""Packed responses: the responses of several annotators to an item as one code.

If every annotator labels every item, an E-step does not need to process each response on its own.
The responses of a small group of annotators have a few thousand combinations. The E-step looks up
their joint probability and adds up posteriors per combination, and processes items with the same
responses once.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import lanes_of
from blindfuse.kernels.posteriors import MAX_FACTORS, joint_probabilities
from blindfuse.typing import Array, Codes, Floats

MAX_CODES = 4096
"""Codes per group: a table of this size stays in the second-level cache."""
MIN_ITEMS, MIN_ITEMS_PER_CODE = 5_000, 8
"""With fewer items, computing the tables takes longer than they save."""


@dataclass(frozen=True, eq=False)
class PackedResponses:
    """Complete responses with one code per pattern and group of annotators.

    Attributes
    ----------
    codes
        ``[pattern, group]``. Each code is a row of one table with the rows of all groups in turn.
        Within a group, a code is a number with one digit per annotator, its symbol, to the base of
        the number of classes. Patterns are sorted by their codes.
    groups
        positions of the annotators of each group.
    starts
        ``[code]``: the first pattern with this code of the first group, so that one look-up serves
        all of them.
    order
        items sorted by pattern.
    firsts
        ``[pattern]``: the position in ``order`` of the first item of a pattern.
    sizes
        ``[pattern]``: number of items; None if every pattern has one.
    """

    codes: NDArray[np.uint16]
    groups: list[Codes]
    starts: Codes
    order: Codes
    firsts: Codes
    sizes: Floats | None

    def pattern_weights(self, weights: Floats | None) -> Floats | None:
        """Return the weight of each pattern from ``weights[item]``; None means one each."""
        if weights is None:
            return self.sizes
        return np.asarray(np.add.reduceat(weights[self.order], self.firsts))

    def tables(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats | None]:
        """Return joint probabilities ``[code, true]``, and their divisors ``[code]`` or None.

        The rows of the first group include the prior. With more than MAX_FACTORS annotators their
        product could underflow, so each row is divided by its largest entry.
        """
        K, L = confusions.shape[1:]
        sizes = [K ** len(group) for group in self.groups]
        table = np.empty((sum(sizes), L))
        begin, before = 0, prior
        for group, size in zip(self.groups, sizes, strict=True):
            rows = table[begin : begin + size]
            joint_probabilities(confusions, group, before, lanes_of(L), rows)
            begin, before = begin + size, np.ones_like(prior)
        if len(confusions) <= MAX_FACTORS:
            return table, None
        largest = table.max(axis=1)
        table /= largest[:, None]
        return table, largest

    def unpack_counts(self, code_counts: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """Convert expected counts ``[code, true]`` to those of annotators, and totals.

        Returns ``counts[annotator, reported, true]`` and ``totals[true]``.
        """
        L = code_counts.shape[1]
        counts = np.empty((sum(map(len, self.groups)), n_classes, L))
        begin = 0
        for group in self.groups:
            digits = _digits(n_classes, len(group))
            rows = code_counts[begin : begin + digits.shape[1]]
            counts[group] = (digits @ rows).reshape(len(group), n_classes, L)
            begin += len(rows)
        return counts, counts[self.groups[0][0]].sum(axis=0)


@cache
def _digits(base: int, size: int) -> Floats:
    """Return ``[(annotator, digit), code]``: one if the code has this digit, and else zero."""
    codes = np.indices([base] * size).reshape(size, 1, -1)
    return np.asarray(codes == np.arange(base)[None, :, None], dtype=float).reshape(-1, base**size)


def pack(matrix: Array, n_classes: int) -> PackedResponses | None:
    """Pack ``matrix[item, annotator]`` of symbols; None if packing saves nothing.

    At most MAX_FACTORS annotators may be outside of a group: the product of their probabilities
    with the largest entry of the group's row must not underflow.
    """
    N, M = matrix.shape
    size = 1
    while size < M and n_classes ** (size + 1) <= min(MAX_CODES, N // MIN_ITEMS_PER_CODE):
        size += 1
    if N < MIN_ITEMS or size < 2 or M - size > MAX_FACTORS:
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
    is_first = np.concatenate([[True], (codes[:, 1:] != codes[:, :-1]).any(axis=0)])
    firsts = np.flatnonzero(is_first)
    sizes = None if len(firsts) == N else np.diff(firsts, append=N).astype(float)
    patterns = np.ascontiguousarray(codes[:, firsts].T)
    starts = np.searchsorted(patterns[:, 0], np.arange(n_classes ** len(groups[0]) + 1))
    return PackedResponses(patterns, groups, starts, order, firsts, sizes)
