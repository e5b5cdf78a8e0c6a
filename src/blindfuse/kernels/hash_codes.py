"""Integer codes for hashed values, in the order of their first appearance."""

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import MIN_COMPILED, kernel, prefetch
from blindfuse.typing import Array, Integers

PREFETCH_DISTANCE = 16
"""How many look-ups ahead a cache line is prefetched."""
MAX_RANGE_PER_VALUE = 1
"""Range of integers, relative to how many there are, up to which a table has a place for each."""


@kernel
def _fill(hashes, at, table, firsts, count, codes):
    """Code the hashes from position ``at`` on; stop at a new hash if ``firsts`` is full.

    Returns the position reached and the number of codes. ``table`` is a hash table with open
    addressing: a row holds a hash and its code plus one, or zero if it is free. It has at least
    twice as many rows as there are codes, so that a look-up takes one or two steps.
    """
    mask = np.uint64(table.shape[0] - 1)
    while at < hashes.size:
        if at + PREFETCH_DISTANCE < hashes.size:
            prefetch(table, np.uint64(2) * (hashes[at + PREFETCH_DISTANCE] & mask))
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


def factorize_hashes(hashes: NDArray[np.uint64]) -> tuple[Array, Array]:
    """Return one code per 64-bit hash, and the position of the first hash of each code."""
    if len(hashes) >= MIN_COMPILED:
        codes, firsts = _factorize(hashes)
        return codes, firsts
    _, firsts, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return rank[inverse], firsts[order]


@kernel
def _factorize(hashes):
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


def factorize_integers(values: Integers) -> tuple[Array, Array]:
    """Return one code per integer, and the position of the first integer of each code."""
    wide = values.astype(np.int64, copy=False)
    low, high = (int(wide.min()), int(wide.max())) if len(wide) else (0, 0)
    if len(wide) < MIN_COMPILED or high - low >= MAX_RANGE_PER_VALUE * len(wide):
        return factorize_hashes(wide.view(np.uint64))
    codes, firsts = np.empty(len(wide), np.int32), np.empty(high - low + 1, np.int64)
    count = _number(wide, low, np.full(high - low + 1, -1, np.int32), firsts, codes)
    return codes, firsts[:count]


@kernel
def _number(values, low, code_of_value, firsts, codes):
    """Number the values by their first appearance; return how many there are."""
    count = 0
    for at in range(values.size):
        place = values[at] - low
        if code_of_value[place] < 0:
            code_of_value[place] = count
            firsts[count] = at
            count += 1
        codes[at] = code_of_value[place]
    return count
