"""Sorting responses into rows by counting, in linear time."""

import numpy as np

from blindfuse.kernels.compilation import kernel, prefetch

PREFETCH_DISTANCE = 16
"""How many responses ahead a cache line is prefetched."""


@kernel
def count_rows(rows, n_rows):
    """Count the responses of each row."""
    counts = np.zeros(n_rows, np.int64)
    for row in rows:
        counts[row] += 1
    return counts


@kernel
def scatter(rows, codes, symbols, free, row_codes, row_symbols):
    """Copy responses into their rows, in the order in which they come.

    ``free[row]`` is the next free position of a row, and is updated.
    """
    for at in range(rows.size):
        if at + 2 * PREFETCH_DISTANCE < rows.size:
            prefetch(free, np.int64(rows[at + 2 * PREFETCH_DISTANCE]), 0)
            target = np.int64(free[rows[at + PREFETCH_DISTANCE]])
            prefetch(row_codes, target, 0)
            prefetch(row_symbols, target, 0)
        target = free[rows[at]]
        row_codes[target] = codes[at]
        row_symbols[target] = symbols[at]
        free[rows[at]] = target + 1
