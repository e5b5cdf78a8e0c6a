"""The likelihood of counts under Dirichlet distributions, with its first two derivatives."""

import math

from blindfuse.kernels.compilation import inlined, kernel, logarithm

SHIFT = 7
"""Arguments are raised by this much with the recurrence; there Stirling's series is exact."""

BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510
FIRST = tuple(number / (2 * n) for n, number in enumerate(BERNOULLI, 1))
ZEROTH = tuple(number / (2 * n - 1) for n, number in enumerate(FIRST, 1))
"""Coefficients of Stirling's series: BERNOULLI of (ln Γ)″, FIRST of (ln Γ)′, ZEROTH of ln Γ."""

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


@inlined
def _log_gamma(x):
    """Return ln Γ(x) and its first and second derivatives for x > 0; the loop vectorises."""
    product, first, second = 1.0, 0.0, 0.0
    for _ in range(SHIFT):
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


@inlined
def _sum_over(counts, p):
    """Return Σ lnΓ(n + p) − lnΓ(p), Σ ψ(n + p) − ψ(p), Σ ψ′(p) − ψ′(n + p) over counts n > 0."""
    value0, first0, second0 = _log_gamma(p)
    value = slope = curvature = 0.0
    for at in range(counts.size):
        gamma = _log_gamma(counts[at] + p)
        weight = 1.0 if counts[at] > 0.0 else 0.0
        value += weight * (gamma[0] - value0)
        slope += weight * (gamma[1] - first0)
        curvature += weight * (second0 - gamma[2])
    return value, slope, curvature


@kernel
def dirichlet_likelihood(
    counts, totals, pseudo, likelihood, slopes, curvatures, total_slopes, total_curvatures
):
    """Log-likelihood of counts under Dirichlet distributions, per true class, with derivatives.

    The counts n are ``counts[reported, true, annotator]``, the pseudo-counts p are
    ``pseudo[reported, true]``, and N = ``totals[true, annotator]`` and P are their sums over
    reported symbols a: ln L = Σ_m [Σ_a lnΓ(n + p) − lnΓ(p)] − [lnΓ(N + P) − lnΓ(P)].

    With ψ = (ln Γ)′, fills ``likelihood[true]``, ``slopes[reported, true]`` = Σ_m ψ(n + p) − ψ(p),
    ``curvatures[reported, true]`` = Σ_m ψ′(p) − ψ′(n + p), and the same for N and P in
    ``total_slopes[true]`` and ``total_curvatures[true]``. Empty cells add nothing.
    """
    K, L, _ = counts.shape
    for k in range(L):
        whole = 0.0
        for a in range(K):
            whole += pseudo[a, k]
        value, total_slopes[k], total_curvatures[k] = _sum_over(totals[k], whole)
        likelihood[k] = -value
        for a in range(K):
            value, slopes[a, k], curvatures[a, k] = _sum_over(counts[a, k], pseudo[a, k])
            likelihood[k] += value
