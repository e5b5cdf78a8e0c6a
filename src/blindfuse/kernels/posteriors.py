"""Posteriors of items from responses, and expected counts of annotators from posteriors.

Posteriors come from the majority vote or from a model. They are either stored, or added at once to
``counts[annotator, reported, true]`` and ``totals[true]``, the expected counts.

Kernels with an inner loop over classes take ``lanes``, of one entry per class. Few classes are a
tuple: its length is part of its type, so that a row of classes is a vector in registers. Many
classes are an array, and rows are in memory (see ``blindfuse.kernels.vectors``). ``long`` is
None if no item has more than MAX_FACTORS responses, and the code for such items is then left out.
Indices are unsigned in inner loops, because Numba checks signed ones for negative values.
"""

import math

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel, logarithm, nested
from blindfuse.kernels.vectors import (
    copied,
    dot,
    filled,
    load,
    plus_scaled,
    scaled,
    store,
    times,
    total,
)

MIN_PROBABILITY = 1e-10
"""Lower limit of probabilities in a model: below it, a single response would be a veto."""

MAX_FACTORS = 28
"""Responses per product: the prior times this many probabilities of MIN_PROBABILITY is a normal
number."""

SMALL, LARGE = 1e-150, 1e150
"""The product of two numbers in this range is a normal number."""

LOG_BLOCK = 1_000
"""Patterns whose likelihoods are collected, so that their logarithms are taken in one loop."""

UNITS_PER_VOTE = 720_720
"""Units of one vote: divisible by 1 … 16, so that sums of shared votes are exact in any order."""


@inlined
def _vote(starts, symbols, n, lanes, votes):
    """Count ``votes[class]`` on item n; return the maximum, and the units per winning class.

    Tied classes share one vote. An item without responses has none.
    """
    for k in range(len(lanes)):
        votes[k] = 0.0
    for response in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        votes[np.uint64(symbols[response])] += 1.0
    most = winners = 0.0
    for k in range(len(lanes)):
        most = max(most, votes[k])
    for k in range(len(lanes)):
        winners += 1.0 if votes[k] == most else 0.0
    return most, math.floor(UNITS_PER_VOTE / winners) if most > 0.0 else 0.0


@inlined
def _multiply(annotators, symbols, begin, end, confusions, lanes, posterior):
    """Multiply a vector over classes by the probabilities of at most MAX_FACTORS responses."""
    for response in range(begin, end):
        m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
        row = (m * np.uint64(confusions.shape[1]) + a) * np.uint64(len(lanes))
        posterior = times(posterior, load(confusions, row, lanes))
    return posterior


@nested
def _long_posterior(annotators, symbols, begin, end, confusions, prior, lanes, posterior):
    """Joint probability of class and responses of an item with any number of responses.

    Adds logarithms of products of MAX_FACTORS responses. Fills ``posterior[class]``, divided by
    its maximum, and returns the logarithm of the maximum.
    """
    product = np.empty(len(lanes))
    for k in range(len(lanes)):
        posterior[k] = math.log(prior[k])
    while begin < end:
        stop = min(begin + np.uint64(MAX_FACTORS), end)
        one = filled(1.0, product, lanes)
        store(product, 0, _multiply(annotators, symbols, begin, stop, confusions, lanes, one))
        for k in range(len(lanes)):
            posterior[k] += math.log(product[k])
        begin = stop
    best = posterior[0]
    for k in range(1, len(lanes)):
        best = max(best, posterior[k])
    for k in range(len(lanes)):
        posterior[k] = math.exp(posterior[k] - best)
    return best


@inlined
def _posterior(starts, annotators, symbols, n, confusions, prior, lanes, long, buffer):
    """Return the posterior of item n by (20) and (26), and its likelihood exp(exponent) · factor.

    A product of up to MAX_FACTORS responses cannot underflow, and saves one exponential per class.
    Items with more responses are computed in the log domain, in ``buffer[class]``.
    """
    begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
    exponent = 0.0
    if long is None:
        first = copied(prior, 0, buffer, lanes)
        posterior = _multiply(annotators, symbols, begin, end, confusions, lanes, first)
    elif end - begin > np.uint64(MAX_FACTORS):
        exponent += _long_posterior(
            annotators, symbols, begin, end, confusions, prior, lanes, buffer
        )
        posterior = load(buffer, 0, lanes)
    else:
        first = copied(prior, 0, buffer, lanes)
        posterior = _multiply(annotators, symbols, begin, end, confusions, lanes, first)
    factor = total(posterior)
    return scaled(posterior, 1.0 / factor), exponent, factor


