"""Ratings on a numeric scale: EM of the one-factor model, and pairs of annotators."""

import numpy as np

from blindfuse.kernels.compilation import kernel


@kernel
def normal_posteriors(starts, annotators, values, weights, z, v):
    """Fill the posterior means ``z[item]`` and variances ``v[item]``.

    Under x = b + a z + e the precision of z is 1 + Σ E[a²]/s². Columns of ``weights[annotator]``:
    E[a²]/s², a/s² and E[ab]/s².
    Indices are unsigned, because signed ones could be negative, which takes a quarter of the time.
    """
    for n in range(z.size):
        precision, weighted = 1.0, 0.0
        for at in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m = np.uint64(annotators[at])
            precision += weights[m, 0]
            weighted += weights[m, 1] * values[at] - weights[m, 2]
        v[n] = 1.0 / precision
        z[n] = weighted * v[n]


@kernel
def add_products(starts, annotators, values, z, v, sums):
    """Add Σz, Σ(z² + v) and Σxz to the columns of ``sums[annotator]``."""
    for n in range(z.size):
        square = z[n] * z[n] + v[n]
        for at in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m = np.uint64(annotators[at])
            sums[m, 0] += z[n]
            sums[m, 1] += square
            sums[m, 2] += values[at] * z[n]


@kernel
def add_pair_residuals(starts, annotators, values, bias, scale, noise, pairs):
    """Add to ``pairs[first, second]`` how far the residuals of two annotators coincide.

    Residuals r are those from the posterior of z given all other ratings of the item, which has the
    variance v. Columns of ``pairs``: common items, Σ(r r' − a a' v), its variance
    if noise is independent, Σ(r² − a² v) and Σ(r'² − a'² v). Only ``first < second`` is filled.
    """
    for n in range(starts.size - 1):
        precision, weighted = 1.0, 0.0
        for at in range(starts[n], starts[n + 1]):
            m = annotators[at]
            precision += scale[m] * scale[m] / noise[m]
            weighted += scale[m] / noise[m] * (values[at] - bias[m])
        for at in range(starts[n], starts[n + 1]):
            m = annotators[at]
            a, s, x = scale[m], noise[m], values[at] - bias[m]
            for other in range(at + 1, starts[n + 1]):
                l = annotators[other]
                a2, s2, x2 = scale[l], noise[l], values[other] - bias[l]
                v = 1.0 / (precision - a * a / s - a2 * a2 / s2)
                z = v * (weighted - a / s * x - a2 / s2 * x2)
                r, r2 = x - a * z, x2 - a2 * z
                row = pairs[m, l]
                row[0] += 1.0
                row[1] += r * r2 - a * a2 * v
                row[2] += (s + a * a * v) * (s2 + a2 * a2 * v) + (a * a2 * v) ** 2
                row[3] += r * r - a * a * v
                row[4] += r2 * r2 - a2 * a2 * v


@kernel
def add_pair_moments(starts, annotators, values, pairs):
    """Add to ``pairs[first, second]``, ``first < second``, the moments of common items.

    Columns: common items, equal ratings, Σx, Σy, Σx², Σy² and Σxy.
    """
    for n in range(starts.size - 1):
        for at in range(starts[n], starts[n + 1]):
            x = values[at]
            for other in range(at + 1, starts[n + 1]):
                y = values[other]
                row = pairs[annotators[at], annotators[other]]
                row[0] += 1.0
                row[1] += x == y
                row[2] += x
                row[3] += y
                row[4] += x * x
                row[5] += y * y
                row[6] += x * y
