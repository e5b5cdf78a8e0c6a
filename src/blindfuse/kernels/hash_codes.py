"""Numbers for values of which only hashes are known, in the order in which they first appear."""

import numpy as np

from blindfuse.kernels.compilation import kernel, prefetch

AHEAD = 16
"""How many look-ups ahead a cache line is asked for."""


@kernel
def _fill(hashes, at, table, firsts, count, codes):
    """Number hashes from position ``at`` on; stops at a new one for which ``firsts`` is full.

    ``table`` is open: rows of a hash and its code plus one, zero where free. It has twice as many
    rows as there are codes, so that a look-up takes a step or two.
    """
    mask = np.uint64(table.shape[0] - 1)
    while at < hashes.size:
        if at + AHEAD < hashes.size:
            prefetch(table, np.int64(hashes[at + AHEAD] & mask), 0)
        slot = hashes[at] & mask
        while table[slot, 1] != 0 and table[slot, 0] != hashes[at]:
            slot = (slot + np.uint64(1)) & mask
        if table[slot, 1] == 0:
            if count == firsts.size:
                break
            firsts[count] = at
            count += 1
            table[slot, 0] = hashes[at]
            table[slot, 1] = count
        codes[at] = np.int64(table[slot, 1]) - 1
        at += 1
    return at, count


@kernel
def number(hashes):
    """Codes of 64-bit hashes, equal for equal hashes, and the position of each code's first one."""
    codes = np.empty(hashes.size, np.int32)
    firsts = np.empty(1 << 9, np.int64)
    table = np.zeros((1 << 10, 2), np.uint64)
    at, count = _fill(hashes, 0, table, firsts, 0, codes)
    while at < hashes.size:
        table = np.zeros((8 * count, 2), np.uint64)
        _fill(hashes[firsts], 0, table, firsts.copy(), 0, np.empty(count, np.int32))
        firsts = np.concatenate((firsts, np.empty(3 * count, np.int64)))
        at, count = _fill(hashes, at, table, firsts, count, codes)
    return codes, firsts[:count]
