"""GLAD's two halves: beliefs from skills and difficulties, and a step of either from beliefs."""

import math

import numpy as np

from blindfuse.kernels.compilation import kernel

MOST_HALVINGS = 20


@kernel
def glad_posteriors(
    starts, annotators, labels, first, last, skills, clarities, log_prior, gold, beliefs
):
    """Fill ``beliefs[item, class]`` of these items; returns their log-likelihood.

    An answer a to item n is right with log-odds x = α_m β_n, and else any other class alike, so
    it adds x + log(K − 1) to class a over all others. ``gold[item]`` is a known class, or −1.
    """
    K = log_prior.size
    others = math.log(K - 1.0)
    likelihood = 0.0
    for n in range(first, last):
        belief = beliefs[n]
        for k in range(K):
            belief[k] = log_prior[k]
        for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            x = skills[np.uint64(annotators[answer])] * clarities[n]
            belief[np.uint64(labels[answer])] += x + others
            likelihood -= max(x, 0.0) + math.log1p(math.exp(-abs(x))) + others
        best = -math.inf
        for k in range(K):
            if gold[n] >= 0 and k != gold[n]:
                belief[k] = -math.inf
            best = max(best, belief[k])
        total = 0.0
        for k in range(K):
            belief[k] = math.exp(belief[k] - best)
            total += belief[k]
        for k in range(K):
            belief[k] /= total
        likelihood += best + math.log(total)
    return likelihood


@kernel
def _expected(starts, codes, labels, row, own, others, beliefs, of_items, centre):
    """Expected log-likelihood of one row's answers with its log-prior, its slope and curvature.

    ``own`` is α of an annotator, or log β of an item; the curvature is Fisher's, never negative.
    """
    scale = math.exp(own) if of_items else own
    value, slope, curvature = -0.5 * (own - centre) ** 2, centre - own, 1.0
    for answer in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
        other = np.uint64(codes[answer])
        item = np.uint64(row) if of_items else other
        wrong = 1.0 - beliefs[item, np.uint64(labels[answer])]
        x = scale * others[other]
        rare = math.exp(-abs(x))
        falls = (rare if x > 0.0 else 1.0) / (1.0 + rare)  # σ(−x)
        change = x if of_items else others[other]
        value += min(x, 0.0) - math.log1p(rare) - wrong * x
        slope += change * (falls - wrong)
        curvature += change * change * falls * (1.0 - falls)
    return value, slope, curvature


@kernel
def glad_step(starts, codes, labels, first, last, own, others, beliefs, of_items, centre, moved):
    """One scoring step of α (rows are annotators) or log β (rows are items), given the beliefs.

    A step that would make a row's answers less likely is halved until it does not, so that the
    expected log-likelihood never falls. ``moved[row]`` is filled.
    """
    for row in range(first, last):
        value, slope, curvature = _expected(
            starts, codes, labels, row, own[row], others, beliefs, of_items, centre
        )
        step = slope / curvature
        moved[row] = own[row]
        for _ in range(MOST_HALVINGS):
            tried, _, _ = _expected(
                starts, codes, labels, row, own[row] + step, others, beliefs, of_items, centre
            )
            if tried >= value:
                moved[row] = own[row] + step
                break
            step *= 0.5
