"""Responses of pairs of annotators to their common items, counted and compared with a model."""

import numpy as np

from blindfuse.kernels.compilation import kernel
from blindfuse.kernels.moment_counts import BLOCK_WORDS, count_common


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


@kernel
def add_pair_counts_by_bits(starts, annotators, symbols, n_symbols, counts):
    """Like :func:`add_pair_counts`, for tables in which most annotators respond to most items.

    Every annotator and symbol is a row of bits, one bit per item of a block, so that an instruction
    counts 64 items.
    """
    R = n_symbols
    bits = np.empty((len(counts), BLOCK_WORDS), np.uint64)
    n_items = starts.size - 1
    for block in range(0, n_items, BLOCK_WORDS * 64):
        bits[:] = 0
        for item in range(block, min(block + BLOCK_WORDS * 64, n_items)):
            word = (item - block) >> 6
            bit = np.uint64(1) << np.uint64((item - block) & 63)
            for response in range(starts[item], starts[item + 1]):
                bits[annotators[response] * R + symbols[response], word] |= bit
        for one in range(len(counts)):
            for other in range((one // R + 1) * R, len(counts)):
                counts[one, other] += count_common(bits[one], bits[other])


@kernel
def compare_with_model(
    counts, confusions, prior, min_common, lanes,
    first, second, common, residual, size, agreed, expected,
):  # fmt: skip
    """Compare ``counts[i, a, j, b]`` of pairs i < j with a model; return the number of pairs.

    The last seven arguments are arrays ``[pair]`` that are filled for the pairs with at least
    ``min_common`` common items: ``first`` and ``second`` are the annotators i and j, and ``common``
    is n, the number of common items. With S = counts / n and P = Γ_i Π Γ_jᵀ, ``residual`` is
    n ‖S − P‖², ``size`` is ‖P‖², and ``agreed`` and ``expected`` are the traces of S and P.
    ``lanes`` has one entry per symbol, so that loops are compiled for this number.
    """
    M, pair, K = len(confusions), 0, len(prior)
    joint = np.empty((len(lanes), K))
    for i in range(M):
        for a in range(len(lanes)):
            for k in range(K):
                joint[a, k] = confusions[i, a, k] * prior[k]
        for j in range(i + 1, M):
            n = 0
            for a in range(len(lanes)):
                for b in range(len(lanes)):
                    n += counts[i, a, j, b]
            if n < min_common:
                continue
            scale = 1.0 / n
            distance = squares = observed_trace = model_trace = 0.0
            for a in range(len(lanes)):
                for b in range(len(lanes)):
                    share = counts[i, a, j, b] * scale
                    probability = 0.0
                    for k in range(K):
                        probability += joint[a, k] * confusions[j, b, k]
                    distance += (share - probability) ** 2
                    squares += probability * probability
                    if a == b:
                        observed_trace += share
                        model_trace += probability
            first[pair], second[pair], common[pair] = i, j, n
            residual[pair], size[pair] = n * distance, squares
            agreed[pair], expected[pair] = observed_trace, model_trace
            pair += 1
    return pair
