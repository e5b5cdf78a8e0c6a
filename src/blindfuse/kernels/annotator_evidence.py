"""What each annotator's responses say about its accuracy, given the posteriors of the items."""

from blindfuse.kernels.compilation import kernel

MIN_PROBABILITY = 1e-10
"""Smallest probability that a posterior is divided by."""


@kernel
def add_evidence(
    starts, annotators, symbols, first, last, posteriors, confusions, others, squares, right_squares
):
    """Add the evidence of items ``first`` to ``last`` about every annotator.

    ``others[m, f, k]`` counts the responses f of annotator m by the posterior of the item without
    the annotator's own response, w_k / Γ_m(f, k), rescaled. ``squares[m, k]`` adds w_k² of all its
    responses, and ``right_squares[m, k]`` of those that report k.
    """
    K = posteriors.shape[1]
    for n in range(first, last):
        for at in range(starts[n], starts[n + 1]):
            m, f = annotators[at], symbols[at]
            total = 0.0
            for k in range(K):
                w = posteriors[n, k]
                squares[m, k] += w * w
                total += w / max(confusions[m, f, k], MIN_PROBABILITY)
            right_squares[m, f] += posteriors[n, f] * posteriors[n, f]
            for k in range(K):
                left = posteriors[n, k] / max(confusions[m, f, k], MIN_PROBABILITY)
                others[m, f, k] += left / total
