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

from blindfuse.kernels.compilation import embedded, inlined, kernel, nested, prefetch
from blindfuse.kernels.vectors import filled, load, plus_scaled, store, times

INNER_TOLERANCE = 1e-8
"""Squared relative residual at which the inner ADMM of Appendix A stops."""

MAX_EXTENSION = 20
"""ADMM may take this many times ``inner`` iterations to find a block that is not worse."""

PREFETCH_DISTANCE = 48
"""How many groups ahead memory is prefetched: the items of an annotator are scattered."""

CACHE_LINE = 64
"""Bytes per cache line."""

SUMS = 4
"""Sums among which the groups of an annotator take turns, a power of two."""

ONE, TWO, AHEAD, LAST_SUM = map(np.uint64, (1, 2, PREFETCH_DISTANCE, SUMS - 1))
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
def invert(matrix, lanes):
    """Invert a symmetric positive definite matrix in place, by Gauss–Jordan without pivoting."""
    K = matrix.shape[0] if lanes is None else len(lanes)
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


@embedded
def _dot(left, right):
    total = 0.0
    for j in range(left.size):
        total += left[j] * right[j]
    return total


@kernel
def normal_equations(changes, residual, importance, normal, right):
    """Fill ``normal`` with A W Aᵀ and ``right`` with A W f, where A is ``changes[i, j]``.

    f is ``residual[j]``, and W has ``importance[j]`` on its diagonal.
    """
    weighted = np.empty(residual.size)
    for i in range(changes.shape[0]):
        for j in range(residual.size):
            weighted[j] = importance[j] * changes[i, j]
        right[i] = _dot(weighted, residual)
        for l in range(i, changes.shape[0]):
            normal[i, l] = normal[l, i] = _dot(weighted, changes[l])


@nested
def quadratic(gram, target, block, lanes):
    """Return ½ tr(Xᵀ G X) − tr(Bᵀ X)."""
    K = block.shape[0] if lanes is None else len(lanes)
    C = block.shape[1] if lanes is None else len(lanes)
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
def admm(gram, target, block, dual, inverse, work, moved_to, lanes, proximal, inner):
    """Minimise ½ tr(Xᵀ G X) − tr(Bᵀ X) + ν/2 ‖X − X_prev‖² over the simplices, in place.

    Appendix A, (31)–(33) and (36)–(38): ``block`` is X = Γ_mᵀ [true, reported], whose rows are on
    the simplex, or X = π, a single column that is on the simplex as a whole.
    λ = tr(G)/K and ν = ``proximal`` · λ, so that neither depends on the scale of the data.

    Departs from the paper in one way: a block that increases the objective is rejected. ADMM first
    gets more iterations; if they do not help, the previous block is kept. The objective of the
    outer iteration therefore never increases.

    ``inverse[true, true]``, ``work[4, true, reported]`` and ``moved_to[(true, reported)]`` are
    buffers. Loops over the classes of a confusion matrix are unrolled if ``lanes`` are given.
    """
    K = block.shape[0] if lanes is None else len(lanes)
    C = block.shape[1] if lanes is None else len(lanes)
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
    invert(inverse, lanes)
    before = quadratic(gram, target, block, lanes)
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
        if quadratic(gram, target, block, lanes) <= before:
            return
    for k in range(K):
        for c in range(C):
            block[k, c] = previous[k, c]


@inlined
def _update_confusion(
    gram, target, prior, confusion, dual, inverse, work, flat, lanes, proximal, inner
):
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
    admm(gram, target, block, dual, inverse, work, flat, lanes, proximal, inner)
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
        admm(gram, right, block, column, inverse, work, flat, None, proximal, inner)
        for k in range(K):
            prior[k], dual[k] = block[k, 0], column[k, 0]
    return quadratic(gram, right, block, None)


@embedded
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


@embedded
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
            inverse, work, flat, None, proximal, inner,
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
    for rest in range(at, grams.shape[2]):
        grams[m, 0, rest] = 0.0


@inlined
def _unpack_gram(packed, scale, gram):
    """Fill ``gram`` with the symmetric matrix of the upper triangle ``packed[0]``, scaled."""
    at = 0
    for k in range(gram.shape[0]):
        for l in range(k, gram.shape[0]):
            gram[k, l] = gram[l, k] = packed[0, at] * scale
            at += 1


@inlined
def _row_at(array, row, lanes):
    """Return one row of an array, whose last axis is as long as ``lanes``."""
    return load(array, np.uint64(row) * np.uint64(len(lanes)), lanes)


@inlined
def _set_row(array, row, value, lanes):
    store(array, np.uint64(row) * np.uint64(len(lanes)), value)


