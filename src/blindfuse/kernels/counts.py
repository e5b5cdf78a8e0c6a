"""Counts of responses, pairs and triples; most on bit sets, a row per annotator and symbol."""

import numpy as np

from blindfuse.kernels.compilation import kernel, popcount

BLOCK_WORDS = 256
"""64-bit words per row of a block: rows of 2 KiB, so that all rows of a block stay in cache."""


@kernel
def count_tuples(starts, annotators, symbols, first, last, n_annotators, n_counted):
    """Count responses, pairs and triples of responses on the items ``first … last − 1``.

    Symbols from ``n_counted`` on are left out: with complete responses their counts follow from
    the margins.

    Returns
    -------
    singles ``[annotator, symbol]``; pairs ``[pair, symbol, symbol]`` and triples
    ``[triple, symbol, symbol, symbol]`` in lexicographic order of the annotators m < m' < m''.
    """
    L = n_counted
    n_pairs = n_annotators * (n_annotators - 1) // 2
    n_triples = n_pairs * (n_annotators - 2) // 3
    singles = np.zeros((n_annotators, L), np.int64)
    pairs = np.zeros((n_pairs, L, L), np.int64)
    triples = np.zeros((n_triples, L, L, L), np.int64)
    bits = np.empty((n_annotators * L, BLOCK_WORDS), np.uint64)
    both = np.empty(BLOCK_WORDS, np.uint64)
    for block in range(first, last, BLOCK_WORDS * 64):
        end = min(block + BLOCK_WORDS * 64, last)
        bits[:] = 0
        for item in range(block, end):
            word = (item - block) >> 6
            bit = np.uint64(1) << np.uint64((item - block) & 63)
            for response in range(starts[item], starts[item + 1]):
                if symbols[response] < L:
                    bits[annotators[response] * L + symbols[response], word] |= bit
        _count_block(bits, both, n_annotators, L, singles, pairs, triples)
    return singles, pairs, triples


@kernel
def _count_block(bits, both, M, L, singles, pairs, triples):
    """Add the counts of one block: AND rows of bits and count the ones."""
    pair = 0
    triple = 0
    for m in range(M):
        for a in range(L):
            singles[m, a] += _count_ones(bits[m * L + a])
        for m2 in range(m + 1, M):
            for a in range(L):
                for b in range(L):
                    pairs[pair, a, b] += _intersect(bits[m * L + a], bits[m2 * L + b], both)
                    for third in range(M - m2 - 1):
                        row = (m2 + 1 + third) * L
                        for c in range(L):
                            triples[triple + third, a, b, c] += _count_common(both, bits[row + c])
            triple += M - m2 - 1
            pair += 1


@kernel
def _count_ones(row):
    total = np.uint64(0)
    for word in range(BLOCK_WORDS):
        total += popcount(row[word])
    return np.int64(total)


@kernel
def _intersect(row, other, out):
    """Fill ``out`` with the AND of two rows, and count its ones."""
    total = np.uint64(0)
    for word in range(BLOCK_WORDS):
        out[word] = row[word] & other[word]
        total += popcount(out[word])
    return np.int64(total)


@kernel
def _count_common(row, other):
    """Return the number of bits that are set in both rows of BLOCK_WORDS words."""
    total = np.uint64(0)
    for word in range(BLOCK_WORDS):
        total += popcount(row[word] & other[word])
    return np.int64(total)


@kernel
def add_pair_counts(starts, annotators, symbols, n_symbols, counts):
    """Add 1 to ``counts[(i, a), (j, b)]`` per item for which i reports a and j reports b, i < j.

    The responses to an item are sorted by annotator. The axes (i, a) and (j, b) are flat.
    """
    for item in range(starts.size - 1):
        for one in range(starts[item], starts[item + 1]):
            row = counts[annotators[one] * n_symbols + symbols[one]]
            for other in range(one + 1, starts[item + 1]):
                row[annotators[other] * n_symbols + symbols[other]] += 1
