"""From answers to beliefs about each item, and from beliefs to counts for each annotator.

Beliefs come from the vote or from a model. Either they are kept, or they are added up at once to
``counts[annotator, reported, true]`` and ``totals[true]`` and never stored.

Kernels that go through classes for every answer take ``lanes``, a tuple with as many entries as
there are classes: its length is part of its type, so that a row of classes is a vector in
registers. Likewise ``long`` is empty where no item has more than RUN answers, and the code for such
items is then left out. Indices are unsigned where it matters: Numba then leaves out its check for
negative ones.
"""

import math

import numpy as np

from blindfuse.kernels.compilation import fragment, kernel, logarithm
from blindfuse.kernels.vectors import filled, load, plus, store, times, total

LEAST = 1e-10
"""The least probability of an answer or a class: below it, one answer would be a veto."""

RUN = 28
"""Answers multiplied at most: the prior and RUN of them, LEAST each, are a normal number."""

SMALL, LARGE = 1e-150, 1e150
"""The product of two numbers between them is a normal number."""

BLOCK = 1_000
"""Patterns whose likelihoods wait for their logarithms, which are taken several at once."""

UNITS_PER_VOTE = 720_720
"""Parts of a vote: divisible by 1 … 16, so that sums of shared votes are exact in any order."""


@fragment
def _vote(starts, labels, n, lanes, votes):
    """Count the ``votes[class]`` on item n: the most that a class has, and its part of the vote.

    Classes with as many share the vote; an item without answers has none to share.
    """
    for k in range(len(lanes)):
        votes[k] = 0.0
    for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        votes[np.uint64(labels[answer])] += 1.0
    most = winners = 0.0
    for k in range(len(lanes)):
        most = max(most, votes[k])
    for k in range(len(lanes)):
        winners += 1.0 if votes[k] == most else 0.0
    return most, math.floor(UNITS_PER_VOTE / winners) if most > 0.0 else 0.0


@fragment
def _multiply(annotators, labels, begin, end, confusions, lanes, belief):
    """Belief in each class times the probability of these answers, at most RUN of them."""
    for answer in range(begin, end):
        m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
        row = (m * np.uint64(confusions.shape[1]) + a) * np.uint64(len(lanes))
        belief = times(belief, load(confusions, row, lanes))
    return belief


@kernel
def _long_posterior(annotators, labels, begin, end, confusions, prior, lanes, belief):
    """Likelihoods of an item of any number of answers, in logarithms of products of RUN answers.

    Fills ``belief[class]``, divided by the largest, and returns that one's logarithm.
    """
    product = np.empty(len(lanes))
    for k in range(len(lanes)):
        belief[k] = math.log(prior[k])
    while begin < end:
        stop = min(begin + np.uint64(RUN), end)
        one = filled(1.0, lanes)
        store(product, 0, _multiply(annotators, labels, begin, stop, confusions, lanes, one))
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
def _posterior(starts, annotators, labels, n, confusions, prior, lanes, long, room):
    """The posterior of item n by (20) and (26), and its likelihood: a logarithm and a factor.

    Products of up to RUN answers cannot underflow, and save an exponential a class; more are
    added up in the log domain, in ``room[class]``.
    """
    begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
    exponent = 0.0
    if len(long) and end - begin > np.uint64(RUN):
        exponent += _long_posterior(annotators, labels, begin, end, confusions, prior, lanes, room)
        belief = load(room, 0, lanes)
    else:
        first = load(prior, 0, lanes)
        belief = _multiply(annotators, labels, begin, end, confusions, lanes, first)
    factor = total(belief)
    return times(belief, filled(1.0 / factor, lanes)), exponent, factor


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
def _sum_of_logs(numbers, count, sizes, first):
    """Σ log of these numbers; ``sizes``, from ``first`` on, say how often each counts."""
    found = 0.0
    for at in range(np.uint64(count)):
        weight = 1.0 if sizes is None else sizes[np.uint64(first) + at]
        found += weight * logarithm(numbers[at])
    return found


@fragment
def _add_to(array, row, vector, lanes):
    """Add a vector to a row of an array."""
    at = np.uint64(row) * np.uint64(len(lanes))
    store(array, at, plus(load(array, at, lanes), vector))


@fragment
def _add(starts, annotators, labels, n, lanes, belief, counts, totals):
    """Share the answers to item n, and the item itself, among the classes by belief."""
    for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
        _add_to(counts, m * np.uint64(counts.shape[1]) + a, belief, lanes)
    _add_to(totals, 0, belief, lanes)


@kernel
def vote_posteriors(starts, annotators, labels, first, last, lanes, beliefs):
    """Fill ``beliefs[item, class]`` of the items ``first … last − 1`` by the majority vote."""
    votes = np.empty(len(lanes))
    for n in range(first, last):
        most, part = _vote(starts, labels, n, lanes, votes)
        for k in range(len(lanes)):
            beliefs[n, k] = part if votes[k] == most else 0.0


@kernel
def vote_counts(starts, annotators, labels, first, last, lanes, counts, totals):
    """Add up what the majority vote on the items ``first … last − 1`` says."""
    votes = np.empty(len(lanes))
    for n in range(first, last):
        most, part = _vote(starts, labels, n, lanes, votes)
        for k in range(len(lanes)):
            if votes[k] == most:  # mostly one class
                totals[k] += part
                for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
                    m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
                    counts[m, a, k] += part


@kernel
def largest(beliefs, codes):
    """Fill ``codes[item]`` with the class that is believed in most; of equals, the first."""
    for n in range(len(beliefs)):
        best, most = 0, beliefs[n, 0]
        for k in range(1, beliefs.shape[1]):
            better = beliefs[n, k] > most
            best = k if better else best
            most = beliefs[n, k] if better else most
        codes[n] = best


