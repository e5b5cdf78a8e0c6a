"""Hashes of items, annotators and classes that depend on the responses only, and reordered rows."""

from typing import Any

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel

STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Constants of the finalizer of SplitMix64 (Steele, Lea and Flood 2014)."""


def mix(one: Any, other: Any) -> Any:
    """Return 64 bits that look random, for each pair of 64-bit numbers; arrays are paired too."""
    bits = (one + np.uint64(STEP)) ^ (other * np.uint64(FIRST))
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(FIRST)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(SECOND)
    return bits ^ (bits >> np.uint64(31))


_mix = inlined(mix)


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


@inlined
def _sort_row(codes, symbols, begin, end):
    """Sort a row by its codes, by Shell's method."""
    gap = np.int64(1)
    while 9 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(begin + gap, end):
            code, symbol = codes[at], symbols[at]
            place = at
            while place - gap >= begin and codes[place - gap] > code:
                codes[place] = codes[place - gap]
                symbols[place] = symbols[place - gap]
                place -= gap
            codes[place], symbols[place] = code, symbol
        gap //= 3


@kernel
def permute_rows(
    starts,
    codes,
    symbols,
    order,
    first,
    last,
    new_codes,
    new_symbols,
    to_starts,
    to_codes,
    to_symbols,
):
    """Copy the rows ``order[first:last]`` with new codes and symbols, each row sorted by code."""
    for row in range(first, last):
        target = np.int64(to_starts[row])
        begin, end = np.int64(starts[order[row]]), np.int64(starts[order[row] + 1])
        for at in range(begin, end):
            to_codes[target + at - begin] = new_codes[codes[at]]
            to_symbols[target + at - begin] = new_symbols[symbols[at]]
        _sort_row(to_codes, to_symbols, target, target + end - begin)
