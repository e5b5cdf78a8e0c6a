"""One sweep of Algorithm 1: each confusion matrix in turn, then the prior.

As a function of one block X, the objective is ½ tr(Xᵀ G X) − tr(Bᵀ X) plus a constant. G and B are
computed from explicit moments or directly from the responses; the same ADMM then updates the block.
Loops are written out, because Numba compiles them in a tenth of the time of array expressions,
copies, reshapes and assignments to slices.

=========  ==================================  =====================================
paper      variable                            meaning
=========  ==================================  =====================================
M, K       ``M``, ``K``                        numbers of annotators and classes
R          ``R``                               number of symbols (K for plain labels)
Γ_m        ``confusions[m, reported, true]``   confusion matrix
π          ``prior[true]``                     class prior
X          ``block``                           Γ_mᵀ ``[true, reported]``, or π
G, B       ``gram``, ``target``                quadratic and linear term in X
P_m        ``grams[m]``                        Γ_mᵀ Γ_m
λ, ν       ``penalty``, ``proximal_weight``    weights of ADMM and of ‖X − X_prev‖²
=========  ==================================  =====================================
"""

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel, nested, prefetch
from blindfuse.kernels.vectors import LANES, filled, load, plus, store, times

INNER_TOLERANCE = 1e-8
"""Squared relative residual at which the inner ADMM of Appendix A stops."""

MAX_EXTENSION = 20
"""ADMM may take this many times ``inner`` iterations to find a block that is not worse."""

AHEAD = np.uint64(48)
"""How many groups ahead memory is prefetched: the groups of an annotator are scattered."""

SUMS = 4
"""Sums among which the groups of an annotator take turns, a power of two."""

ZERO, ONE, TWO, EIGHT, LAST_SUM = map(np.uint64, (0, 1, 2, LANES, SUMS - 1))
"""Unsigned numbers: signed indices could be negative, and Numba would check each of them."""


@nested
def project(vector, begin, end):
    """Project entries ``begin … end − 1`` onto the simplex, in place: P of (32) and (37).

    The projection is max(v − θ, 0), where θ makes it sum to one. Starting with all entries and
    dropping those that θ makes negative finds θ in at most K iterations, without sorting.
    """
    total = 0.0
    for k in range(begin, end):
        total += vector[k]
    count = end - begin
    threshold = (total - 1.0) / count
    for _ in range(begin, end):
        total = 0.0
        kept = 0
        for k in range(begin, end):
            if vector[k] > threshold:
                total += vector[k]
                kept += 1
        if kept >= count or kept == 0:
            break
        count = kept
        threshold = (total - 1.0) / count
    for k in range(begin, end):
        vector[k] = max(vector[k] - threshold, 0.0)


@kernel
def project_model(confusions, prior):
    """Project the columns of all confusion matrices, and the prior, onto the simplex, in place."""
    M, R, K = confusions.shape
    column = np.empty(R)
    for m in range(M):
        for k in range(K):
            for a in range(R):
                column[a] = confusions[m, a, k]
            project(column, np.int64(0), R)  # a literal 0 would be another signature
            for a in range(R):
                confusions[m, a, k] = column[a]
    project(prior, np.int64(0), K)


@nested
def invert(matrix):
    """Invert a symmetric positive definite matrix in place, by Gauss–Jordan without pivoting."""
    K = matrix.shape[0]
    for p in range(K):
        pivot = 1.0 / matrix[p, p]
        matrix[p, p] = 1.0
        for j in range(K):
            matrix[p, j] *= pivot
        for i in range(K):
            if i != p:
                factor = matrix[i, p]
                matrix[i, p] = 0.0
                for j in range(K):
                    matrix[i, j] -= factor * matrix[p, j]


@inlined
def _dot(left, right):
    total = 0.0
    for j in range(left.size):
        total += left[j] * right[j]
    return total


@nested
def quadratic(gram, target, block):
    """Return ½ tr(Xᵀ G X) − tr(Bᵀ X)."""
    K, C = block.shape
    total = 0.0
    for k in range(K):
        for c in range(C):
            total -= block[k, c] * target[k, c]
        for l in range(K):
            along = 0.0
            for c in range(C):
                along += block[k, c] * block[l, c]
            total += 0.5 * gram[k, l] * along
    return total


