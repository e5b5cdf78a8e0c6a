"""From answers to beliefs about each item, and from beliefs to counts for each annotator."""

import math

import numpy as np

from blindfuse.kernels.machine import kernel


@kernel
def vote_shares(starts, labels, first, last, shares):
    """The majority vote of the items ``first … last − 1`` as beliefs: tied classes share the item.

    An item without answers believes in nothing (zeros).
    """
    K = shares.shape[1]
    votes = np.empty(K, np.int64)
    for n in range(first, last):
        for k in range(K):
            votes[k] = 0
        for answer in range(starts[n], starts[n + 1]):
            votes[labels[answer]] += 1
        if starts[n] == starts[n + 1]:
            continue
        most = winners = 0
        for k in range(K):
            if votes[k] > most:
                most, winners = votes[k], 0
            winners += votes[k] == most
        for k in range(K):
            if votes[k] == most:
                shares[n, k] = 1.0 / winners


@kernel
def posteriors(starts, annotators, labels, first, last, log_confusions, log_prior, beliefs):
    """Posteriors of the items ``first … last − 1`` by (20) and (26), in the log domain.

    Returns the log-likelihood Σ_n log Σ_k π_k Π_m Γ_m(f_m(n), k) of these items.
    """
    K = log_prior.size
    score = np.empty(K)
    likelihood = 0.0
    for n in range(first, last):
        for k in range(K):
            score[k] = log_prior[k]
        for answer in range(starts[n], starts[n + 1]):
            m, a = annotators[answer], labels[answer]
            for k in range(K):
                score[k] += log_confusions[m, a, k]
        best = score[0]
        for k in range(1, K):
            best = max(best, score[k])
        total = 0.0
        for k in range(K):
            beliefs[n, k] = math.exp(score[k] - best)
            total += beliefs[n, k]
        for k in range(K):
            beliefs[n, k] /= total
        likelihood += best + math.log(total)
    return likelihood


@kernel
def expected_counts(starts, annotators, labels, first, last, beliefs, n_annotators):
    """How often each annotator reported a label, shared among the classes by belief.

    Returns ``counts[annotator, reported, true]``.
    """
    K = beliefs.shape[1]
    counts = np.zeros((n_annotators, K, K))
    for n in range(first, last):
        for answer in range(starts[n], starts[n + 1]):
            m, a = annotators[answer], labels[answer]
            for k in range(K):
                counts[m, a, k] += beliefs[n, k]
    return counts
