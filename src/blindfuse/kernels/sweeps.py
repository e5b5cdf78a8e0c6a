"""One sweep of Algorithm 1: each confusion matrix in turn, then the prior.

The Gram matrix and the target of a block (:mod:`blindfuse.kernels.admm`) are computed from explicit
moments, or directly from the responses.

=========  ==================================  =====================================
paper      variable                            meaning
=========  ==================================  =====================================
M, K       ``M``, ``K``                        numbers of annotators and classes
R          ``R``                               number of symbols (K for plain labels)
Γ_m        ``confusions[m, reported, true]``   confusion matrix
π          ``prior[true]``                     class prior
G, B       ``gram``, ``target``                quadratic and linear term of a block
P_m        ``grams[m]``                        Γ_mᵀ Γ_m
=========  ==================================  =====================================
"""

from typing import Any, NamedTuple

import numpy as np

from blindfuse.kernels.admm import update_confusion, update_prior
from blindfuse.kernels.compilation import inlined, kernel, nested, prefetch
from blindfuse.kernels.vectors import CACHE_LINE, filled, load, store
from blindfuse.typing import Array, Floats

LANES = 4
"""Entries per vector. With eight, groups of two or three classes would take two cache lines."""
AHEAD = np.uint64(48)
"""How many groups ahead memory is prefetched."""
ZERO, ONE, TWO, WIDTH, LINE = map(np.uint64, (0, 1, 2, LANES, CACHE_LINE))


@inlined
def _dot(left, right):
    total = 0.0
    for j in range(left.size):
        total += left[j] * right[j]
    return total


@inlined
def _add_products(rows, columns, begin, total):
    """Add ``columns`` times ``rows``ᵀ to ``total``, using entries from ``begin`` on."""
    for k in range(columns.shape[0]):
        for a in range(rows.shape[0]):
            total[k, a] += _dot(rows[a, begin:], columns[k, begin:])


@nested
def _stack(confusions, m, stacked, grams):
    """Copy Γ_m into ``stacked[true, m, reported]`` and compute P_m in ``grams[m]``."""
    K, _, R = stacked.shape
    for k in range(K):
        for a in range(R):
            stacked[k, m, a] = confusions[m, a, k]
    for k in range(K):
        for l in range(K):
            grams[m, k, l] = _dot(stacked[k, m], stacked[l, m])


@nested
def _products(stacked, m, begin, products):
    """Fill ``products[k, (pair, b, c)]`` with Γ_i(b, k) Γ_j(c, k) for pairs of others than m.

    The pairs i < j are in lexicographic order; only those with i ≥ ``begin`` are filled.
    """
    K, M, R = stacked.shape
    at = 0
    for i in range(M):
        for j in range(i + 1, M):
            if i != m and j != m:
                if i >= begin:
                    for k in range(K):
                        for b in range(R):
                            for c in range(R):
                                products[k, at + b * R + c] = stacked[k, i, b] * stacked[k, j, c]
                at += R * R


@nested
def _gram_of_others(grams, m, begin, seen, seen2, seen3, pair, gram):
    """Fill ``gram`` with the sum of (36) over annotators i, j ≥ ``begin`` other than m.

    Sums the weights times 1, P_i and P_i ∘ P_j.
    """
    M, K, _ = grams.shape
    for k in range(K):
        for l in range(K):
            gram[k, l] = seen[m]
    for i in range(begin, M):
        if i != m:
            for k in range(K):
                for l in range(K):
                    gram[k, l] += seen2[m, i] * grams[i, k, l]
            for j in range(i + 1, M):
                if j != m:
                    weight = seen3[m, pair]
                    pair += 1
                    for k in range(K):
                        for l in range(K):
                            gram[k, l] += weight * grams[i, k, l] * grams[j, k, l]