@nested
def admm(gram, target, block, dual, inverse, work, moved_to, proximal, inner):
    """Minimise ½ tr(Xᵀ G X) − tr(Bᵀ X) + ν/2 ‖X − X_prev‖² over the simplices, in place.

    Appendix A, (31)–(33) and (36)–(38): ``block`` is X = Γ_mᵀ [true, reported], whose rows are on
    the simplex, or X = π, a single column that is on the simplex as a whole.
    λ = tr(G)/K and ν = ``proximal`` · λ, so that neither depends on the scale of the data.

    Departs from the paper in one way: a block that increases the objective is rejected. ADMM first
    gets more iterations; if they do not help, the previous block is kept. The objective of the
    outer iteration therefore never increases.

    ``inverse[true, true]``, ``work[4, true, reported]`` and ``moved_to[(true, reported)]`` are
    buffers.
    """
    K, C = block.shape
    constant, previous, free, right = work[0], work[1], work[2], work[3]
    trace = 0.0
    for k in range(K):
        trace += gram[k, k]
    penalty = max(trace / K, 1e-300)
    proximal_weight = proximal * penalty
    for k in range(K):
        for l in range(K):
            inverse[k, l] = gram[k, l]
        inverse[k, k] += penalty + proximal_weight
        for c in range(C):
            previous[k, c] = block[k, c]
            constant[k, c] = target[k, c] + proximal_weight * block[k, c]
    invert(inverse)
    before = quadratic(gram, target, block)
    for iteration in range(inner * MAX_EXTENSION):
        for k in range(K):
            for c in range(C):
                right[k, c] = constant[k, c] + penalty * (block[k, c] + dual[k, c])
        for k in range(K):
            for c in range(C):
                free[k, c] = 0.0
            for l in range(K):
                factor = inverse[k, l]
                for c in range(C):
                    free[k, c] += factor * right[l, c]
            for c in range(C):
                moved_to[k * C + c] = free[k, c] - dual[k, c]
        size_of_simplex = K if C == 1 else C
        for begin in range(0, K * C, size_of_simplex):
            project(moved_to, begin, begin + size_of_simplex)
        gap = moved = size = dual_size = 0.0
        for k in range(K):
            for c in range(C):
                new = moved_to[k * C + c]
                gap += (new - free[k, c]) ** 2
                moved += (new - block[k, c]) ** 2
                block[k, c] = new
                dual[k, c] += new - free[k, c]
                size += block[k, c] ** 2
                dual_size += dual[k, c] ** 2
        converged = gap <= INNER_TOLERANCE * size and moved <= INNER_TOLERANCE * max(
            dual_size, size
        )
        if not converged and iteration + 1 < inner:
            continue
        if quadratic(gram, target, block) <= before:
            return
    for k in range(K):
        for c in range(C):
            block[k, c] = previous[k, c]


@inlined
def _update_confusion(gram, target, prior, confusion, dual, inverse, work, flat, proximal, inner):
    """Solve (23), the subproblem of one Γ_m, in place (step 5 of Algorithm 1).

    The sums of (36) are scaled by Π first.

    ``gram`` [true, true] and ``target`` [true, reported] are given without Π and are overwritten;
    ``dual`` [true, reported] is updated. ``inverse[true, true]``, ``work[5, true, reported]`` and
    ``flat[(true, reported)]`` are buffers.
    """
    R, K = confusion.shape
    block = work[4]
    for k in range(K):
        for l in range(K):
            gram[k, l] *= prior[k] * prior[l]
        for a in range(R):
            target[k, a] *= prior[k]
            block[k, a] = confusion[a, k]
    admm(gram, target, block, dual, inverse, work, flat, proximal, inner)
    for k in range(K):
        for a in range(R):
            confusion[a, k] = block[k, a]


@inlined
def _update_prior(gram, target, prior, dual, proximal, inner, fixed):
    """Solve (22), the subproblem of π, by (31) in place (step 8 of Algorithm 1).

    A known π is left as it is (Remark 4). Return the objective.
    """
    K = prior.size
    block, right, column = np.empty((K, 1)), np.empty((K, 1)), np.empty((K, 1))
    for k in range(K):
        block[k, 0], right[k, 0], column[k, 0] = prior[k], target[k], dual[k]
    if not fixed:
        inverse, work, flat = np.empty((K, K)), np.empty((4, K, 1)), np.empty(K)
        admm(gram, right, block, column, inverse, work, flat, proximal, inner)
        for k in range(K):
            prior[k], dual[k] = block[k, 0], column[k, 0]
    return quadratic(gram, right, block)