@nested
def _polynomials(starts, annotators, symbols, rows, polynomials, lanes):
    """Fill ``polynomials[group, degree − 1, k]`` for degrees 1 and 2.

    They are the elementary symmetric polynomials of the group's ``rows[annotator, symbol, k]``.
    Here and below, rows are in registers if ``lanes`` are given, and in memory if they are None.
    """
    R, L = np.uint64(rows.shape[1]), rows.shape[2]
    for group in range(np.uint64(starts.size - 1)):
        begin, end = np.uint64(starts[group]), np.uint64(starts[group + ONE])
        if lanes is None:
            for k in range(L):
                polynomials[group, 0, k] = polynomials[group, 1, k] = 0.0
            for at in range(begin, end):
                m, a = np.uint64(annotators[at]), np.uint64(symbols[at])
                for k in range(L):
                    polynomials[group, 1, k] += rows[m, a, k] * polynomials[group, 0, k]
                    polynomials[group, 0, k] += rows[m, a, k]
        else:
            one = two = filled(0.0, polynomials, lanes)
            for at in range(begin, end):
                row = _row_at(rows, np.uint64(annotators[at]) * R + np.uint64(symbols[at]), lanes)
                two = plus_scaled(two, times(row, one), 1.0)
                one = plus_scaled(one, row, 1.0)
            _set_row(polynomials, TWO * group, one, lanes)
            _set_row(polynomials, TWO * group + ONE, two, lanes)


@nested
def _sum_all(polynomials, sizes, rows, counts, total, lanes):
    """Fill ``total[0]`` with Σ over groups of size · (e₁ + e₂ + e₃), polynomials of degrees 1–3.

    By Newton's identities e₃ = e₁e₂ + (p₃ − e₁³)/3, where p₃ is the sum of the cubes of the rows.
    Over all groups, a row occurs ``counts[annotator, symbol]`` times, so that no group is taken
    apart into its responses.
    """
    M, R, L = rows.shape
    for k in range(L):
        total[0, k] = 0.0
    if lanes is None:
        for m in range(M):
            for a in range(R):
                for k in range(L):
                    total[0, k] += counts[m, a] / 3.0 * rows[m, a, k] ** 3
        for group in range(sizes.size):
            for k in range(L):
                one, two = polynomials[group, 0, k], polynomials[group, 1, k]
                total[0, k] += sizes[group] * (one + two + one * two - one**3 / 3.0)
    else:
        result = filled(0.0, total, lanes)
        for m in range(M):
            for a in range(R):
                row = _row_at(rows, m * R + a, lanes)
                cube = times(times(row, row), row)
                result = plus_scaled(result, cube, counts[m, a] / 3.0)
        for group in range(sizes.size):
            first = _row_at(polynomials, 2 * group, lanes)
            second = _row_at(polynomials, 2 * group + 1, lanes)
            degrees = plus_scaled(first, second, 1.0)
            degrees = plus_scaled(degrees, times(first, second), 1.0)
            degrees = plus_scaled(degrees, times(times(first, first), first), -1.0 / 3.0)
            result = plus_scaled(result, degrees, np.float64(sizes[group]))
        _set_row(total, 0, result, lanes)


@inlined
def _prefetch_group(polynomials, sizes, group):
    """Prefetch the polynomials and the size of a group."""
    for offset in range(0, 16 * polynomials.shape[2], CACHE_LINE):
        prefetch(polynomials, np.int64(group), offset)
    prefetch(sizes, np.int64(group), 0)


@nested
def _sum_others(begin, end, groups, symbols, rows, polynomials, sizes, total, lanes):
    """Add Σ of size · (1 + e₁ + e₂) over the groups of one annotator, without its own rows.

    ``rows[symbol, k]`` are the rows of the annotator. ``total[(part, symbol), k]`` sums by its
    symbol, by SUMS sums that take turns, because an addition waits for the one before it.
    """
    R, L = np.uint64(rows.shape[0]), rows.shape[1]
    last = np.uint64(end)
    for at in range(np.uint64(begin), last):
        if at + AHEAD < last:
            _prefetch_group(polynomials, sizes, groups[at + AHEAD])
        group, a = np.uint64(groups[at]), np.uint64(symbols[at])
        if lanes is None:
            for k in range(L):
                one = polynomials[group, 0, k] - rows[a, k]
                two = polynomials[group, 1, k] - rows[a, k] * one
                total[a + R * (at & LAST_SUM), k] += sizes[group] * (1.0 + one + two)
        else:
            row = _row_at(rows, a, lanes)
            first = plus_scaled(_row_at(polynomials, TWO * group, lanes), row, -1.0)
            second = _row_at(polynomials, TWO * group + ONE, lanes)
            second = plus_scaled(second, times(row, first), -1.0)
            degrees = plus_scaled(plus_scaled(filled(1.0, total, lanes), first, 1.0), second, 1.0)
            part = a + R * (at & LAST_SUM)
            added = plus_scaled(_row_at(total, part, lanes), degrees, np.float64(sizes[group]))
            _set_row(total, part, added, lanes)


