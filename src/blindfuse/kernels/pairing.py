"""What pairs of annotators say on the items that they share, counted and compared with a model."""

from blindfuse.kernels.machine import kernel


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
def compare_with_model(counts, confusions, prior, common, residual, size, agreed, expected):
    """Fill ``[i, j]`` for pairs that share items, from ``counts[i, a, j, b]`` of i < j.

    With n items in ``common``, shares S = counts / n and P = Γ_i Π Γ_jᵀ: ``residual`` is
    n ‖S − P‖², ``size`` is ‖P‖², and ``agreed`` and ``expected`` are the traces of S and P.
    """
    M, K, L = confusions.shape
    for i in range(M):
        for j in range(i + 1, M):
            n = 0
            for a in range(K):
                for b in range(K):
                    n += counts[i, a, j, b]
            if n == 0:
                continue
            apart = squares = seen = model = 0.0
            for a in range(K):
                for b in range(K):
                    share = counts[i, a, j, b] / n
                    likely = 0.0
                    for k in range(L):
                        likely += confusions[i, a, k] * prior[k] * confusions[j, b, k]
                    apart += (share - likely) ** 2
                    squares += likely * likely
                    if a == b:
                        seen += share
                        model += likely
            common[i, j] = common[j, i] = n
            residual[i, j] = residual[j, i] = n * apart
            size[i, j] = size[j, i] = squares
            agreed[i, j] = agreed[j, i] = seen
            expected[i, j] = expected[j, i] = model