@inlined
def _eight_dots(a, b, c, d, left, right, dots):
    """Fill ``dots[8]`` with the products of four rows and two others; each entry is loaded once."""
    la = lb = lc = ld = ra = rb = rc = rd = 0.0
    for j in range(left.size):
        la += a[j] * left[j]
        lb += b[j] * left[j]
        lc += c[j] * left[j]
        ld += d[j] * left[j]
        ra += a[j] * right[j]
        rb += b[j] * right[j]
        rc += c[j] * right[j]
        rd += d[j] * right[j]
    dots[0], dots[1], dots[2], dots[3] = la, lb, lc, ld
    dots[4], dots[5], dots[6], dots[7] = ra, rb, rc, rd


@inlined
def _add_products(rows, columns, begin, dots, total):
    """Add ``columns`` times ``rows``ᵀ to ``total``, using entries from ``begin`` on.

    Beyond the last row or column the last one is repeated, and its products are dropped.
    """
    R, K = rows.shape[0], columns.shape[0]
    for k in range(0, K, 2):
        for a in range(0, R, 4):
            _eight_dots(
                rows[a, begin:],
                rows[min(a + 1, R - 1), begin:],
                rows[min(a + 2, R - 1), begin:],
                rows[min(a + 3, R - 1), begin:],
                columns[k, begin:],
                columns[min(k + 1, K - 1), begin:],
                dots,
            )
            for i in range(min(4, R - a)):
                total[k, a + i] += dots[i]
                if k + 1 < K:
                    total[k + 1, a + i] += dots[4 + i]


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
    grams = np.empty((M, K, K))
    for m in range(M):
        _stack(confusions, m, stacked, grams)
    products = np.empty((K, third.shape[2]))
    target = np.empty((K, R))
    gram = np.empty((K, K))
    inverse, work, flat = np.empty((K, K)), np.empty((5, K, R)), np.empty(K * R)
    dots = np.empty(8)
    for m in range(M):
        _products(stacked, m, 0, products)
        for k in range(K):
            for a in range(R):
                target[k, a] = first[m, a]
        _add_products(second[m], stacked_rows, 0, dots, target)
        _add_products(third[m], products, 0, dots, target)
        _gram_of_others(grams, m, 0, seen, seen2, seen3, 0, gram)
        _update_confusion(
            gram, target, prior, confusions[m], duals[m],
            inverse, work, flat, proximal, inner,
        )  # fmt: skip
        _stack(confusions, m, stacked, grams)

    # Count each pair and triple once: m with the annotators after it.
    total_target = np.zeros(K)
    total_gram = np.zeros((K, K))
    for m in range(M):
        later = (m + 1) * R
        tail = third.shape[2] - (M - 1 - m) * (M - 2 - m) // 2 * R * R
        _products(stacked, m, m + 1, products)
        _gram_of_others(grams, m, m + 1, seen, seen2, seen3, tail // (R * R), gram)
        for k in range(K):
            for a in range(R):
                target[k, a] = first[m, a]
        _add_products(second[m], stacked_rows, later, dots, target)
        _add_products(third[m], products, tail, dots, target)
        for k in range(K):
            for a in range(R):
                total_target[k] += confusions[m, a, k] * target[k, a]
            for l in range(K):
                total_gram[k, l] += gram[k, l] * grams[m, k, l]
    return _update_prior(total_gram, total_target, prior, prior_dual, proximal, inner, fixed)


@nested
def _pack_gram(confusions, m, grams):
    """Fill ``grams[m, 0]`` with the upper triangle of P_m = Γ_mᵀ Γ_m, row by row."""
    _, R, K = confusions.shape
    at = 0
    for k in range(K):
        for l in range(k, K):
            total = 0.0
            for a in range(R):
                total += confusions[m, a, k] * confusions[m, a, l]
            grams[m, 0, at] = total
            at += 1


@nested
def _unpack_gram(packed, scale, gram):
    """Fill ``gram`` with the symmetric matrix of the upper triangle ``packed[0]``, scaled."""
    at = 0
    for k in range(gram.shape[0]):
        for l in range(k, gram.shape[0]):
            gram[k, l] = gram[l, k] = packed[0, at] * scale
            at += 1


@nested
def _polynomials(starts, annotators, symbols, rows, polynomials):
    """Fill ``polynomials[group, degree − 1, k]`` for degrees 1 and 2.

    They are the elementary symmetric polynomials of the group's ``rows[annotator, symbol, k]``.
    Here and below, rows end in zeros up to a multiple of LANES.
    """
    R, L = np.uint64(rows.shape[1]), np.uint64(rows.shape[2])
    for group in range(np.uint64(starts.size - 1)):
        for k in range(ZERO, L, EIGHT):
            one = two = filled(0.0)
            for at in range(np.uint64(starts[group]), np.uint64(starts[group + ONE])):
                cell = np.uint64(annotators[at]) * R + np.uint64(symbols[at])
                row = load(rows, cell * L + k)
                two = plus(two, times(row, one))
                one = plus(one, row)
            store(polynomials, TWO * group * L + k, one)
            store(polynomials, (TWO * group + ONE) * L + k, two)


@nested
def _sum_all(polynomials, sizes, rows, counts, total):
    """Fill ``total[0]`` with Σ over groups of size · (e₁ + e₂ + e₃), polynomials of degrees 1–3.

    By Newton's identities e₃ = e₁e₂ + (p₃ − e₁³)/3, where p₃ is the sum of the cubes of the rows.
    Over all groups, a row occurs ``counts[annotator, symbol]`` times, so that no group is taken
    apart into its responses.
    """
    M, R, _ = rows.shape
    L, minus_third = np.uint64(rows.shape[2]), filled(-1.0 / 3.0)
    for k in range(ZERO, L, EIGHT):
        result = filled(0.0)
        for m in range(M):
            for a in range(R):
                row = load(rows, np.uint64(m * R + a) * L + k)
                cube = times(times(row, row), row)
                result = plus(result, times(cube, filled(counts[m, a] / 3.0)))
        for group in range(np.uint64(sizes.size)):
            first = load(polynomials, TWO * group * L + k)
            second = load(polynomials, (TWO * group + ONE) * L + k)
            cube = times(times(first, first), times(first, minus_third))
            degrees = plus(plus(first, second), plus(times(first, second), cube))
            result = plus(result, times(degrees, filled(np.float64(sizes[group]))))
        store(total, k, result)


@nested
def _sum_others(begin, end, groups, symbols, negative, polynomials, sizes, total):
    """Add Σ of size · (1 + e₁ + e₂) over the groups of one annotator, without its own rows.

    ``negative[symbol, k]`` are the annotator's rows times −1. ``total[(part, symbol), k]`` sums by
    its symbol, by SUMS sums that take turns, because an addition waits for the one before it.
    """
    R, L = np.uint64(negative.shape[0]), np.uint64(negative.shape[1])
    last, one = np.uint64(end), filled(1.0)
    for at in range(np.uint64(begin), last):
        if at + AHEAD < last:
            for k in range(ZERO, TWO * L, EIGHT):
                prefetch(polynomials, TWO * L * np.uint64(groups[at + AHEAD]) + k)
            prefetch(sizes, np.uint64(groups[at + AHEAD]))
        group, a = np.uint64(groups[at]), np.uint64(symbols[at])
        size, part = filled(np.float64(sizes[group])), a + R * (at & LAST_SUM)
        for k in range(ZERO, L, EIGHT):
            row = load(negative, a * L + k)
            first = plus(load(polynomials, TWO * group * L + k), row)
            second = load(polynomials, (TWO * group + ONE) * L + k)
            degrees = plus(plus(one, first), plus(second, times(row, first)))
            store(total, part * L + k, plus(load(total, part * L + k), times(size, degrees)))


@nested
def _replace(begin, end, groups, symbols, negative, change, polynomials):
    """Add the ``change[symbol, k]`` of the rows of one annotator to those of its groups."""
    L, last = np.uint64(change.shape[1]), np.uint64(end)
    for at in range(np.uint64(begin), last):
        if at + AHEAD < last:
            for k in range(ZERO, TWO * L, EIGHT):
                prefetch(polynomials, TWO * L * np.uint64(groups[at + AHEAD]) + k)
        group, a = np.uint64(groups[at]), np.uint64(symbols[at])
        for k in range(ZERO, L, EIGHT):
            moved, at_first = load(change, a * L + k), TWO * group * L + k
            first, second = load(polynomials, at_first), load(polynomials, at_first + L)
            others = plus(first, load(negative, a * L + k))
            store(polynomials, at_first + L, plus(second, times(moved, others)))
            store(polynomials, at_first, plus(first, moved))


@kernel
def sweep_responses(
    starts, annotators, symbols, annotator_starts, patterns, pattern_symbols, sizes, symbol_counts,
    panel_starts, members, panel_zeros, member_starts, panels, member_zeros, panel_sizes,
    item_counts, n_items, by_pattern, by_panel,
    confusions, prior, duals, prior_dual, fixed, proximal, inner,
):  # fmt: skip
    """Make one sweep directly from responses, with weights n/N; return h_N without its constant.

    The sums over pairs and triples of annotators of the same item are elementary symmetric
    polynomials of the rows g_m = Γ_m[f_m(n), :] of the item's annotators. For the Gram matrices
    they are the same polynomials of P_m. Items with the same responses form one pattern; items with
    the same annotators form one panel, whose symbols are all zero, so that one function does both.

    ``symbol_counts[m, a]`` and ``item_counts[m, 0]`` are the numbers of items to which an annotator
    reported a symbol, and to which it responded.

    ``by_pattern`` and ``by_panel`` are buffers for the polynomials, reused in every sweep: rows of
    K entries and of K (K + 1) / 2, which end in zeros up to a multiple of LANES.
    """
    M, R, K = confusions.shape
    L, G, scale = by_pattern.shape[2], by_panel.shape[2], 1.0 / n_items
    rows, grams = np.zeros((M, R, L)), np.zeros((M, 1, G))
    for m in range(M):
        _pack_gram(confusions, m, grams)
        for a in range(R):
            for k in range(K):
                rows[m, a, k] = confusions[m, a, k]
    _polynomials(starts, annotators, symbols, rows, by_pattern)
    _polynomials(panel_starts, members, panel_zeros, grams, by_panel)
    reported, packed = np.empty((SUMS * R, L)), np.empty((SUMS, G))
    negative, change = np.zeros((R, L)), np.zeros((R, L))
    negative_gram, gram_change = np.zeros((1, G)), np.zeros((1, G))
    target, gram, inverse = np.empty((K, R)), np.empty((K, K)), np.empty((K, K))
    work, flat = np.empty((5, K, R)), np.empty(K * R)
    for m in range(M):
        for a in range(R):
            for k in range(L):
                negative[a, k] = -rows[m, a, k]
        for at in range(G):
            negative_gram[0, at] = -grams[m, 0, at]
        begin, end = annotator_starts[m], annotator_starts[m + 1]
        first, last = member_starts[m], member_starts[m + 1]
        reported[:] = 0.0
        packed[:] = 0.0
        _sum_others(begin, end, patterns, pattern_symbols, negative, by_pattern, sizes, reported)
        _sum_others(first, last, panels, member_zeros, negative_gram, by_panel, panel_sizes, packed)
        for part in range(1, SUMS):
            for at in range(G):
                packed[0, at] += packed[part, at]
        _unpack_gram(packed, scale, gram)
        for k in range(K):
            for a in range(R):
                reports = 0.0
                for part in range(SUMS):
                    reports += reported[part * R + a, k]
                target[k, a] = reports * scale
        _update_confusion(
            gram, target, prior, confusions[m], duals[m],
            inverse, work, flat, proximal, inner,
        )  # fmt: skip
        _pack_gram(confusions, m, grams)
        for a in range(R):
            for k in range(K):
                rows[m, a, k] = confusions[m, a, k]
                change[a, k] = rows[m, a, k] + negative[a, k]
        for at in range(G):
            gram_change[0, at] = grams[m, 0, at] + negative_gram[0, at]
        _replace(begin, end, patterns, pattern_symbols, negative, change, by_pattern)
        _replace(first, last, panels, member_zeros, negative_gram, gram_change, by_panel)
    total = np.empty((1, L))
    _sum_all(by_pattern, sizes, rows, symbol_counts, total)
    _sum_all(by_panel, panel_sizes, grams, item_counts, packed)
    _unpack_gram(packed, scale, gram)
    right = np.empty(K)
    for k in range(K):
        right[k] = scale * total[0, k]
    return _update_prior(gram, right, prior, prior_dual, proximal, inner, fixed)
