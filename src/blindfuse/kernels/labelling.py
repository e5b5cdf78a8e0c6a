"""From answers to beliefs about each item, and from beliefs to counts for each annotator.

Beliefs come from the vote or from a model. Either they are kept, or they are added up at once to
``counts[annotator, reported, true]`` and ``totals[true]`` and never stored.

Log-probabilities, counts and totals have rows padded to a multiple of LANES, so that the
innermost loop, over LANES classes, has a length that the compiler knows. Indices are unsigned
where it matters: Numba then leaves out its check for negative ones.
"""

import math

import numpy as np

from blindfuse.kernels.machine import kernel

LANES = 4

WHOLE_VOTE = 720_720
"""Parts of a vote: divisible by 1 … 16, so that sums of shared votes are exact in any order."""


@kernel
def _vote(starts, labels, n, belief):
    """The majority vote on item n, in parts: tied classes share it; without answers, zeros."""
    K = belief.size
    for k in range(K):
        belief[k] = 0.0
    for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        belief[np.uint64(labels[answer])] += 1.0
    most = winners = 0.0
    for k in range(K):
        if belief[k] > most:
            most, winners = belief[k], 0.0
        winners += belief[k] == most
    for k in range(K):
        wins = most > 0.0 and belief[k] == most
        belief[k] = math.floor(WHOLE_VOTE / winners) if wins else 0.0


@kernel
def _posterior(starts, annotators, labels, n, log_confusions, log_prior, belief, K):
    """The posterior of item n by (20) and (26), in the log domain; returns its log-likelihood."""
    for k in range(belief.size):
        belief[k] = log_prior[k]
    for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
        for block in range(0, belief.size, LANES):
            for lane in range(LANES):
                belief[block + lane] += log_confusions[m, a, block + lane]
    best = belief[0]
    for k in range(1, K):
        if belief[k] > best:
            best = belief[k]
    total = 0.0
    for k in range(K):
        belief[k] = math.exp(belief[k] - best)
        total += belief[k]
    scale = 1.0 / total
    for block in range(0, belief.size, LANES):
        for lane in range(LANES):
            belief[block + lane] *= scale
    return best + math.log(total)


@kernel
def _add(starts, annotators, labels, n, belief, counts, totals):
    """Share the answers to item n, and the item itself, among the classes by belief."""
    for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
        for block in range(0, belief.size, LANES):
            for lane in range(LANES):
                counts[m, a, block + lane] += belief[block + lane]
    for k in range(belief.size):
        totals[k] += belief[k]


@kernel
def vote_beliefs(starts, annotators, labels, first, last, beliefs):
    """Fill ``beliefs[item, class]`` of the items ``first … last − 1`` by the majority vote."""
    for n in range(first, last):
        _vote(starts, labels, n, beliefs[n])


@kernel
def vote_counts(starts, annotators, labels, first, last, counts, totals):
    """Add up what the majority vote on the items ``first … last − 1`` says."""
    belief = np.empty(counts.shape[1])
    for n in range(first, last):
        _vote(starts, labels, n, belief)
        for k in range(belief.size):
            if belief[k] > 0.0:  # mostly one class
                totals[k] += belief[k]
                for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
                    m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
                    counts[m, a, k] += belief[k]


@kernel
def belief_counts(starts, annotators, labels, first, last, beliefs, counts, totals):
    """Add up given ``beliefs[item, class]`` of the items ``first … last − 1``."""
    belief = np.zeros(totals.size)
    for n in range(first, last):
        for k in range(beliefs.shape[1]):
            belief[k] = beliefs[n, k]
        _add(starts, annotators, labels, n, belief, counts, totals)


@kernel
def posterior_beliefs(starts, annotators, labels, first, last, log_confusions, log_prior, beliefs):
    """Fill ``beliefs[item, class]`` of these items by a model; returns their log-likelihood."""
    K = beliefs.shape[1]
    belief = np.empty(log_prior.size)
    likelihood = 0.0
    for n in range(first, last):
        likelihood += _posterior(
            starts, annotators, labels, n, log_confusions, log_prior, belief, K
        )
        for k in range(K):
            beliefs[n, k] = belief[k]
    return likelihood


@kernel
def posterior_counts(
    starts, annotators, labels, first, last, log_confusions, log_prior, counts, totals
):
    """Add up what a model says of these items; returns their log-likelihood."""
    K = log_confusions.shape[1]
    belief = np.empty(log_prior.size)
    likelihood = 0.0
    for n in range(first, last):
        likelihood += _posterior(
            starts, annotators, labels, n, log_confusions, log_prior, belief, K
        )
        _add(starts, annotators, labels, n, belief, counts, totals)
    return likelihood
