"""Variational E-step of the mixed-membership model.

Each item has a distribution over classes. A response is drawn either from it (the annotator looks
at the item) or from a distribution of the annotator's own (a habit).
"""

import math

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel

MAX_ITERATIONS = 30
"""Updates of an item's membership; few items need more than ten."""
TOLERANCE = 2e-5
"""The iteration stops when no entry of the membership changes by more than this share of all."""
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
MIN_PRODUCT = 1e-200
"""Likelihoods are multiplied down to this product before its logarithm is taken."""
SHIFT = 6.0
"""ψ(x) = ψ(x + 6) − 1/x − … − 1/(x + 5): the argument from which its asymptotic series is exact."""


@inlined
def _digamma_remainder(x):
    """Return ψ(x) − log(x + SHIFT) for x > 0, with one division for the six of the recurrence.

    With u = x (x + 5), the terms 1/(x + i) + 1/(x + 5 − i) are (2x + 5) / (u + i (5 − i)).
    """
    u = x * (x + 5.0)
    v, w = u + 4.0, u + 6.0
    recurrence = (2.0 * x + 5.0) * (v * w + u * (v + w)) / (u * v * w)
    inverse = 1.0 / (x + SHIFT)
    t = inverse * inverse
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t / 132))))
    return -0.5 * inverse - series - recurrence


@inlined
def _log_gamma(x, log_shifted):
    """Return log Γ(x) for x > 0 by Stirling's series at x + SHIFT; ``log_shifted`` is its log."""
    y = x + SHIFT
    inverse = 1.0 / y
    t = inverse * inverse
    series = inverse * (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t / 1188))))
    u = x * (x + 5.0)
    recurrence = math.log(u * (u + 4.0) * (u + 6.0))
    return (y - 0.5) * log_shifted - y + HALF_LOG_2_PI + series - recurrence


@kernel
def membership_posteriors(
    starts, annotators, symbols, first, last, weights,
    looks, odds, pseudo, memberships, by_habit, log_sums,
):  # fmt: skip
    """Fill the Dirichlet parameters ``memberships[item, class]``; return the variational bound.

    Annotator m looks with probability ``looks[m]`` > 0 and then reports class a with probability
    q_n(a), where q_n ~ Dirichlet(``pseudo``). Otherwise it reports a out of habit, with probability
    ``looks[m]`` · ``odds[m, a]``. Adds the expected number of responses by habit to
    ``by_habit[m, a]`` and Σ_n E log q_n to ``log_sums[class]``; ``weights[item]`` is the weight of
    each item.

    The parameters of classes that nobody reports for an item do not change, so that only the
    ``present`` ones are updated, ``n_present`` of them. The odds of an item's responses are sorted
    by class, ``sorted_odds[begins[a]:ends[a]]``, so that the sum over a class runs in SIMD lanes.
    """
    K, longest = pseudo.size, 0
    for n in range(first, last):
        longest = max(longest, starts[n + 1] - starts[n])
    present, begins, ends = np.empty(K, np.uint64), np.empty(K, np.uint64), np.empty(K, np.uint64)
    sorted_odds, chances = np.empty(longest), np.empty(K)
    absent_logs, absent_gammas = np.empty(K), np.empty(K)
    strength = prior_terms = weight_sum = whole_sum = bound = 0.0
    for k in range(K):
        strength += pseudo[k]
        absent_gammas[k] = math.lgamma(pseudo[k])
        prior_terms -= absent_gammas[k]
        absent_logs[k] = _digamma_remainder(pseudo[k]) + math.log(pseudo[k] + SHIFT)
        log_sums[k] = 0.0
    prior_terms += math.lgamma(strength)
    for n in range(first, last):
        membership, weight = memberships[n], weights[n]
        begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
        for k in range(K):
            membership[k], ends[k] = pseudo[k], 0
        for response in range(begin, end):
            ends[np.uint64(symbols[response])] += np.uint64(1)
        n_present, next_begin = 0, np.uint64(0)
        for a in range(np.uint64(K)):
            if ends[a] > 0:
                present[n_present] = a
                n_present += 1
                membership[a] += ends[a]
                begins[a] = next_begin
                next_begin += ends[a]
                ends[a] = begins[a]
        for response in range(begin, end):
            m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
            sorted_odds[ends[a]] = odds[m, a]
            ends[a] += np.uint64(1)
        total = strength + (end - begin)
        for _ in range(MAX_ITERATIONS):
            rest, scale = _digamma_remainder(total), 1.0 / (total + SHIFT)
            change, total = 0.0, strength
            for at in range(n_present):
                a = present[at]
                x = membership[a]
                chance = (x + SHIFT) * scale * math.exp(_digamma_remainder(x) - rest)
                looked = 0.0
                for i in range(begins[a], ends[a]):
                    looked += chance / (chance + sorted_odds[i])
                membership[a] = pseudo[a] + looked
                change = max(change, abs(membership[a] - x))
                total += looked
            if change < TOLERANCE * total:
                break
        log_shifted = math.log(total + SHIFT)
        whole = _digamma_remainder(total) + log_shifted
        item_bound = prior_terms - _log_gamma(total, log_shifted)
        for at in range(n_present):
            a = present[at]
            x = membership[a]
            log_shifted = math.log(x + SHIFT)
            log = _digamma_remainder(x) + log_shifted
            chances[a] = math.exp(log - whole)
            item_bound += (pseudo[a] - x) * (log - whole)
            item_bound += _log_gamma(x, log_shifted) - absent_gammas[a]
            log_sums[a] += weight * (log - absent_logs[a])
        product = 1.0
        for response in range(begin, end):
            m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
            by_odds = odds[m, a]
            either = chances[a] + by_odds
            by_habit[m, a] += weight * by_odds / either
            product *= looks[m] * either
            if product < MIN_PRODUCT:
                item_bound += math.log(product)
                product = 1.0
        bound += weight * (item_bound + math.log(product))
        weight_sum += weight
        whole_sum += weight * whole
    for k in range(K):
        log_sums[k] += weight_sum * absent_logs[k] - whole_sum
        bound += weight_sum * absent_gammas[k]
    return bound
