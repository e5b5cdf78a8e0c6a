"""From answers to beliefs about each item, and from beliefs to counts for each annotator.

Beliefs come from the vote or from a model. Either they are kept, or they are added up at once to
``counts[annotator, reported, true]`` and ``totals[true]`` and never stored.

Kernels that loop over classes for every answer take ``lanes``, a tuple with as many entries as
there are classes: its length is part of its type, so that the compiler knows how long these loops
are. Likewise ``long`` is empty where no item has more than RUN answers, and the code for such items
is then left out. Indices are unsigned where it matters: Numba then leaves out its check for
negative ones.
"""

import math

import numpy as np

from blindfuse.kernels.machine import fragment, kernel

LEAST = 1e-10
"""The least probability of an answer or a class: below it, one answer would be a veto."""

RUN = 28
"""Answers multiplied at most: the prior and RUN of them, LEAST each, are a normal number."""

SMALL, LARGE = 1e-150, 1e150
"""The product of two numbers between them is a normal number."""

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


@fragment
def _multiply(annotators, labels, begin, end, confusions, lanes, belief):
    """Multiply each class's belief with the probability of these answers, at most RUN of them."""
    for answer in range(begin, end):
        m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
        for k in range(len(lanes)):
            belief[k] *= confusions[m, a, k]


@kernel
def _long_posterior(annotators, labels, begin, end, confusions, prior, lanes, belief):
    """The posterior of an item of any number of answers: logarithms of products of RUN answers."""
    product = np.empty(len(lanes))
    for k in range(len(lanes)):
        belief[k] = math.log(prior[k])
    while begin < end:
        stop = min(begin + np.uint64(RUN), end)
        for k in range(len(lanes)):
            product[k] = 1.0
        _multiply(annotators, labels, begin, stop, confusions, lanes, product)
        for k in range(len(lanes)):
            belief[k] += math.log(product[k])
        begin = stop
    best = belief[0]
    for k in range(1, len(lanes)):
        best = max(best, belief[k])
    for k in range(len(lanes)):
        belief[k] = math.exp(belief[k] - best)
    return best


@fragment
def _posterior(starts, annotators, labels, n, confusions, prior, lanes, long, belief):
    """The posterior of item n by (20) and (26); returns its likelihood: a logarithm and a factor.

    Products of up to RUN answers cannot underflow, and save an exponential a class; more are
    added up in the log domain.
    """
    begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
    logarithm = 0.0
    if len(long) and end - begin > np.uint64(RUN):
        logarithm += _long_posterior(
            annotators, labels, begin, end, confusions, prior, lanes, belief
        )
    else:
        for k in range(len(lanes)):
            belief[k] = prior[k]
        _multiply(annotators, labels, begin, end, confusions, lanes, belief)
    total = 0.0
    for k in range(len(lanes)):
        total += belief[k]
    scale = 1.0 / total
    for k in range(len(lanes)):
        belief[k] *= scale
    return logarithm, total


@fragment
def _multiplied(factor, likelihood, product):
    """A likelihood and the product of factors whose logarithm it lacks, with one factor more.

    Many items share one logarithm.
    """
    if factor < SMALL:
        likelihood += math.log(factor)
    else:
        product *= factor
    if product < SMALL or product > LARGE:
        likelihood += math.log(product)
        product = 1.0
    return likelihood, product


@fragment
def _add(starts, annotators, labels, n, lanes, belief, counts, totals):
    """Share the answers to item n, and the item itself, among the classes by belief."""
    for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
        for k in range(len(lanes)):
            counts[m, a, k] += belief[k]
    for k in range(len(lanes)):
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
def belief_counts(starts, annotators, labels, first, last, beliefs, lanes, counts, totals):
    """Add up given ``beliefs[item, class]`` of the items ``first … last − 1``."""
    for n in range(first, last):
        _add(starts, annotators, labels, n, lanes, beliefs[n], counts, totals)


