"""Ratings on a numeric scale: hashes of their content, centres of rows, and the E-step of EM."""

import numpy as np

from blindfuse.kernels.compilation import bits_of, kernel, nested


@nested
def _mix(word):
    """Return a 64-bit integer in which every bit depends on all bits of another (SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@nested
def hash_items(starts, annotators, values, annotator_hashes, first, last, item_hashes):
    """Fill ``item_hashes[item]`` of the items from ``first`` to ``last`` with hashes of ratings.

    Sums of integers that wrap around do not depend on the order of their terms.
    """
    for n in range(first, last):
        total = np.uint64(0)
        for at in range(starts[n], starts[n + 1]):
            bits = np.uint64(bits_of(values[at] + 0.0))  # −0 becomes 0
            total += _mix(bits + _mix(annotator_hashes[annotators[at]] + np.uint64(1)))
        item_hashes[n] = total


@nested
def hash_annotators(starts, annotators, values, item_hashes, annotator_hashes):
    """Add hashes of the ratings to ``annotator_hashes[annotator]``."""
    for n in range(item_hashes.size):
        for at in range(starts[n], starts[n + 1]):
            bits = np.uint64(bits_of(values[at] + 0.0))
            annotator_hashes[annotators[at]] += _mix(bits + _mix(item_hashes[n] + np.uint64(2)))


@kernel
def row_centres(starts, values, trimmed, centres):
    """Fill ``centres[item]`` with the mean of the middle ratings of each row with ratings.

    ``trimmed`` is the share of the ratings that is left out at each end; at one half, the centre is
    the median.
    """
    for n in range(centres.size):
        count = starts[n + 1] - starts[n]
        if count > 0:
            ordered = np.sort(values[starts[n] : starts[n + 1]])
            cut = min(int(trimmed * count), (count - 1) // 2)
            total = 0.0
            for at in range(cut, count - cut):
                total += ordered[at]
            centres[n] = total / (count - 2 * cut)


@kernel
def normal_posteriors(starts, annotators, values, first, last, weights, z, v, sums):
    """Fill the posterior mean ``z`` and variance ``v`` of the items, and add to ``sums``.

    Under x = b + a z + e the precision of z is 1 + Σ E[a²]/s². Columns of ``weights[annotator]``:
    E[a²]/s², a/s² and E[ab]/s². Adds Σz, Σ(z² + v) and Σxz to the last three columns of
    ``sums[annotator]``, unless it is empty. Returns Σz and Σ(z² + v) over items.
    Indices are unsigned, because signed ones could be negative, which takes a quarter of the time.
    """
    total, total_squares = 0.0, 0.0
    for n in range(first, last):
        begin, end = np.uint64(starts[n]), np.uint64(starts[n + 1])
        precision, weighted = 1.0, 0.0
        for at in range(begin, end):
            m = np.uint64(annotators[at])
            precision += weights[m, 0]
            weighted += weights[m, 1] * values[at] - weights[m, 2]
        variance = 1.0 / precision
        mean = weighted * variance
        square = mean * mean + variance
        for at in range(begin, end if sums.size > 0 else begin):
            m = np.uint64(annotators[at])
            sums[m, 4] += mean
            sums[m, 5] += square
            sums[m, 6] += values[at] * mean
        z[n], v[n] = mean, variance
        total += mean
        total_squares += square
    return total, total_squares


@kernel
def add_powers(annotators, values, sums):
    """Add n, n, Σx and Σx² to the columns of ``sums[annotator]``."""
    for at in range(values.size):
        x = values[at]
        row = sums[annotators[at]]
        row[0] += 1.0
        row[1] += 1.0
        row[2] += x
        row[3] += x * x


@kernel
def ranges(annotators, values, low, high):
    """Lower ``low[annotator]`` and raise ``high[annotator]`` to contain the values."""
    for at in range(values.size):
        m, x = annotators[at], values[at]
        low[m] = min(low[m], x)
        high[m] = max(high[m], x)


@kernel
def standardized_sums(starts, annotators, values, centres, slopes, first, last, sums):
    """Fill ``sums[item]`` with Σ (x − centre) · slope, by the annotators of the ratings."""
    for n in range(first, last):
        total = 0.0
        for at in range(starts[n], starts[n + 1]):
            m = annotators[at]
            total += (values[at] - centres[m]) * slopes[m]
        sums[n] = total


@kernel
def rating_sums(starts, annotators, values, z, v, first, last, sums):
    """Add Σz, Σ(z² + v) and Σxz to the last three columns of ``sums[annotator]``."""
    for n in range(first, last):
        square = z[n] * z[n] + v[n]
        for at in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m = np.uint64(annotators[at])
            sums[m, 4] += z[n]
            sums[m, 5] += square
            sums[m, 6] += values[at] * z[n]


@kernel
def factor_variances(starts, annotators, weights, z, first, last, variances):
    """Fill the variance of the error of z, with the uncertainty of the annotators' parameters.

    A rating has the noise s² + Var(b) + 2 z Cov(a, b) + z² Var(a), of which the weights a/s² know
    only s²: (1 + Σ (a/s²)² (noise of the rating)) / (1 + Σ a²/s²)². Columns of
    ``weights[annotator]``: a²/s², and (a/s²)² times s² + Var(b), 2 Cov(a, b) and Var(a).
    """
    for n in range(first, last):
        precision, constant, linear, quadratic = 1.0, 1.0, 0.0, 0.0
        for at in range(np.uint64(starts[n]), np.uint64(starts[n + 1])):
            m = np.uint64(annotators[at])
            precision += weights[m, 0]
            constant += weights[m, 1]
            linear += weights[m, 2]
            quadratic += weights[m, 3]
        spread = constant + z[n] * (linear + z[n] * quadratic)
        variances[n] = spread / (precision * precision)


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
