"""Variational E-step of the mixed-membership model.

Each item has a distribution over classes. A response is drawn either from it (the annotator looks
at the item) or from a distribution of the annotator's own (a habit).
"""

import math

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel

MAX_ITERATIONS = 30
"""Updates of an item's membership; few items need more than ten."""
TOLERANCE = 1e-4
"""The iteration stops when no entry of the membership changes by more."""


@inlined
def _digamma(x):
    """Return ψ(x) for x > 0: the asymptotic series above 6, reached by ψ(x) = ψ(x + 1) − 1/x."""
    value = 0.0
    while x < 6.0:
        value -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t / 132))))
    return value + math.log(x) - 0.5 / x - series


@kernel
def _expected_logs(membership, logs):
    """Fill ``logs[class]`` with E log q for q ~ Dirichlet(membership); return the sum of it."""
    total = 0.0
    for k in range(membership.size):
        total += membership[k]
    whole = _digamma(total)
    for k in range(membership.size):
        logs[k] = _digamma(membership[k]) - whole
    return total


@kernel
def membership_posteriors(
    starts, annotators, symbols, first, last, looks, habits, pseudo, memberships, by_habit, log_sums
):
    """Fill the Dirichlet parameters ``memberships[item, class]``; return the variational bound.

    Annotator m looks with probability ``looks[m]`` and then reports class a with probability
    q_n(a), where q_n ~ Dirichlet(``pseudo``). Otherwise it reports a with probability
    ``habits[m, a]``. Adds the expected number of responses by habit to ``by_habit[m, a]`` and
    Σ_n E log q_n to ``log_sums[class]``.
    """
    K = pseudo.size
    logs, updated = np.empty(K), np.empty(K)
    prior_terms, strength = 0.0, 0.0
    for k in range(K):
        prior_terms -= math.lgamma(pseudo[k])
        strength += pseudo[k]
    prior_terms += math.lgamma(strength)
    bound = 0.0
    for n in range(first, last):
        membership = memberships[n]
        begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
        for k in range(K):
            membership[k] = pseudo[k]
        for response in range(begin, end):
            membership[np.uint64(symbols[response])] += 1.0
        for _ in range(MAX_ITERATIONS):
            _expected_logs(membership, logs)
            for k in range(K):
                updated[k] = pseudo[k]
            for response in range(begin, end):
                m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
                looked = looks[m] * math.exp(logs[a])
                updated[a] += looked / (looked + (1.0 - looks[m]) * habits[m, a])
            change = 0.0
            for k in range(K):
                change = max(change, abs(updated[k] - membership[k]))
                membership[k] = updated[k]
            if change < TOLERANCE:
                break
        total = _expected_logs(membership, logs)
        bound += prior_terms - math.lgamma(total)
        for k in range(K):
            bound += (pseudo[k] - membership[k]) * logs[k] + math.lgamma(membership[k])
            log_sums[k] += logs[k]
        for response in range(begin, end):
            m, a = np.uint64(annotators[response]), np.uint64(symbols[response])
            habit = (1.0 - looks[m]) * habits[m, a]
            likelihood = looks[m] * math.exp(logs[a]) + habit
            by_habit[m, a] += habit / likelihood
            bound += math.log(likelihood)
    return bound
