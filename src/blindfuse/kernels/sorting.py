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


@kernel
def deduplicate(starts, codes, symbols, keep_last, kept):
    """Keep each code of a row once, with its first or its last symbol, and close the gaps.

    The codes of a row are in ascending order. Fills ``kept[row]`` with the number of codes that
    the row keeps, and returns their sum.
    """
    target = 0
    for row in range(kept.size):
        begin = target
        for at in range(starts[row], starts[row + 1]):
            if target == begin or codes[at] != codes[target - 1]:
                codes[target] = codes[at]
                symbols[target] = symbols[at]
                target += 1
            elif keep_last:
                symbols[target - 1] = symbols[at]
        kept[row] = target - begin
    return target
