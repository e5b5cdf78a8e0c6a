"""Loops over the responses of a table: sorting into rows, codes of names, hashes of the content."""

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import inlined, kernel, prefetch
from blindfuse.typing import Array, Integers

PREFETCH_DISTANCE = 16
"""How many responses or look-ups ahead a cache line is prefetched."""
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Constants of the finalizer of SplitMix64 (Steele, Lea and Flood 2014)."""


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
    codes, firsts = _factorize(hashes)
    return codes, firsts


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
    """Return one code per integer, and the position of the first integer of each code.

    If their range is smaller than their number, a table with a place for each replaces hashes.
    """
    wide = values.astype(np.int64, copy=False)
    low, high = (int(wide.min()), int(wide.max())) if len(wide) else (0, 0)
    if high - low >= len(wide):
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


@inlined
def _mix(one, other):
    """Return 64 bits that look random, for each pair of 64-bit numbers."""
    bits = (one + np.uint64(STEP)) ^ (other * np.uint64(FIRST))
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(FIRST)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(SECOND)
    return bits ^ (bits >> np.uint64(31))


@kernel
def hash_items(starts, codes, symbols, first, last, annotators, classes, items):
    """Fill ``items[first:last]`` from the hashes of the annotators and classes of an item.

    A hash is a sum over responses, so that their order does not matter.
    """
    for n in range(first, last):
        total = np.uint64(0)
        for at in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            total += _mix(annotators[np.uint64(codes[at])], classes[np.uint64(symbols[at])])
        items[n] = _mix(total, np.uint64(starts[n + 1] - starts[n]))


@kernel
def add_hashes(starts, codes, symbols, items, annotators, classes, to_annotators, to_classes):
    """Add to the hash of every annotator and class those of the items and responses it is in."""
    for n in range(starts.size - 1):
        for at in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m, a = np.uint64(codes[at]), np.uint64(symbols[at])
            to_annotators[m] += _mix(items[n], classes[a])
            to_classes[a] += _mix(items[n], annotators[m])