@inlined
def _accumulate(factor, log_likelihood, product):
    """Add log factor to a log-likelihood, or multiply it into a product of pending factors.

    One logarithm of the product then serves many items.
    """
    if factor < SMALL:
        log_likelihood += math.log(factor)
    else:
        product *= factor
    if product < SMALL or product > LARGE:
        log_likelihood += math.log(product)
        product = 1.0
    return log_likelihood, product


@inlined
def _sum_of_logs(numbers, count, weights, first):
    """Sum the logarithms of ``numbers[:count]``, weighted by ``weights[first:]``."""
    log_sum = 0.0
    for at in range(np.uint64(count)):
        weight = 1.0 if weights is None else weights[np.uint64(first) + at]
        log_sum += weight * logarithm(numbers[at])
    return log_sum


@inlined
def _add_to(array, row, added, factor, lanes):
    """Multiply the classes of ``added`` by ``factor`` and add them to one row of an array."""
    at = np.uint64(row) * np.uint64(len(lanes))
    store(array, at, plus_scaled(load(array, at, lanes), added, factor))


@inlined
def _add_item(starts, annotators, symbols, n, lanes, posterior, counts, totals):
    """Add the posterior of item n to the counts of its responses and to the totals."""
    for response in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
        m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
        _add_to(counts, m * np.uint64(counts.shape[1]) + a, posterior, 1.0, lanes)
    _add_to(totals, 0, posterior, 1.0, lanes)


@kernel
def item_votes(starts, annotators, symbols, weights, votes):
    """Add ``weights[annotator]`` to ``votes[item, symbol]`` per response."""
    for n in range(starts.size - 1):
        for response in range(starts[n], starts[n + 1]):
            votes[n, symbols[response]] += weights[annotators[response]]


@kernel
def vote_posteriors(starts, annotators, symbols, first, last, lanes, posteriors):
    """Fill ``posteriors[item, class]`` by the majority vote, in units of UNITS_PER_VOTE.

    Items are ``first … last − 1``, here and below.
    """
    votes = np.empty(len(lanes))
    for n in range(first, last):
        most, units = _vote(starts, symbols, n, lanes, votes)
        for k in range(len(lanes)):
            posteriors[n, k] = units if votes[k] == most else 0.0


@kernel
def vote_counts(starts, annotators, symbols, first, last, lanes, counts, totals):
    """Add up the majority vote, in units of UNITS_PER_VOTE, to ``counts`` and ``totals``."""
    votes = np.empty(len(lanes))
    for n in range(first, last):
        most, units = _vote(starts, symbols, n, lanes, votes)
        for k in range(len(lanes)):
            if votes[k] == most:  # usually one class
                totals[k] += units
                for response in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
                    m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
                    counts[m, a, k] += units


@kernel
def argmax_rows(posteriors, codes):
    """Fill ``codes[item]`` with the most probable class; ties go to the first."""
    for n in range(len(posteriors)):
        best, most = 0, posteriors[n, 0]
        for k in range(1, posteriors.shape[1]):
            better = posteriors[n, k] > most
            best = k if better else best
            most = posteriors[n, k] if better else most
        codes[n] = best


@kernel
def posterior_counts(starts, annotators, symbols, first, last, posteriors, lanes, counts, totals):
    """Add up given ``posteriors[item, class]`` to ``counts`` and ``totals``."""
    for n in range(first, last):
        posterior = load(posteriors, np.uint64(n) * np.uint64(len(lanes)), lanes)
        _add_item(starts, annotators, symbols, n, lanes, posterior, counts, totals)


@kernel
def model_posteriors(
    starts, annotators, symbols, first, last, confusions, prior, lanes, long, posteriors
):
    """Fill ``posteriors[item, class]`` by a model; return the log-likelihood of the items."""
    buffer = np.empty(len(lanes))
    log_likelihood, product = 0.0, 1.0
    for n in range(first, last):
        posterior, exponent, factor = _posterior(
            starts, annotators, symbols, n, confusions, prior, lanes, long, buffer
        )
        store(posteriors, np.uint64(n) * np.uint64(len(lanes)), posterior)
        log_likelihood, product = _accumulate(factor, log_likelihood + exponent, product)
    return log_likelihood + math.log(product)


