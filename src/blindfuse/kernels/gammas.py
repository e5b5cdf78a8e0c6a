"""The likelihood of counts under Dirichlet distributions, with its first two derivatives."""

import math

from blindfuse.kernels.machine import fragment, kernel

FAR = 7.0
"""From here on Stirling's series has all digits; smaller numbers are raised by the recurrence."""

BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510
FIRST = tuple(number / (2 * n) for n, number in enumerate(BERNOULLI, 1))
ZEROTH = tuple(number / (2 * n - 1) for n, number in enumerate(FIRST, 1))
"""Coefficients of Stirling's series: of the second derivative, the first, and the logarithm."""

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


@fragment
def _gammas(x):
    """Logarithm of Γ(x), and its first and second derivative, for x > 0."""
    product, first, second = 1.0, 0.0, 0.0
    while x < FAR:
        inverse = 1.0 / x
        product *= x
        first -= inverse
        second += inverse * inverse
        x += 1.0
    inverse, log_x = 1.0 / x, math.log(x)
    value = (x - 0.5) * log_x - x + HALF_LOG_2_PI - math.log(product)
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


@kernel
def dirichlet_likelihood(counts, pseudo, likelihood, slopes, bends, total_slopes, total_bends):
    """Of ``counts[annotator, reported, true]`` under Dirichlet(``pseudo[:, true]``), by column.

    ln L = Σ_m [Σ_a lnΓ(n + p) − lnΓ(p)] − [lnΓ(N + P) − lnΓ(P)], where N and P are sums over a.
    With ψ = (ln Γ)′, fills ``likelihood[true]``, ``slopes[reported, true]`` Σ_m ψ(n + p) − ψ(p),
    ``bends`` Σ_m ψ′(p) − ψ′(n + p), and the same of N and P in ``total_slopes[true]`` and
    ``total_bends[true]``. Empty cells add nothing, and are passed over.
    """
    M, K, L = counts.shape
    for k in range(L):
        whole = 0.0
        for a in range(K):
            whole += pseudo[a, k]
        value0, first0, second0 = _gammas(whole)
        value = slope = bend = 0.0
        for m in range(M):
            labels = 0.0
            for a in range(K):
                labels += counts[m, a, k]
            if labels > 0.0:
                found = _gammas(labels + whole)
                value -= found[0] - value0
                slope += found[1] - first0
                bend += second0 - found[2]
        total_slopes[k], total_bends[k] = slope, bend
        for a in range(K):
            p = pseudo[a, k]
            value0, first0, second0 = _gammas(p)
            slope = bend = 0.0
            for m in range(M):
                if counts[m, a, k] > 0.0:
                    found = _gammas(counts[m, a, k] + p)
                    value += found[0] - value0
                    slope += found[1] - first0
                    bend += second0 - found[2]
            slopes[a, k], bends[a, k] = slope, bend
        likelihood[k] = value