@kernel
def posterior_counts_given(starts, annotators, labels, first, last, beliefs, lanes, counts, totals):
    """Add up given ``beliefs[item, class]`` of the items ``first … last − 1``."""
    for n in range(first, last):
        belief = load(beliefs, np.uint64(n) * np.uint64(len(lanes)), lanes)
        _add(starts, annotators, labels, n, lanes, belief, counts, totals)


@kernel
def posterior_products(starts, annotators, labels, first, last, beliefs, lanes, squares):
    """Add up products of two classes' beliefs to ``squares[annotator, reported, true, true]``."""
    for n in range(first, last):
        for answer in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
            for k in range(len(lanes)):
                for l in range(len(lanes)):
                    squares[m, a, k, l] += beliefs[n, k] * beliefs[n, l]


@kernel
def model_posteriors(
    starts, annotators, labels, first, last, confusions, prior, lanes, long, beliefs
):
    """Fill ``beliefs[item, class]`` of these items by a model; returns their log-likelihood."""
    room = np.empty(len(lanes))
    likelihood, product = 0.0, 1.0
    for n in range(first, last):
        belief, exponent, factor = _posterior(
            starts, annotators, labels, n, confusions, prior, lanes, long, room
        )
        store(beliefs, np.uint64(n) * np.uint64(len(lanes)), belief)
        likelihood, product = _multiplied(factor, likelihood + exponent, product)
    return likelihood + math.log(product)


@kernel
def joint_answers(confusions, group, prior, lanes, table):
    """Fill ``table[code, true]``: the prior times the probability of all answers of a code.

    A code has one digit for each annotator of the group, the first one's first. Rows are made of
    those with one digit less, from the last on, so that none is lost before it is used.
    """
    K, L = np.uint64(confusions.shape[1]), np.uint64(len(lanes))
    store(table, 0, load(prior, 0, lanes))
    rows = 1
    for m in group:
        for row in range(rows - 1, -1, -1):
            before = load(table, np.uint64(row) * L, lanes)
            for a in range(K):
                answer = load(confusions, (np.uint64(m) * K + (K - 1 - a)) * L, lanes)
                at = np.uint64(row) * K + (K - 1 - a)
                store(table, at * L, times(before, answer))
        rows *= confusions.shape[1]


@kernel
def packed_counts(codes, first, last, tables, lanes, sizes, sums):
    """Add up what a model says of these patterns to ``sums[code, true]``; their log-likelihood.

    ``codes[pattern, group]`` are rows of ``tables[code, true]``: probabilities of joint answers.
    ``sizes[pattern]`` says how many items have these answers; None is one.
    """
    factors = np.empty(BLOCK)
    likelihood, begin = 0.0, first
    for n in range(first, last):
        if n - begin == BLOCK:
            likelihood += _sum_of_logs(factors, BLOCK, sizes, begin)
            begin = n
        belief = load(tables, np.uint64(codes[n, 0]) * np.uint64(len(lanes)), lanes)
        for group in range(1, codes.shape[1]):
            row = np.uint64(codes[n, group]) * np.uint64(len(lanes))
            belief = times(belief, load(tables, row, lanes))
        factor = factors[n - begin] = total(belief)
        scale = 1.0 / factor if sizes is None else sizes[n] / factor
        belief = times(belief, filled(scale, lanes))
        for group in range(codes.shape[1]):
            _add_to(sums, codes[n, group], belief, lanes)
    return likelihood + _sum_of_logs(factors, last - begin, sizes, begin)


@kernel
def paired_counts(starts, codes, first, last, tables, lanes, sizes, sums):
    """The same for two groups, of patterns sorted by first code, of which these are looked at.

    ``sums[code, true]`` still have to be multiplied with ``tables``: what a pattern adds to a row
    of one group is what it found in the other's, over the total.
    """
    factors = np.empty(BLOCK)
    likelihood, begin = 0.0, np.uint64(starts[first])
    for code in range(first, last):
        own = load(tables, np.uint64(code) * np.uint64(len(lanes)), lanes)
        pull = filled(0.0, lanes)
        for n in range(np.uint64(starts[code]), np.uint64(starts[code + 1])):
            if n - begin == np.uint64(BLOCK):
                likelihood += _sum_of_logs(factors, BLOCK, sizes, begin)
                begin = n
            other = np.uint64(codes[n, 1])
            likely = load(tables, other * np.uint64(len(lanes)), lanes)
            factor = factors[n - begin] = total(times(own, likely))
            scale = filled(1.0 / factor if sizes is None else sizes[n] / factor, lanes)
            pull = plus(pull, times(likely, scale))
            _add_to(sums, other, times(own, scale), lanes)
        _add_to(sums, code, pull, lanes)
    rest = np.uint64(starts[last]) - begin
    return likelihood + _sum_of_logs(factors, rest, sizes, begin)


@kernel
def posterior_counts(
    starts, annotators, labels, first, last, confusions, prior, lanes, long, sizes, counts, totals
):
    """Add up what a model says of these items; returns their log-likelihood.

    ``sizes[item]`` says how often an item counts; None is once.
    """
    room = np.empty(len(lanes))
    likelihood, product = 0.0, 1.0
    for n in range(first, last):
        belief, exponent, factor = _posterior(
            starts, annotators, labels, n, confusions, prior, lanes, long, room
        )
        if sizes is None:
            likelihood, product = _multiplied(factor, likelihood + exponent, product)
        else:
            likelihood += sizes[n] * (exponent + math.log(factor))
            belief = times(belief, filled(sizes[n], lanes))
        _add(starts, annotators, labels, n, lanes, belief, counts, totals)
    return likelihood + math.log(product)
