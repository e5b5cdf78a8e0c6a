"""Items that are mixes of classes: which answers were read off the mix, and which are habit."""

import math

import numpy as np

from blindfuse.kernels.compilation import kernel

MOST_ROUNDS = 30
"""Rounds between an item's mix and its answers; few need more than ten."""
SETTLED = 1e-4
"""A round that moves no answer by more ends them."""


@kernel
def _digamma(x):
    """ψ(x) for x > 0: raised above 6 by ψ(x) = ψ(x + 1) − 1/x, then the asymptotic series."""
    value = 0.0
    while x < 6.0:
        value -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t / 132))))
    return value + math.log(x) - 0.5 / x - series


@kernel
def _log_mix(mix, logs):
    """Fill ``logs[class]`` with E log q for q ~ Dirichlet(mix); returns the sum of ``mix``."""
    total = 0.0
    for k in range(mix.size):
        total += mix[k]
    whole = _digamma(total)
    for k in range(mix.size):
        logs[k] = _digamma(mix[k]) - whole
    return total


@kernel
def mix_items(
    starts, annotators, labels, first, last, looks, habits, pseudo, mixes, by_habit, log_sums
):
    """Fill the Dirichlets ``mixes[item, class]`` of these items; returns the variational bound.

    An annotator looks with probability ``looks[m]`` and then reports class a with probability
    q_n(a), q_n ~ Dirichlet(``pseudo``); else it reports a with probability ``habits[m, a]``.
    ``by_habit[m, a]`` adds up the answers that were given by habit, ``log_sums[class]`` E log q_n.
    """
    K = pseudo.size
    logs, counted = np.empty(K), np.empty(K)
    prior_terms, strength = 0.0, 0.0
    for k in range(K):
        prior_terms -= math.lgamma(pseudo[k])
        strength += pseudo[k]
    prior_terms += math.lgamma(strength)
    bound = 0.0
    for n in range(first, last):
        mix = mixes[n]
        begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
        for k in range(K):
            mix[k] = pseudo[k]
        for answer in range(begin, end):
            mix[np.uint64(labels[answer])] += 1.0
        for _ in range(MOST_ROUNDS):
            _log_mix(mix, logs)
            for k in range(K):
                counted[k] = pseudo[k]
            for answer in range(begin, end):
                m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
                seen = looks[m] * math.exp(logs[a])
                counted[a] += seen / (seen + (1.0 - looks[m]) * habits[m, a])
            moved = 0.0
            for k in range(K):
                moved = max(moved, abs(counted[k] - mix[k]))
                mix[k] = counted[k]
            if moved < SETTLED:
                break
        total = _log_mix(mix, logs)
        bound += prior_terms - math.lgamma(total)
        for k in range(K):
            bound += (pseudo[k] - mix[k]) * logs[k] + math.lgamma(mix[k])
            log_sums[k] += logs[k]
        for answer in range(begin, end):
            m, a = np.uint64(annotators[answer]), np.uint64(labels[answer])
            habit = (1.0 - looks[m]) * habits[m, a]
            likely = looks[m] * math.exp(logs[a]) + habit
            by_habit[m, a] += habit / likely
            bound += math.log(likely)
    return bound
