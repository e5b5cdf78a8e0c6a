"""Posteriors of items from responses, and expected counts of annotators from posteriors.

Posteriors come from the majority vote or from a model. They are either stored, or added at once to
``counts[annotator, reported, true]`` and ``totals[true]``, the expected counts. Where a kernel uses
vectors, the classes are padded (see :mod:`blindfuse.kernels.vectors`). Indices are unsigned in
inner loops, because Numba checks signed ones for negative values.
"""

import math

import numpy as np

from blindfuse.kernels.compilation import kernel
from blindfuse.kernels.vectors import filled, load, store, total

MIN_PROBABILITY = 1e-10
"""Lower limit of probabilities in a model: below it, a single response would be a veto."""

MAX_FACTORS = 28
"""Responses per product: the prior times this many probabilities of MIN_PROBABILITY is a normal
number."""

UNITS_PER_VOTE = 720_720
"""Units of one vote: divisible by 1 … 16, so that sums of shared votes are exact in any order."""

LANES = 8
"""Classes per vector: a register of AVX-512, or two of AVX2."""

ZERO, WIDTH = np.uint64(0), np.uint64(LANES)


@kernel
def item_votes(starts, annotators, symbols, first, last, weights, votes):
    """Add ``weights[annotator]`` to ``votes[item, symbol]`` per response.

    Items are ``first … last − 1``, here and below.
    """
    for n in range(first, last):
        for response in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            votes[n, np.uint64(symbols[response])] += weights[np.uint64(annotators[response])]


@kernel
def vote_units(votes, first, last):
    """Replace ``votes[item, class]`` by the majority vote, in units of UNITS_PER_VOTE.

    Tied classes share one vote. An item without votes has none.
    """
    K = np.uint64(votes.shape[1])
    for n in range(first, last):
        most = winners = 0.0
        for k in range(K):
            most = max(most, votes[n, k])
        for k in range(K):
            winners += 1.0 if votes[n, k] == most else 0.0
        units = math.floor(UNITS_PER_VOTE / winners) if most > 0.0 else 0.0
        for k in range(K):
            votes[n, k] = units if votes[n, k] == most else 0.0


@kernel
def argmax_rows(posteriors, first, last, codes):
    """Fill ``codes[item]`` with the most probable class; ties go to the first."""
    for n in range(first, last):
        best, most = np.uint64(0), posteriors[n, 0]
        for k in range(np.uint64(posteriors.shape[1])):
            better = posteriors[n, k] > most
            best = k if better else best
            most = posteriors[n, k] if better else most
        codes[n] = best


@kernel
def model_posteriors(
    starts, annotators, symbols, first, last, confusions, prior, log_confusions, log_prior,
    weights, posteriors, counts, totals, exponents, factors,
):  # fmt: skip
    """Compute posteriors by a model, (20) and (26).

    They are stored in ``posteriors[item, class]``, unless it is empty, or else multiplied by
    ``weights[item]``, one each if it is empty, and added to ``counts`` and ``totals``. The
    likelihood of an item is exp(``exponents``) · ``factors[item − first]``. A product of up to
    MAX_FACTORS responses cannot underflow, and saves one exponential per class; the logarithms of
    the model serve items with more. All is in one function, because Numba would count references
    to the arguments of a function with branches, in each call.
    """
    R, L, K = np.uint64(confusions.shape[1]), np.uint64(prior.size), np.uint64(posteriors.shape[1])
    row, adds = np.empty(prior.size), len(posteriors) == 0
    for n in range(first, last):
        begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
        exponent = factor = 0.0
        if end - begin <= np.uint64(MAX_FACTORS):
            for k in range(ZERO, L, WIDTH):
                product = load(prior, k, LANES)
                for response in range(begin, end):
                    cell = np.uint64(annotators[response]) * R + np.uint64(symbols[response])
                    product = product * load(confusions, cell * L + k, LANES)
                store(row, k, product)
                factor += total(product)
        else:
            exponent = -math.inf
            for k in range(ZERO, L, WIDTH):
                logs = load(log_prior, k, LANES)
                for response in range(begin, end):
                    cell = np.uint64(annotators[response]) * R + np.uint64(symbols[response])
                    logs = logs + load(log_confusions, cell * L + k, LANES)
                store(row, k, logs)
            for k in range(L):
                exponent = max(exponent, row[k])
            for k in range(L):
                row[k] = math.exp(row[k] - exponent)
                factor += row[k]
        exponents[n - first], factors[n - first] = exponent, factor
        if adds:
            weight = weights[n] if weights.size > 0 else 1.0
            scale = filled(weight / factor, LANES)
            for k in range(ZERO, L, WIDTH):
                posterior = load(row, k, LANES) * scale
                for response in range(begin, end):
                    cell = np.uint64(annotators[response]) * R + np.uint64(symbols[response])
                    store(counts, cell * L + k, load(counts, cell * L + k, LANES) + posterior)
                store(totals, k, load(totals, k, LANES) + posterior)
        else:
            for k in range(K):
                posteriors[n, k] = row[k] / factor


@kernel
def posterior_counts(starts, annotators, symbols, first, last, posteriors, counts, totals):
    """Add up given ``posteriors[item, class]`` to ``counts`` and ``totals``."""
    R, L, K = np.uint64(counts.shape[1]), np.uint64(totals.size), np.uint64(posteriors.shape[1])
    row = np.zeros(totals.size)
    for n in range(first, last):
        for k in range(K):
            row[k] = posteriors[n, k]
        for k in range(ZERO, L, WIDTH):
            posterior = load(row, k, LANES)
            for response in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
                at = np.uint64(annotators[response]) * R + np.uint64(symbols[response])
                store(counts, at * L + k, load(counts, at * L + k, LANES) + posterior)
            store(totals, k, load(totals, k, LANES) + posterior)


@kernel
def half_counts(
    starts, seconds, first, last, weights, first_table, second_table, first_sums, second_sums,
    factors,
):  # fmt: skip
    """Add up posteriors of patterns of two codes (:mod:`blindfuse.model.halves`).

    The joint probability of a pattern is the product of a row of each table, which are one vector.
    The sums ``[code, true]`` still have to be multiplied by the tables: a pattern adds to a row of
    one half only the row of the other one, divided by ``factors``, its likelihood. The patterns are
    those of the codes ``first … last − 1`` of the first half.
    """
    begin = np.uint64(starts[first])
    for code in range(np.uint64(first), np.uint64(last)):
        row, row_sum = load(first_table, code * WIDTH, LANES), filled(0.0, LANES)
        for n in range(np.uint64(starts[code]), np.uint64(starts[code + np.uint64(1)])):
            at = np.uint64(seconds[n]) * WIDTH
            other = load(second_table, at, LANES)
            factor = factors[n - begin] = total(row * other)
            scale = filled(weights[n] / factor, LANES)
            row_sum = row_sum + other * scale
            store(second_sums, at, load(second_sums, at, LANES) + row * scale)
        store(first_sums, code * WIDTH, row_sum)
