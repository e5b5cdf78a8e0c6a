"""Responses of pairs of annotators to their common items, counted."""

import numpy as np

from blindfuse.kernels.compilation import kernel
from blindfuse.kernels.moment_counts import BLOCK_WORDS, count_common


@kernel
def add_pair_counts(starts, annotators, symbols, n_symbols, counts):
    """Add 1 to ``counts[(i, a), (j, b)]`` per item for which i reports a and j reports b, i < j.

    The responses to an item are sorted by annotator. The axes (i, a) and (j, b) are flat.
    """
    for item in range(starts.size - 1):
        for one in range(starts[item], starts[item + 1]):
            row = counts[annotators[one] * n_symbols + symbols[one]]
            for other in range(one + 1, starts[item + 1]):
                row[annotators[other] * n_symbols + symbols[other]] += 1


@kernel
def add_pair_counts_by_bits(starts, annotators, symbols, n_symbols, counts):
    """Like :func:`add_pair_counts`, for tables in which most annotators respond to most items.

    Every annotator and symbol is a row of bits, one bit per item of a block, so that an instruction
    counts 64 items.
    """
    R = n_symbols
    bits = np.empty((len(counts), BLOCK_WORDS), np.uint64)
    n_items = starts.size - 1
    for block in range(0, n_items, BLOCK_WORDS * 64):
        bits[:] = 0
        for item in range(block, min(block + BLOCK_WORDS * 64, n_items)):
            word = (item - block) >> 6
            bit = np.uint64(1) << np.uint64((item - block) & 63)
            for response in range(starts[item], starts[item + 1]):
                bits[annotators[response] * R + symbols[response], word] |= bit
        for one in range(len(counts)):
            for other in range((one // R + 1) * R, len(counts)):
                counts[one, other] += count_common(bits[one], bits[other])