@nested
def _replace(begin, end, groups, symbols, old, new, polynomials, sizes, lanes):
    """Replace the rows of one annotator in the polynomials of its groups."""
    L = old.shape[1]
    last = np.uint64(end)
    for at in range(np.uint64(begin), last):
        if at + AHEAD < last:
            _prefetch_group(polynomials, sizes, groups[at + AHEAD])
        group, a = np.uint64(groups[at]), np.uint64(symbols[at])
        if lanes is None:
            for k in range(L):
                change = new[a, k] - old[a, k]
                polynomials[group, 1, k] += change * (polynomials[group, 0, k] - old[a, k])
                polynomials[group, 0, k] += change
        else:
            before = _row_at(old, a, lanes)
            moved = plus_scaled(_row_at(new, a, lanes), before, -1.0)
            first = _row_at(polynomials, TWO * group, lanes)
            others = plus_scaled(first, before, -1.0)
            second = _row_at(polynomials, TWO * group + ONE, lanes)
            second = plus_scaled(second, times(moved, others), 1.0)
            _set_row(polynomials, TWO * group + ONE, second, lanes)
            _set_row(polynomials, TWO * group, plus_scaled(first, moved, 1.0), lanes)


@kernel
def sweep_responses(
    starts, annotators, symbols, annotator_starts, patterns, pattern_symbols, sizes, symbol_counts,
    panel_starts, members, panel_zeros, member_starts, panels, member_zeros, panel_sizes,
    item_counts, n_items, by_pattern, by_panel, lanes, gram_lanes, square_lanes,
    confusions, prior, duals, prior_dual, fixed, proximal, inner,
):  # fmt: skip
    """Make one sweep directly from responses, with weights n/N; return h_N without its constant.

    The sums over pairs and triples of annotators of the same item are elementary symmetric
    polynomials of the rows g_m = Γ_m[f_m(n), :] of the item's annotators. For the Gram matrices
    they are the same polynomials of P_m. Items with the same responses form one pattern; items with
    the same annotators form one panel, whose symbols are all zero, so that one function does both.

    ``symbol_counts[m, a]`` and ``item_counts[m, 0]`` are the numbers of items to which an annotator
    reported a symbol, and to which it responded.

    ``by_pattern`` and ``by_panel`` are buffers for the polynomials, reused in every sweep.
    ``lanes`` and ``gram_lanes`` are those of rows of ``by_pattern``, of K entries, and of
    ``by_panel``, of K (K + 1) / 2 entries or more; the others are zero. ``square_lanes`` are
    ``lanes`` if the symbols are the classes, and otherwise None.
    """
    M, L, scale = confusions.shape[0], by_panel.shape[2], 1.0 / n_items
    R = confusions.shape[1] if square_lanes is None else len(square_lanes)
    K = confusions.shape[2] if lanes is None else len(lanes)
    grams = np.empty((M, 1, L))
    for m in range(M):
        _pack_gram(confusions, m, grams)
    _polynomials(starts, annotators, symbols, confusions, by_pattern, lanes)
    _polynomials(panel_starts, members, panel_zeros, grams, by_panel, gram_lanes)
    reported, packed = np.empty((SUMS * R, K)), np.empty((SUMS, L))
    old, old_gram = np.empty((R, K)), np.empty((1, L))
    target, gram, inverse = np.empty((K, R)), np.empty((K, K)), np.empty((K, K))
    work, flat = np.empty((5, K, R)), np.empty(K * R)
    for m in range(M):
        for a in range(R):
            for k in range(K):
                old[a, k] = confusions[m, a, k]
        for at in range(L):
            old_gram[0, at] = grams[m, 0, at]
        for a in range(SUMS * R):
            for k in range(K):
                reported[a, k] = 0.0
        for part in range(SUMS):
            for at in range(L):
                packed[part, at] = 0.0
        begin, end = annotator_starts[m], annotator_starts[m + 1]
        first, last = member_starts[m], member_starts[m + 1]
        _sum_others(begin, end, patterns, pattern_symbols, old, by_pattern, sizes, reported, lanes)
        _sum_others(
            first, last, panels, member_zeros, old_gram, by_panel, panel_sizes, packed, gram_lanes
        )
        for part in range(1, SUMS):
            for at in range(L):
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
            inverse, work, flat, square_lanes, proximal, inner,
        )  # fmt: skip
        _pack_gram(confusions, m, grams)
        _replace(
            begin, end, patterns, pattern_symbols, old, confusions[m], by_pattern, sizes, lanes
        )
        _replace(
            first, last, panels, member_zeros, old_gram, grams[m], by_panel, panel_sizes, gram_lanes
        )
    total = np.empty((1, K))
    _sum_all(by_pattern, sizes, confusions, symbol_counts, total, lanes)
    _sum_all(by_panel, panel_sizes, grams, item_counts, packed, gram_lanes)
    _unpack_gram(packed, scale, gram)
    for k in range(K):
        total[0, k] *= scale
    return _update_prior(gram, total[0], prior, prior_dual, proximal, inner, fixed)
