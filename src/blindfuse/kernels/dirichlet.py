"""The likelihood of counts under Dirichlet distributions, with its first two derivatives."""

import math

from blindfuse.kernels.compilation import fragment, kernel, logarithm

STEPS = 7
"""From here on Stirling's series has all digits; numbers are raised so far by the recurrence."""

BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510
FIRST = tuple(number / (2 * n) for n, number in enumerate(BERNOULLI, 1))
ZEROTH = tuple(number / (2 * n - 1) for n, number in enumerate(FIRST, 1))
"""Coefficients of Stirling's series: of the second derivative, the first, and the logarithm."""

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


@fragment
def _gammas(x):
    """Logarithm of Γ(x), and its first and second derivative, for x > 0; several run at once."""
    product, first, second = 1.0, 0.0, 0.0
    for _ in range(STEPS):
        inverse = 1.0 / x
        product *= x
        first -= inverse
        second += inverse * inverse
        x += 1.0
    inverse, log_x = 1.0 / x, logarithm(x)
    value = (x - 0.5) * log_x - x + HALF_LOG_2_PI - logarithm(product)
    first += log_x - 0.5 * inverse
    second += inverse + 0.5 * inverse * inverse
    power = inverse
    for n in range(len(BERNOULLI)):
        value += ZEROTH[n] * power
        power *= inverse
        first -= FIRST[n] * power
        power *= inverse
        second += BERNOULLI[n] * power
    return value, first, second


@fragment
def _add_up(counts, p):
    """Σ lnΓ(n + p) − lnΓ(p), ψ(n + p) − ψ(p) and ψ′(p) − ψ′(n + p) over counts n above zero."""
    value0, first0, second0 = _gammas(p)
    value = slope = bend = 0.0
    for at in range(counts.size):
        found = _gammas(counts[at] + p)
        there = 1.0 if counts[at] > 0.0 else 0.0
        value += there * (found[0] - value0)
        slope += there * (found[1] - first0)
        bend += there * (second0 - found[2])
    return value, slope, bend


@kernel
def dirichlet_likelihood(
    counts, labels, pseudo, likelihood, slopes, bends, total_slopes, total_bends
):
    """Of ``counts[reported, true, annotator]`` under Dirichlet(``pseudo[:, true]``), by column.

    ln L = Σ_m [Σ_a lnΓ(n + p) − lnΓ(p)] − [lnΓ(N + P) − lnΓ(P)], where N, in ``labels[true,
    annotator]``, and P are sums over a. With ψ = (ln Γ)′, fills ``likelihood[true]``,
    ``slopes[reported, true]`` Σ_m ψ(n + p) − ψ(p), ``bends`` Σ_m ψ′(p) − ψ′(n + p), and the same of
    N and P in ``total_slopes[true]`` and ``total_bends[true]``. Empty cells add nothing.
    """
    K, L, _ = counts.shape
    for k in range(L):
        whole = 0.0
        for a in range(K):
            whole += pseudo[a, k]
        value, total_slopes[k], total_bends[k] = _add_up(labels[k], whole)
        likelihood[k] = -value
        for a in range(K):
            value, slopes[a, k], bends[a, k] = _add_up(counts[a, k], pseudo[a, k])
            likelihood[k] += value