@kernel
def sweep_moments(
    first, second, third, seen, seen2, seen3,
    confusions, prior, duals, prior_dual, fixed, proximal, inner,
):  # fmt: skip
    """Make one sweep on explicit weighted moments; return h_N without its constant ½Σw‖moments‖².

    Parameters
    ----------
    first ``[m, a]``, second ``[m, a, (m', b)]``, third ``[m, a, (pair, b, c)]``
        weighted moments, unfolded for each annotator. Pairs are those of the *other* annotators in
        lexicographic order, so that the pairs after m are at the end of the list.
    seen ``[m]``, seen2 ``[m, m']``, seen3 ``[m, pair]``
        the weights.
    """
    M, R, K = confusions.shape
    stacked = np.empty((K, M, R))
    stacked_rows = stacked.reshape((K, M * R))
    grams, gram, target = np.empty((M, K, K)), np.empty((K, K)), np.empty((K, R))
    products = np.empty((K, third.shape[2]))
    for m in range(M):
        _stack(confusions, m, stacked, grams)
    for m in range(M):
        _products(stacked, m, 0, products)
        for k in range(K):
            for a in range(R):
                target[k, a] = first[m, a]
        _add_products(second[m], stacked_rows, 0, target)
        _add_products(third[m], products, 0, target)
        _gram_of_others(grams, m, 0, seen, seen2, seen3, 0, gram)
        update_confusion(gram, target, prior, confusions[m], duals[m], proximal, inner)
        _stack(confusions, m, stacked, grams)

    # Count each pair and triple once: m with the annotators after it.
    total_target, total_gram = np.zeros(K), np.zeros((K, K))
    for m in range(M):
        later = (m + 1) * R
        tail = third.shape[2] - (M - 1 - m) * (M - 2 - m) // 2 * R * R
        _products(stacked, m, m + 1, products)
        _gram_of_others(grams, m, m + 1, seen, seen2, seen3, tail // (R * R), gram)
        for k in range(K):
            for a in range(R):
                target[k, a] = first[m, a]
        _add_products(second[m], stacked_rows, later, target)
        _add_products(third[m], products, tail, target)
        for k in range(K):
            for a in range(R):
                total_target[k] += confusions[m, a, k] * target[k, a]
            for l in range(K):
                total_gram[k, l] += gram[k, l] * grams[m, k, l]
    return update_prior(total_gram, total_target, prior, prior_dual, fixed, proximal, inner)


class Groups(NamedTuple):
    """Items with the same responses (patterns), or with the same annotators (panels).

    Attributes
    ----------
    by_group, by_annotator
        compressed rows ``(starts, codes, symbols)`` of the annotators of each group, and of the
        groups of each annotator.
    sizes ``[group]``
        number of items.
    weights
        the size of the group of each entry of ``by_annotator``, which are read in this order: a
        sweep takes half as long as with sizes that are looked up.
    counts ``[m, a]``
        number of items to which an annotator reported a symbol.
    polynomials ``[group, degree − 1, k]``
        a buffer that is reused in every sweep: elementary symmetric polynomials, of degrees 1 and
        2, of the rows of the group's annotators. It begins at a cache line.
    """

    by_group: Any
    by_annotator: Any
    sizes: Array
    weights: Array
    counts: Floats
    polynomials: Floats


@nested
def _fill_polynomials(groups, rows):
    """Compute the polynomials from ``rows[annotator, symbol, k]``.

    Here and below, k is padded to whole vectors, and indices are unsigned: signed ones could be
    negative, which Numba would check.
    """
    starts, annotators, symbols = groups.by_group
    R, L = np.uint64(rows.shape[1]), np.uint64(rows.shape[2])
    for group in range(np.uint64(groups.sizes.size)):
        begin, end = np.uint64(starts[group]), np.uint64(starts[group + ONE])
        for k in range(ZERO, L, WIDTH):
            first = second = filled(0.0, LANES)
            for at in range(begin, end):
                cell = np.uint64(annotators[at]) * R + np.uint64(symbols[at])
                row = load(rows, cell * L + k, LANES)
                second = second + row * first
                first = first + row
            store(groups.polynomials, TWO * group * L + k, first)
            store(groups.polynomials, (TWO * group + ONE) * L + k, second)


@inlined
def _prefetch(polynomials, codes, at, end):
    """Prefetch the polynomials of a later group of an annotator, as its groups are scattered.

    Without this, sweeps over many sparse responses take twice as long.
    """
    if at + AHEAD < end:
        size = np.uint64(2 * polynomials.shape[2])
        for entry in range(ZERO, size, LINE):
            prefetch(polynomials, np.uint64(codes[at + AHEAD]) * size + entry)


@nested
def _sum_others(groups, m, rows, total):
    """Fill ``total[symbol, k]`` with Σ of size · (1 + e₁ + e₂) over the groups of annotator m.

    e₁ and e₂ are the polynomials without the annotator's own ``rows[symbol, k]``.
    """
    starts, codes, symbols = groups.by_annotator
    polynomials, L, end = groups.polynomials, np.uint64(rows.shape[1]), np.uint64(starts[m + 1])
    total[:] = 0.0
    for at in range(np.uint64(starts[m]), end):
        _prefetch(polynomials, codes, at, end)
        group, symbol = np.uint64(codes[at]), np.uint64(symbols[at]) * L
        size = filled(np.float64(groups.weights[at]), LANES)
        for k in range(ZERO, L, WIDTH):
            row = load(rows, symbol + k, LANES)
            first = load(polynomials, TWO * group * L + k, LANES) - row
            second = load(polynomials, (TWO * group + ONE) * L + k, LANES) - row * first
            others = size * (filled(1.0, LANES) + first + second)
            store(total, symbol + k, load(total, symbol + k, LANES) + others)


@nested
def _replace(groups, m, old, new):
    """Change the polynomials of the groups of annotator m from its old to its new rows."""
    starts, codes, symbols = groups.by_annotator
    polynomials, L, end = groups.polynomials, np.uint64(old.shape[1]), np.uint64(starts[m + 1])
    for at in range(np.uint64(starts[m]), end):
        _prefetch(polynomials, codes, at, end)
        group, symbol = np.uint64(codes[at]), np.uint64(symbols[at]) * L
        for k in range(ZERO, L, WIDTH):
            one, two = TWO * group * L + k, (TWO * group + ONE) * L + k
            before, first = load(old, symbol + k, LANES), load(polynomials, one, LANES)
            change = load(new, symbol + k, LANES) - before
            second = load(polynomials, two, LANES) + change * (first - before)
            store(polynomials, one, first + change)
            store(polynomials, two, second)


@nested
def _sum_all(groups, rows, total):
    """Fill ``total[k]`` with Σ over groups of size · (e₁ + e₂ + e₃), polynomials of degrees 1–3.

    By Newton's identities e₃ = e₁e₂ + (p₃ − e₁³)/3, where p₃ is the sum of the cubes of the rows.
    Over all groups, a row occurs ``counts[annotator, symbol]`` times, so that no group is taken
    apart into its responses.
    """
    M, R, L = rows.shape
    total[:] = 0.0
    for m in range(M):
        for a in range(R):
            for k in range(L):
                total[k] += groups.counts[m, a] / 3.0 * rows[m, a, k] ** 3
    for group in range(np.uint64(groups.sizes.size)):
        size = np.float64(groups.sizes[group])
        for k in range(np.uint64(L)):
            first, second = groups.polynomials[group, 0, k], groups.polynomials[group, 1, k]
            total[k] += size * (first + second + first * second - first * first * first / 3.0)


@nested
def _pack_gram(confusion, packed):
    """Fill ``packed[0]`` with the upper triangle of P_m = Γ_mᵀ Γ_m, row by row."""
    R, K = confusion.shape
    at = 0
    for k in range(K):
        for l in range(k, K):
            packed[0, at] = 0.0
            for a in range(R):
                packed[0, at] += confusion[a, k] * confusion[a, l]
            at += 1


@nested
def _unpack_gram(packed, scale, gram):
    """Fill ``gram`` with the symmetric matrix of the upper triangle ``packed``, scaled."""
    at = 0
    for k in range(gram.shape[0]):
        for l in range(k, gram.shape[0]):
            gram[k, l] = gram[l, k] = packed[at] * scale
            at += 1


@kernel
def sweep_responses(
    patterns, panels, n_items, confusions, prior, duals, prior_dual, fixed, proximal, inner
):
    """Make one sweep directly from responses, with weights n/N; return h_N without its constant.

    The sums over pairs and triples of annotators of the same item are elementary symmetric
    polynomials of the rows g_m = Γ_m[f_m(n), :] of the item's annotators, which are equal for the
    items of a pattern. For the Gram matrices they are the same polynomials of P_m, which are equal
    for the items of a panel: there k is an entry of the upper triangle, and the only symbol is 0.
    """
    M, R, K = confusions.shape
    L, scale = panels.polynomials.shape[2], 1.0 / n_items
    rows = np.zeros((M, R, patterns.polynomials.shape[2]))
    rows[:, :, :K] = confusions
    grams, old_gram, packed = np.zeros((M, 1, L)), np.empty((1, L)), np.empty((1, L))
    for m in range(M):
        _pack_gram(confusions[m], grams[m])
    _fill_polynomials(patterns, rows)
    _fill_polynomials(panels, grams)
    gram, target = np.empty((K, K)), np.empty((K, R))
    old, reported = np.empty_like(rows[0]), np.empty_like(rows[0])
    for m in range(M):
        old[:] = rows[m]
        old_gram[:] = grams[m]
        _sum_others(patterns, m, old, reported)
        _sum_others(panels, m, old_gram, packed)
        _unpack_gram(packed[0], scale, gram)
        for k in range(K):
            for a in range(R):
                target[k, a] = reported[a, k] * scale
        update_confusion(gram, target, prior, confusions[m], duals[m], proximal, inner)
        _pack_gram(confusions[m], grams[m])
        rows[m, :, :K] = confusions[m]
        _replace(patterns, m, old, rows[m])
        _replace(panels, m, old_gram, grams[m])
    total = np.empty(rows.shape[2])
    _sum_all(patterns, rows, total)
    _sum_all(panels, grams, packed[0])
    _unpack_gram(packed[0], scale, gram)
    return update_prior(gram, total[:K] * scale, prior, prior_dual, fixed, proximal, inner)