@kernel
def joint_probabilities(confusions, group, prior, lanes, table):
    """Fill ``table[code, true]`` with the prior times the probability of the responses of a code.

    A code has one digit per annotator of the group, its symbol; the first annotator has the most
    significant digit. Each annotator extends the table in place, from the last row to the first,
    so that no row is overwritten before it is used.
    """
    K, L = np.uint64(confusions.shape[1]), np.uint64(len(lanes))
    buffer = np.empty(len(lanes))
    store(table, 0, load(prior, 0, lanes))
    rows = 1
    for m in group:
        for row in range(rows - 1, -1, -1):
            before = np.uint64(row) * L
            for a in range(K):
                response = load(confusions, (np.uint64(m) * K + (K - 1 - a)) * L, lanes)
                at = np.uint64(row) * K + (K - 1 - a)
                store(table, at * L, times(copied(table, before, buffer, lanes), response))
        rows *= confusions.shape[1]


@kernel
def packed_counts(codes, first, last, tables, lanes, weights, code_counts):
    """Add up posteriors of patterns to ``code_counts[code, true]``; return the log-likelihood.

    ``codes[pattern, group]`` are rows of ``tables[code, true]``, the joint probabilities of the
    responses of a group. ``weights[pattern]`` is the number of items with this pattern; None
    means one each.
    """
    factors, buffer = np.empty(LOG_BLOCK), np.empty(len(lanes))
    log_likelihood, begin = 0.0, first
    for n in range(first, last):
        if n - begin == LOG_BLOCK:
            log_likelihood += _sum_of_logs(factors, LOG_BLOCK, weights, begin)
            begin = n
        row = np.uint64(codes[n, 0]) * np.uint64(len(lanes))
        posterior = copied(tables, row, buffer, lanes)
        for group in range(1, codes.shape[1]):
            row = np.uint64(codes[n, group]) * np.uint64(len(lanes))
            posterior = times(posterior, load(tables, row, lanes))
        factor = factors[n - begin] = total(posterior)
        scale = 1.0 / factor if weights is None else weights[n] / factor
        for group in range(codes.shape[1]):
            _add_to(code_counts, codes[n, group], posterior, scale, lanes)
    return log_likelihood + _sum_of_logs(factors, last - begin, weights, begin)


@kernel
def packed_pair_counts(starts, codes, first, last, tables, lanes, weights, code_counts):
    """Like :func:`packed_counts` for two groups, with patterns sorted by the first group's code.

    ``first … last − 1`` are codes of the first group. ``code_counts[code, true]`` still has to be
    multiplied by ``tables``: a pattern adds to the row of one group only the probability from the
    other group's row, divided by the total.
    """
    factors, buffer = np.empty(LOG_BLOCK), np.empty(len(lanes))
    log_likelihood, begin = 0.0, np.uint64(starts[first])
    for code in range(first, last):
        own = load(tables, np.uint64(code) * np.uint64(len(lanes)), lanes)
        own_count = filled(0.0, buffer, lanes)
        for n in range(np.uint64(starts[code]), np.uint64(starts[code + 1])):
            if n - begin == np.uint64(LOG_BLOCK):
                log_likelihood += _sum_of_logs(factors, LOG_BLOCK, weights, begin)
                begin = n
            other = np.uint64(codes[n, 1])
            probability = load(tables, other * np.uint64(len(lanes)), lanes)
            factor = factors[n - begin] = dot(own, probability)
            scale = 1.0 / factor if weights is None else weights[n] / factor
            own_count = plus_scaled(own_count, probability, scale)
            _add_to(code_counts, other, own, scale, lanes)
        _add_to(code_counts, code, own_count, 1.0, lanes)
    rest = np.uint64(starts[last]) - begin
    return log_likelihood + _sum_of_logs(factors, rest, weights, begin)


@kernel
def model_counts(
    starts, annotators, symbols, first, last,
    confusions, prior, lanes, long, weights, counts, totals,
):  # fmt: skip
    """Add up posteriors by a model to ``counts`` and ``totals``; return the log-likelihood.

    ``weights[item]`` is the weight of an item; None means one each.
    """
    buffer = np.empty(len(lanes))
    log_likelihood, product = 0.0, 1.0
    for n in range(first, last):
        posterior, exponent, factor = _posterior(
            starts, annotators, symbols, n, confusions, prior, lanes, long, buffer
        )
        if weights is None:
            log_likelihood, product = _accumulate(factor, log_likelihood + exponent, product)
        else:
            log_likelihood += weights[n] * (exponent + math.log(factor))
            posterior = scaled(posterior, weights[n])
        _add_item(starts, annotators, symbols, n, lanes, posterior, counts, totals)
    return log_likelihood + math.log(product)
