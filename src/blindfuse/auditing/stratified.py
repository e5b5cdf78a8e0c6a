"""Intervals for a share of a finite population, from simple random samples within strata.

A stratum h has N_h items, of which n_h were drawn without replacement and x_h have the property in
question. The share is p = Σ_h W_h p_h with W_h = N_h/N, estimated by p̂ = Σ_h W_h x_h/n_h (Horvitz
and Thompson, 1952). Its interval is the set of all p that a test of fit does not reject:

    9/5 Σ_h [x_h ((x_h/n_h p̃_h)^⅔ − 1) + (n_h − x_h) (((n_h − x_h)/n_h (1 − p̃_h))^⅔ − 1)] ≤ z²,

where p̃ is the most likely vector of shares with Σ_h W_h p̃_h = p. This is the power divergence that
Cressie and Read (1984, "Multinomial Goodness-of-Fit Tests") recommend; with the power 1 in place of
⅔ it would be the score test, which gives Wilson's interval for one stratum, and with 0 the
likelihood ratio test. Three corrections are made:

- Counts of a stratum are divided by (N_h − n_h)/(N_h − 1), for sampling without replacement.
- For properties that hold in part (values in [0, 1]), counts are divided by the dispersion, their
  variance relative to that of a property that holds or not.
- z² is multiplied by n/(n − H + 1), where H is the number of strata in which some but not all
  sampled items have the property: H estimated shares fit better than the true ones.

The interval stays within [0, 1], has a positive width where no sampled item has the property, and
needs no variance within a stratum, so strata of one sampled item are allowed.

Arrays have a last axis ``[stratum]``; axes before it are independent samples.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from blindfuse.metrics.interval import Interval
from blindfuse.typing import Codes, Floats

CONFIDENCE = 0.95
"""The confidence level of all intervals of an audit."""
POWER = 2 / 3
"""Power of the divergence, as Cressie and Read recommend."""
POWER_OF_GROUPS = 1 / 3
"""Power for strata that are divided by a group. Many of their cells have few checks and none with
the property, which makes ⅔ too cautious: 97 % coverage with 30 checks on public crowds, where ⅓ has
96 %. It was chosen by that."""


class Counts(NamedTuple):
    """x_h, n_h and N_h of one sample, ``[stratum]`` each, and the dispersion of its values."""

    found: Floats
    checked: Floats
    sizes: Floats
    dispersion: float = 1.0


def intervals_of_shares(samples: Sequence[Counts], power: float = POWER) -> list[Interval]:
    """Return the estimates of several shares with their intervals; all have as many strata."""
    if not samples:
        return []
    found, checked, sizes, dispersion = (np.stack(each) for each in zip(*samples, strict=True))
    limits = stratified_interval(found, checked, sizes, dispersion, power)
    return [Interval(*row) for row in np.stack(limits, axis=1).tolist()]


def stratified_interval(
    found: Floats,
    checked: Floats,
    sizes: Floats,
    dispersion: Floats | float = 1.0,
    power: float = POWER,
    confidence: float = CONFIDENCE,
) -> tuple[Floats, Floats, Floats]:
    """Return the estimated shares and the lower and upper limits of their intervals.

    ``found``, ``checked`` and ``sizes[..., stratum]`` are x_h, n_h and N_h. Fractions of x_h are
    allowed, with the ``dispersion[...]`` of :func:`dispersion_of`. Strata without checked items
    must be empty, see :func:`merge_unchecked`.
    """
    weights = sizes / sizes.sum(axis=-1, keepdims=True)
    used = checked > 0
    n = np.where(used, checked, 1.0)
    least_correction = 1e-9  # avoids a division by zero in strata that were checked completely
    correction = np.where(used, (sizes - checked) / np.maximum(sizes - 1, least_correction), 1.0)
    correction = np.clip(correction, least_correction, 1.0)
    # A sample without replacement is worth more items than it has: all, if nothing is left.
    correction = correction * np.asarray(dispersion)[..., None]
    n_effective = n / correction
    x_effective = np.where(used, found, 0.0) / correction
    estimate = np.sum(weights * x_effective / n_effective, axis=-1)
    z = float(ndtri(0.5 + confidence / 2))
    sampled = used & (checked < sizes)
    total = np.sum(checked, axis=-1, where=sampled)
    estimated = np.sum(sampled & (found > 0) & (found < checked), axis=-1)
    z_squared = z**2 * total / np.maximum(total - np.maximum(estimated - 1, 0), 1.0)

    def shares_at(multiplier: Floats) -> Floats:
        return _most_likely_shares(x_effective, n_effective, multiplier[..., None] * weights)

    def limit(sign: int) -> Floats:
        """Where the statistic equals z²; it increases with the Lagrange multiplier."""
        low, high = np.zeros(estimate.shape), np.ones(estimate.shape)
        for _ in range(45):
            middle = (low + high) / 2
            shares = shares_at(sign * total * middle / (1 - middle))
            divergence = np.sum(
                _power_divergence(x_effective, n_effective * shares, power)
                + _power_divergence(n_effective - x_effective, n_effective * (1 - shares), power),
                axis=-1,
                where=weights > 0,
            )
            is_rejected = divergence > z_squared
            high, low = np.where(is_rejected, middle, high), np.where(is_rejected, low, middle)
        return np.asarray(np.sum(weights * shares_at(sign * total * low / (1 - low)), axis=-1))

    # What was not checked bounds the share, whatever the test says.
    least = np.sum(np.where(used, found, 0.0), axis=-1) / sizes.sum(axis=-1)
    most = 1 - np.sum(np.where(used, checked - found, 0.0), axis=-1) / sizes.sum(axis=-1)
    estimate = np.clip(estimate, least, most)
    return (
        estimate,
        np.minimum(np.clip(limit(1), least, most), estimate),
        np.maximum(np.clip(limit(-1), least, most), estimate),
    )


def dispersion_of(values: Floats) -> float:
    """The variance of ``values[check]`` in [0, 1], relative to that of zeros and ones.

    (Σ v² − n v̄² + ¼)/(Σ v − n v̄² + ¼): one for zeros and ones. The ¼, the largest variance of one
    check, keeps it away from zero where few checks vary little by chance.
    """
    square_of_mean = len(values) * float(np.mean(values)) ** 2 if len(values) else 0.0
    variation = float(values @ values) - square_of_mean + 0.25
    return variation / (float(values.sum()) - square_of_mean + 0.25)


def _power_divergence(observed: Floats, expected: Floats, power: float) -> Floats:
    """Terms of the power divergence of Cressie and Read; zero for a count of zero."""
    ratio = np.maximum(observed, 0.0) / np.maximum(expected, 1e-250)
    factor = 2 / (power * (power + 1))
    return np.asarray(factor * np.maximum(observed, 0.0) * (ratio**power - 1))


def _most_likely_shares(x: Floats, n: Floats, slope: Floats) -> Floats:
    """The maximum of x log p + (n − x) log(1 − p) − slope · p over p in [0, 1].

    It is a root of slope · p² − (n + slope) p + x = 0, computed without cancellation.
    """
    middle = n + slope
    root = np.sqrt(np.maximum(middle**2 - 4 * slope * x, 0.0))
    total = np.where(middle >= 0, middle + root, 1.0)
    positive = 2 * x / np.where(total > 0, total, 1.0)
    negative = (middle - root) / np.where(middle < 0, 2 * slope, -1.0)
    return np.clip(np.where(middle >= 0, positive, negative), 0.0, 1.0)


def merge_unchecked(checked: Floats, sizes: Floats) -> Floats:
    """Return the sizes ``[stratum]``, with unchecked strata added to the nearest checked ones.

    They are unchanged if none is checked.
    """
    if not checked.any():
        return sizes
    return np.bincount(nearest_checked(checked), sizes, len(sizes)).astype(np.float64)


def nearest_checked(checked: Floats | Codes) -> Codes:
    """The nearest stratum that has checked items, ``[stratum]``."""
    filled = np.flatnonzero(checked)
    distances = np.abs(filled - np.arange(len(checked))[:, None])
    return np.asarray(filled[distances.argmin(axis=1)])