@kernel
def belief_squares(starts, annotators, labels, first, last, beliefs, lanes, squares):
    """Add up products of two classes' beliefs to ``squares[annotator, reported, true, true]``."""
    for n in range(first, last):
        for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
            for k in range(len(lanes)):
                for l in range(len(lanes)):
                    squares[m, a, k, l] += beliefs[n, k] * beliefs[n, l]


@kernel
def posterior_beliefs(
    starts, annotators, labels, first, last, confusions, prior, lanes, long, beliefs
):
    """Fill ``beliefs[item, class]`` of these items by a model; returns their log-likelihood."""
    likelihood, product = 0.0, 1.0
    for n in range(first, last):
        logarithm, total = _posterior(
            starts, annotators, labels, n, confusions, prior, lanes, long, beliefs[n]
        )
        likelihood, product = _multiplied(total, likelihood + logarithm, product)
    return likelihood + math.log(product)


@kernel
def packed_counts(codes, first, last, tables, lanes, sizes, sums, totals):
    """Add up what a model says of these patterns to ``sums[code, true]``.

    ``codes[pattern, group]`` are rows of ``tables[code, true]``: probabilities of joint answers.
    ``sizes[pattern]`` says how many items have these answers; None is one. ``totals``, from
    ``first`` on, are filled with the likelihood of each pattern.
    """
    belief = np.empty(len(lanes))
    for n in range(first, last):
        code = np.uint64(codes[n, 0])
        for k in range(len(lanes)):
            belief[k] = tables[code, k]
        for group in range(1, codes.shape[1]):
            code = np.uint64(codes[n, group])
            for k in range(len(lanes)):
                belief[k] *= tables[code, k]
        total = 0.0
        for k in range(len(lanes)):
            total += belief[k]
        totals[n - first] = total
        scale = 1.0 / total if sizes is None else sizes[n] / total
        for k in range(len(lanes)):
            belief[k] *= scale
        for group in range(codes.shape[1]):
            code = np.uint64(codes[n, group])
            for k in range(len(lanes)):
                sums[code, k] += belief[k]


@kernel
def paired_counts(starts, codes, first, last, tables, lanes, sizes, sums, totals):
    """The same for two groups, of patterns sorted by first code, of which these are looked at.

    ``sums[code, true]`` still have to be multiplied with ``tables``: what a pattern adds to a row
    of one group is what it found in the other's, over the total.
    """
    own, pull = np.empty(len(lanes)), np.empty(len(lanes))
    begin = starts[first]
    for code in range(first, last):
        for k in range(len(lanes)):
            own[k] = tables[code, k]
            pull[k] = 0.0
        for n in range(np.uint64(starts[code]), np.uint64(starts[code + 1])):
            other = np.uint64(codes[n, 1])
            total = 0.0
            for k in range(len(lanes)):
                total += own[k] * tables[other, k]
            totals[n - begin] = total
            scale = 1.0 / total if sizes is None else sizes[n] / total
            for k in range(len(lanes)):
                pull[k] += tables[other, k] * scale
                sums[other, k] += own[k] * scale
        for k in range(len(lanes)):
            sums[code, k] += pull[k]


@kernel
def posterior_counts(
    starts, annotators, labels, first, last, confusions, prior, lanes, long, sizes, counts, totals
):
    """Add up what a model says of these items; returns their log-likelihood.

    ``sizes[item]`` says how often an item counts; None is once.
    """
    belief = np.empty(len(lanes))
    likelihood, product = 0.0, 1.0
    for n in range(first, last):
        logarithm, total = _posterior(
            starts, annotators, labels, n, confusions, prior, lanes, long, belief
        )
        if sizes is None:
            likelihood, product = _multiplied(total, likelihood + logarithm, product)
        else:
            likelihood += sizes[n] * (logarithm + math.log(total))
            for k in range(len(lanes)):
                belief[k] *= sizes[n]
        _add(starts, annotators, labels, n, lanes, belief, counts, totals)
    return likelihood + math.log(product)
