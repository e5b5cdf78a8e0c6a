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


@kernel
def sort_within_rows(starts, codes, symbols, first, last, longest):
    """Sort the responses of the rows from ``first`` to ``last`` by code, stably and in place.

    ``longest`` is the length of the longest row. The position of a response is the number of
    smaller codes, counted without branches: for short rows that is faster than any sort.
    """
    own_codes, own_symbols = np.empty(longest, codes.dtype), np.empty(longest, symbols.dtype)
    for row in range(first, last):
        begin = starts[row]
        count = starts[row + 1] - begin
        for at in range(count):
            own_codes[at] = codes[begin + at]
            own_symbols[at] = symbols[begin + at]
        for at in range(count):
            code = own_codes[at]
            target = begin
            for other in range(at):
                target += own_codes[other] <= code
            for other in range(at + 1, count):
                target += own_codes[other] < code
            codes[target] = code
            symbols[target] = own_symbols[at]
