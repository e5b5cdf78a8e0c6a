"""Hashes of items, annotators and classes that depend on the responses only."""

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
