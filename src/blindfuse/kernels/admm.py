"""The update of one block of Algorithm 1: ADMM on the probability simplices.

As a function of one block X, the objective is ½ tr(Xᵀ G X) − tr(Bᵀ X) plus a constant. Loops are
written out, because Numba compiles them in a tenth of the time of array expressions.

=========  ==================================  =====================================
paper      variable                            meaning
=========  ==================================  =====================================
K          ``K``                               number of classes
Γ_m        ``confusion[reported, true]``       confusion matrix of annotator m
π          ``prior[true]``                     class prior
X          ``block``                           Γ_mᵀ ``[true, reported]``, or π
G, B       ``gram``, ``target``                quadratic and linear term in X
λ, ν       ``penalty``, ``proximal_weight``    weights of ADMM and of ‖X − X_prev‖²
=========  ==================================  =====================================
"""

import numpy as np

from blindfuse.kernels.compilation import kernel, nested

INNER_TOLERANCE = 1e-8
"""Squared relative residual at which the inner ADMM of Appendix A stops."""

MAX_EXTENSION = 20
"""ADMM may take this many times ``inner`` iterations to find a block that is not worse."""


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
def admm(gram, target, block, dual, proximal, inner):
    """Minimise ½ tr(Xᵀ G X) − tr(Bᵀ X) + ν/2 ‖X − X_prev‖² over the simplices, in place.

    Appendix A, (31)–(33) and (36)–(38): ``block`` is X = Γ_mᵀ [true, reported], whose rows are on
    the simplex, or X = π, a single column that is on the simplex as a whole.
    λ = tr(G)/K and ν = ``proximal`` · λ, so that neither depends on the scale of the data.

    Departs from the paper in one way: a block that increases the objective is rejected. ADMM first
    gets more iterations; if they do not help, the previous block is kept. The objective of the
    outer iteration therefore never increases.
    """
    K, C = block.shape
    inverse, moved_to = np.empty((K, K)), np.empty(K * C)
    constant, previous, free, right = np.empty((4, K, C))
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
        limit = INNER_TOLERANCE * size, INNER_TOLERANCE * max(dual_size, size)
        if (gap > limit[0] or moved > limit[1]) and iteration + 1 < inner:
            continue
        if quadratic(gram, target, block) <= before:
            return
    for k in range(K):
        for c in range(C):
            block[k, c] = previous[k, c]


@nested
def update_confusion(gram, target, prior, confusion, dual, proximal, inner):
    """Solve (23), the subproblem of one Γ_m, in place (step 5 of Algorithm 1).

    ``gram`` [true, true] and ``target`` [true, reported] are the sums of (36) without Π, by which
    they are scaled in place; ``dual`` [true, reported] is updated.
    """
    R, K = confusion.shape
    block = np.empty((K, R))
    for k in range(K):
        for l in range(K):
            gram[k, l] *= prior[k] * prior[l]
        for a in range(R):
            target[k, a] *= prior[k]
            block[k, a] = confusion[a, k]
    admm(gram, target, block, dual, proximal, inner)
    for k in range(K):
        for a in range(R):
            confusion[a, k] = block[k, a]


@nested
def update_prior(gram, target, prior, dual, fixed, proximal, inner):
    """Solve (22), the subproblem of π, by (31) in place (step 8 of Algorithm 1).

    A known π is left as it is (Remark 4). Return the objective.
    """
    column = (prior.size, 1)
    block, right = prior.reshape(column), target.reshape(column)
    if not fixed:
        admm(gram, right, block, dual.reshape(column), proximal, inner)
    return quadratic(gram, right, block)
