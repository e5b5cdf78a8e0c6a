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
            prefetch(free, np.uint64(rows[at + 2 * PREFETCH_DISTANCE]))
            target = np.uint64(free[rows[at + PREFETCH_DISTANCE]])
            prefetch(row_codes, target)
            prefetch(row_symbols, target)
        place = free[rows[at]]
        row_codes[place] = codes[at]
        row_symbols[place] = symbols[at]
        free[rows[at]] = place + 1
