"""EM of the one-factor model x_im = b_m + a_m z_i + e_im with normal noise.

The E-step sums up statistics, ``FactorStatistics``, which are all that the M-step needs to know
about the ratings. Those of partitions and of batches add up.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from blindfuse.kernels.ratings import factor_variances, normal_posteriors, standardized_sums
from blindfuse.numbers.annotator_fit import AnnotatorFit, fit_step, regress
from blindfuse.numbers.scales import Standardizer
from blindfuse.numbers.table import Numbers
from blindfuse.responses.coding import positions, union
from blindfuse.typing import Array, Floats

TOLERANCE = 0.01
"""EM stops where an iteration changes the estimates by less than this share of their standard
error: further iterations change less than what sampling noise leaves open."""


@dataclass(frozen=True, eq=False)
class FactorStatistics:
    """Expected sufficient statistics of the one-factor model, given parameters of annotators.

    The statistics of disjoint sets of items, such as the partitions of a table or the batches of a
    stream, can be added in any order. Memory grows with the number of annotators only.

    Attributes
    ----------
    sums ``[annotator, 7]``
        n, Σu, Σux, Σux², Σuz, Σu(z² + v) and Σuxz over the ratings of each annotator.
    totals
        the number of items, Σz and Σ(z² + v) over items.
    """

    annotators: Array
    sums: Floats
    totals: Floats

    def __add__(self, other: "FactorStatistics") -> "FactorStatistics":
        names = union(self.annotators, other.annotators, "annotators")
        sums = np.zeros((len(names), 7))
        for part in (self, other):
            sums[positions(part.annotators, names)] += part.sums
        return FactorStatistics(names, sums, self.totals + other.totals)

    def discounted(self, factor: float) -> "FactorStatistics":
        """Return the statistics of the same ratings, each counted ``factor`` times."""
        return FactorStatistics(self.annotators, factor * self.sums, factor * self.totals)

    def normalized(self) -> "FactorStatistics":
        """Return the statistics for z with mean 0 and variance 1 over all items.

        This is the parameter expansion of Liu, Rubin and Wu (1998), "Parameter expansion to
        accelerate EM", by which EM needs far fewer iterations.
        """
        n_items, total, total_squares = self.totals
        mean = total / max(n_items, 1.0)
        variance = total_squares / max(n_items, 1.0) - mean**2
        d = np.sqrt(variance) if variance > 0 else 1.0
        n, u, x, xx, z, zz, xz = self.sums.T
        zz = (zz - 2 * mean * z + mean**2 * u) / d**2
        sums = np.column_stack([n, u, x, xx, (z - mean * u) / d, zz, (xz - mean * x) / d])
        return FactorStatistics(self.annotators, sums, np.array([n_items, 0.0, n_items]))

    def rescaled(self, factor: float, shift: float) -> "FactorStatistics":
        """Return the statistics of ``factor · x + shift`` in place of the ratings x."""
        n, u, x, xx, z, zz, xz = self.sums.T
        xx = factor**2 * xx + 2 * factor * shift * x + shift**2 * u
        sums = np.column_stack([n, u, factor * x + shift * u, xx, z, zz, factor * xz + shift * z])
        return replace(self, sums=sums)


class FactorFit(NamedTuple):
    """The fitted annotators, and posterior means and variances of z ``[item]``."""

    annotators: AnnotatorFit
    z: Floats
    v: Floats


def fit_factor(table: Numbers, tolerance: float = TOLERANCE) -> FactorFit:
    """Fit the model by EM from the mean of standardised ratings.

    z has mean 0 and variance 1 over the items, and its sign is such that annotators with positive
    scales have most of the information.
    """
    z, v, change = standardized_start(table), np.zeros(table.n_items), np.inf
    fit = regress(table, z, v, iterations=3)
    for _ in range(500):
        if change < tolerance**2 * v.mean():
            break
        last = z
        z, v, statistics = e_step(table, fit)
        fit = maximize(statistics, fit)
        change = float(np.square(z - last).mean())
    if information(fit, table.ratings_per_annotator)[fit.scale < 0].sum() > 0.5:
        fit = fit.reversed()
    return FactorFit(fit, *posteriors(table, fit))


def standardized_start(table: Numbers) -> Floats:
    """Return the mean of standardised ratings ``[item]``, with mean 0 and variance 1."""
    standardizer, sums = Standardizer.of(table), np.empty(table.n_items)
    parameters = standardizer.means, 1 / standardizer.deviations
    table.map_items(lambda *block: standardized_sums(*table.by_item, *parameters, *block, sums))
    n = table.ratings_per_item
    values = np.where(n > 0, sums / np.maximum(n, 1), sums.sum() / max(table.n_ratings, 1))
    deviation = values.std()
    return np.asarray((values - values.mean()) / (deviation if deviation > 0 else 1.0))


def e_step(table: Numbers, fit: AnnotatorFit) -> tuple[Floats, Floats, FactorStatistics]:
    """Return posterior means and variances of z ``[item]``, and the statistics.

    ``fit`` has one entry per annotator of the table. The result depends on the number of threads in
    the last digits only.
    """
    z, v, blocks = _update(table, fit, table.n_annotators)
    sums, totals = (sum(each[1:], start=each[0]) for each in zip(*blocks, strict=True))
    sums[:, :4] = table.power_sums
    totals = np.array([table.n_items, *totals], dtype=np.float64)
    return z, v, FactorStatistics(table.annotators, sums, totals)


def posteriors(table: Numbers, fit: AnnotatorFit) -> tuple[Floats, Floats]:
    """Return posterior means and variances of z ``[item]`` given the annotators."""
    z, v, _ = _update(table, fit, 0)
    return z, v


def _update(
    table: Numbers, fit: AnnotatorFit, n_rows: int
) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
    """Return z and v, and ``sums[:n_rows]`` and Σz, Σ(z² + v) of each block of items."""
    z, v = np.empty(table.n_items), np.empty(table.n_items)
    a, b, uncertainty = fit.scale, fit.bias, fit.uncertainty
    products = a**2 + uncertainty[:, 0], a, a * b + uncertainty[:, 1]
    weights = np.column_stack(products) / fit.noise[:, None]

    def work(first: int, last: int) -> tuple[Floats, Floats]:
        sums = np.zeros((n_rows, 7))
        totals = normal_posteriors(*table.by_item, first, last, weights, z, v, sums)
        return sums, np.array(totals)

    return z, v, table.map_items(work)


def maximize(statistics: FactorStatistics, last: AnnotatorFit) -> AnnotatorFit:
    """Return the annotators' parameters given the statistics: the M-step."""
    return fit_step(statistics.normalized().sums, last)


