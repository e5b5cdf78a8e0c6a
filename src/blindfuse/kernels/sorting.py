"""Sorting answers into rows by counting: a step an answer, whatever their order."""

import numpy as np

from blindfuse.kernels.compilation import kernel, prefetch

AHEAD = 16
"""How many answers ahead a cache line is asked for."""


@kernel
def count_rows(rows, n_rows):
    """How many answers each row has."""
    counts = np.zeros(n_rows, np.int64)
    for row in rows:
        counts[row] += 1
    return counts


@kernel
def scatter(rows, codes, labels, free, row_codes, row_labels):
    """Put answers where their row is, in the order they come in.

    ``free[row]`` is the next free place of a row.
    """
    for at in range(rows.size):
        if at + 2 * AHEAD < rows.size:
            prefetch(free, np.int64(rows[at + 2 * AHEAD]), 0)
            place = np.int64(free[rows[at + AHEAD]])
            prefetch(row_codes, place, 0)
            prefetch(row_labels, place, 0)
        place = free[rows[at]]
        row_codes[place] = codes[at]
        row_labels[place] = labels[at]
        free[rows[at]] = place + 1


@kernel
def keep_one(starts, codes, labels, keep_last, kept):
    """Keep each code of a row once, with its first label or its last, and close the gaps.

    The codes of a row ascend. ``kept[row]`` becomes the number of its codes; returns that of all.
    """
    place = 0
    for row in range(kept.size):
        begin = place
        for at in range(starts[row], starts[row + 1]):
            if place == begin or codes[at] != codes[place - 1]:
                codes[place] = codes[at]
                labels[place] = labels[at]
                place += 1
            elif keep_last:
                labels[place - 1] = labels[at]
        kept[row] = place - begin
    return place
