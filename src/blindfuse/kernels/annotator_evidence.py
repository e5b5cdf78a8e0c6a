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
    confusions,
    others,
    unknown,
    complete,
):
    """Add the evidence of items ``first`` to ``last`` about every annotator.

    ``others[m, f, k]`` counts the responses f of annotator m by the model's posterior of the item
    without the annotator's own response, w_k / Γ_m(f, k), rescaled, where w are the
    ``posteriors``. ``unknown[m]`` adds w_f (1 − w_f), the variance of whether the response is
    correct, and ``complete[m]`` adds d (1 − d) with d = Σ_k w_k Γ_m(k, k), the variance that it
    would have before the response.
    """
    K = posteriors.shape[1]
    for n in range(first, last):
        for at in range(starts[n], starts[n + 1]):
            m, f = annotators[at], symbols[at]
            total, accuracy = 0.0, 0.0
            for k in range(K):
                accuracy += posteriors[n, k] * confusions[m, k, k]
                total += posteriors[n, k] / max(confusions[m, f, k], MIN_PROBABILITY)
            unknown[m] += posteriors[n, f] * (1 - posteriors[n, f])
            complete[m] += accuracy * (1 - accuracy)
            for k in range(K):
                left = posteriors[n, k] / max(confusions[m, f, k], MIN_PROBABILITY)
                others[m, f, k] += left / total
