"""The E-step of GLAD, and one step of its M-step for skills or for clarities."""

import math

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel

MAX_HALVINGS = 20


@kernel
def glad_posteriors(
    starts, annotators, symbols, first, last, skills, clarities, log_prior, gold, posteriors
):
    """Fill ``posteriors[item, class]`` of the items; return their log-likelihood.

    A response a to item n is correct with log-odds x = α_m β_n, for skill α_m and clarity β_n (the
    inverse of difficulty). Wrong classes are equally likely, so the response adds x + log(K − 1) to
    the log posterior of class a, relative to every other class. ``gold[item]`` is the gold class
    of an item, or −1.
    """
    K = log_prior.size
    others = math.log(K - 1.0)
    log_likelihood = 0.0
    for n in range(first, last):
        posterior = posteriors[n]
        for k in range(K):
            posterior[k] = log_prior[k]
        for response in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            x = skills[np.uint64(annotators[response])] * clarities[n]
            posterior[np.uint64(symbols[response])] += x + others
            log_likelihood -= max(x, 0.0) + math.log1p(math.exp(-abs(x))) + others
        best = -math.inf
        for k in range(K):
            if gold[n] >= 0 and k != gold[n]:
                posterior[k] = -math.inf
            best = max(best, posterior[k])
        total = 0.0
        for k in range(K):
            posterior[k] = math.exp(posterior[k] - best)
            total += posterior[k]
        for k in range(K):
            posterior[k] /= total
        log_likelihood += best + math.log(total)
    return log_likelihood


@inlined
def _expected(starts, codes, symbols, row, own, others, posteriors, of_items, centre):
    """Expected log posterior of one row's parameter, its derivative and its Fisher information.

    ``own`` is α of an annotator, or log β of an item; its prior is normal around ``centre``.
    """
    scale = math.exp(own) if of_items else own
    value, slope, curvature = -0.5 * (own - centre) ** 2, centre - own, 1.0
    for response in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
        other = np.uint64(codes[response])
        item = np.uint64(row) if of_items else other
        wrong = 1.0 - posteriors[item, np.uint64(symbols[response])]
        x = scale * others[other]
        decay = math.exp(-abs(x))
        miss = (decay if x > 0.0 else 1.0) / (1.0 + decay)  # σ(−x)
        change = x if of_items else others[other]
        value += min(x, 0.0) - math.log1p(decay) - wrong * x
        slope += change * (miss - wrong)
        curvature += change * change * miss * (1.0 - miss)
    return value, slope, curvature


@kernel
def glad_step(
    starts, codes, symbols, first, last, own, others, posteriors, of_items, centre, updated
):
    """Fill ``updated[row]`` by one scoring step of α (rows: annotators) or log β (rows: items).

    A step is halved until it does not decrease the expected log posterior of its row.
    """
    for row in range(first, last):
        value, slope, curvature = _expected(
            starts, codes, symbols, row, own[row], others, posteriors, of_items, centre
        )
        step = slope / curvature
        updated[row] = own[row]
        for _ in range(MAX_HALVINGS):
            tried, _, _ = _expected(
                starts, codes, symbols, row, own[row] + step, others, posteriors, of_items, centre
            )
            if tried >= value:
                updated[row] = own[row] + step
                break
            step *= 0.5
