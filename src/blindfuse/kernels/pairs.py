"""What annotators say on the items that they share, counted and compared with a model."""

import numpy as np

from blindfuse.kernels.compilation import kernel


@kernel
def add_pairs(starts, annotators, labels, n_classes, counts):
    """Add 1 to ``counts[i, a, j, b]`` for every item that i reports as a and j as b, i before j.

    Answers to an item come by annotator. ``counts`` has two axes here, (i, a) and (j, b).
    """
    for item in range(starts.size - 1):
        for one in range(starts[item], starts[item + 1]):
            row = counts[annotators[one] * n_classes + labels[one]]
            for other in range(one + 1, starts[item + 1]):
                row[annotators[other] * n_classes + labels[other]] += 1


@kernel
def compare_with_model(
    counts, confusions, prior, least, lanes, first, second, common, residual, size, agreed, expected
):
    """Fill ``[pair]`` for pairs that share ``least`` items, from ``counts[i, a, j, b]`` of i < j.

    Returns how many there are; ``first`` and ``second`` say who they are. With n items in
    ``common``, shares S = counts / n and P = Γ_i Π Γ_jᵀ: ``residual`` is n ‖S − P‖², ``size`` is
    ‖P‖², and ``agreed`` and ``expected`` are the traces of S and P. ``lanes`` has as many entries
    as there are classes, so that loops are compiled for this number.
    """
    M, pair = len(confusions), 0
    together = np.empty((len(lanes), len(lanes)))
    for i in range(M):
        for a in range(len(lanes)):
            for k in range(len(lanes)):
                together[a, k] = confusions[i, a, k] * prior[k]
        for j in range(i + 1, M):
            n = 0
            for a in range(len(lanes)):
                for b in range(len(lanes)):
                    n += counts[i, a, j, b]
            if n < least:
                continue
            once = 1.0 / n
            apart = squares = seen = model = 0.0
            for a in range(len(lanes)):
                for b in range(len(lanes)):
                    share = counts[i, a, j, b] * once
                    likely = 0.0
                    for k in range(len(lanes)):
                        likely += together[a, k] * confusions[j, b, k]
                    apart += (share - likely) ** 2
                    squares += likely * likely
                    if a == b:
                        seen += share
                        model += likely
            first[pair], second[pair], common[pair] = i, j, n
            residual[pair], size[pair] = n * apart, squares
            agreed[pair], expected[pair] = seen, model
            pair += 1
    return pair


@kernel
def add_correlated_errors(starts, annotators, labels, first, last, beliefs, if_right, if_wrong):
    """Σ T_n and Σ T_n² over these items, T_n = Σ_k beliefs[n, k] Σ_{i<j} r_ik r_jk.

    r_ik is ``if_right[i, k]`` where i reports k, and otherwise ``if_wrong[i, k]``. The sum over
    pairs is half of the square of the sum less the sum of squares.
    """
    K = beliefs.shape[1]
    total = squares = 0.0
    for item in range(first, last):
        joint = 0.0
        for k in range(K):
            if beliefs[item, k] > 0.0:
                sums = own = 0.0
                for answer in range(starts[item], starts[item + 1]):
                    i = annotators[answer]
                    residual = if_right[i, k] if labels[answer] == k else if_wrong[i, k]
                    sums += residual
                    own += residual * residual
                joint += beliefs[item, k] * (sums * sums - own) / 2
        total += joint
        squares += joint * joint
    return total, squares
