"""Counting who said what together, on bit sets: one row of bits per annotator and class."""

import numpy as np

from blindfuse.kernels.compilation import kernel, popcount

WORDS = 256
"""Words of 64 items in a block: a row of 2 KiB, so that the rows of one block stay in cache."""


@kernel
def count_together(starts, annotators, labels, first, last, n_annotators, n_counted):
    """Counts of labels, of pairs and of triples of labels on the items ``first … last − 1``.

    Classes from ``n_counted`` on are left out: with complete answers they follow from the margins.

    Returns
    -------
    singles ``[annotator, label]``; pairs ``[pair, label, label]`` and triples
    ``[triple, label, label, label]`` in lexicographic order of the annotators m < m' < m''.
    """
    L = n_counted
    n_pairs = n_annotators * (n_annotators - 1) // 2
    n_triples = n_pairs * (n_annotators - 2) // 3
    singles = np.zeros((n_annotators, L), np.int64)
    pairs = np.zeros((n_pairs, L, L), np.int64)
    triples = np.zeros((n_triples, L, L, L), np.int64)
    bits = np.empty((n_annotators * L, WORDS), np.uint64)
    both = np.empty(WORDS, np.uint64)
    for block in range(first, last, WORDS * 64):
        end = min(block + WORDS * 64, last)
        bits[:] = 0
        for item in range(block, end):
            word = (item - block) >> 6
            bit = np.uint64(1) << np.uint64((item - block) & 63)
            for answer in range(starts[item], starts[item + 1]):
                if labels[answer] < L:
                    bits[annotators[answer] * L + labels[answer], word] |= bit
        _count_block(bits, both, n_annotators, L, singles, pairs, triples)
    return singles, pairs, triples


@kernel
def _count_block(bits, both, M, L, singles, pairs, triples):
    """AND and count the rows of bits of one block."""
    pair = 0
    triple = 0
    for m in range(M):
        for a in range(L):
            singles[m, a] += _ones(bits[m * L + a])
        for m2 in range(m + 1, M):
            for a in range(L):
                for b in range(L):
                    pairs[pair, a, b] += _both(bits[m * L + a], bits[m2 * L + b], both)
                    for third in range(M - m2 - 1):
                        row = (m2 + 1 + third) * L
                        for c in range(L):
                            triples[triple + third, a, b, c] += _overlap(both, bits[row + c])
            triple += M - m2 - 1
            pair += 1


@kernel
def _ones(row):
    total = np.uint64(0)
    for word in range(WORDS):
        total += popcount(row[word])
    return np.int64(total)


@kernel
def _both(row, other, out):
    total = np.uint64(0)
    for word in range(WORDS):
        out[word] = row[word] & other[word]
        total += popcount(out[word])
    return np.int64(total)


@kernel
def _overlap(row, other):
    total = np.uint64(0)
    for word in range(WORDS):
        total += popcount(row[word] & other[word])
    return np.int64(total)
