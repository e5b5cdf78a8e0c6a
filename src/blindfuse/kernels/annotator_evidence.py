"""What each annotator's responses say about its accuracy, given the posteriors of the items."""

from blindfuse.kernels.compilation import kernel

MIN_PROBABILITY = 1e-10
"""Smallest probability that a posterior is divided by."""


@kernel
def add_evidence(
    starts,
    annotators,
    symbols,
    first,
    last,
    posteriors,
    by_model,
    confusions,
    others,
    squares,
    right_squares,
):
    """Add the evidence of items ``first`` to ``last`` about every annotator.

    ``others[m, f, k]`` counts the responses f of annotator m by the model's posterior of the item
    without the annotator's own response, v_k / Γ_m(f, k), rescaled, where v are the posteriors
    ``by_model``. ``squares[m, k]`` adds w_k² of all its responses, and ``right_squares[m, k]`` of
    those that report k, where w are the ``posteriors``, which may be less confident.
    """
    K = posteriors.shape[1]
    for n in range(first, last):
        for at in range(starts[n], starts[n + 1]):
            m, f = annotators[at], symbols[at]
            total = 0.0
            for k in range(K):
                w = posteriors[n, k]
                squares[m, k] += w * w
                total += by_model[n, k] / max(confusions[m, f, k], MIN_PROBABILITY)
            right_squares[m, f] += posteriors[n, f] * posteriors[n, f]
            for k in range(K):
                left = by_model[n, k] / max(confusions[m, f, k], MIN_PROBABILITY)
                others[m, f, k] += left / total