def information(fit: AnnotatorFit, n_ratings: Array) -> Floats:
    """Return the share ``[annotator]`` of the information about z: n_m a_m²/(a_m² + s_m²)."""
    reliability = n_ratings * fit.scale**2 / (fit.scale**2 + fit.noise)
    total = reliability.sum()
    return np.asarray(reliability / total if total > 0 else np.zeros(len(reliability)))


def crowd_scale(fit: AnnotatorFit, n_ratings: Array) -> tuple[float, float]:
    """Return B and A of the estimates B + A z, on the scale that the annotators share.

    They are the means of b and a of annotators with positive scales, weighted by their information.
    """
    weights = information(fit, n_ratings) * (fit.scale > 0)
    if not weights.sum() > 0:
        return fit.prior.bias, max(fit.prior.scale, 0.0)
    location, scale = (np.average(each, weights=weights) for each in (fit.bias, fit.scale))
    return float(location), float(scale)


def error_variances_of(table: Numbers, fitted: FactorFit) -> Floats:
    """Return the variance ``[item]`` of the error of z."""
    fit, variances = fitted.annotators, np.empty(table.n_items)
    var_a, covariance, var_b = fit.uncertainty.T
    noise = np.column_stack([fit.noise + var_b, 2 * covariance, var_a])
    square = (fit.scale / fit.noise)[:, None] ** 2
    weights = np.column_stack([fit.scale**2 / fit.noise, square * noise])
    rows = table.starts, table.codes
    table.map_items(lambda *block: factor_variances(*rows, weights, fitted.z, *block, variances))
    return variances
