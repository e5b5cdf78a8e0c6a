"""``FactorStatistics``: what EM of the one-factor model needs to know about ratings, additive."""

from dataclasses import dataclass, replace

import numpy as np

from blindfuse.kernels.ratings import normal_posteriors
from blindfuse.numbers.annotator_fit import N_SUMS, AnnotatorFit, fit_step
from blindfuse.numbers.table import Numbers
from blindfuse.responses.coding import positions, union
from blindfuse.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class FactorStatistics:
    """Expected sufficient statistics of the one-factor model, given parameters of annotators.

    The statistics of disjoint sets of items, such as the partitions of a table or the batches of a
    stream, can be added in any order; their sum is all that the M-step needs. Memory grows with the
    number of annotators only.

    Attributes
    ----------
    sums ``[annotator, 7]``
        n, Σu, Σux, Σux², Σuz, Σu(z² + v) and Σuxz over the ratings of each annotator.
    n_items, total, total_squares
        the number of items, Σz and Σ(z² + v) over items.
    """

    annotators: Array
    sums: Floats
    n_items: float
    total: float
    total_squares: float

    def __add__(self, other: "FactorStatistics") -> "FactorStatistics":
        names = union(self.annotators, other.annotators, "annotators")
        sums = np.zeros((len(names), N_SUMS))
        for part in (self, other):
            sums[positions(part.annotators, names)] += part.sums
        return FactorStatistics(
            names,
            sums,
            self.n_items + other.n_items,
            self.total + other.total,
            self.total_squares + other.total_squares,
        )

    def discounted(self, factor: float) -> "FactorStatistics":
        """Return the statistics of the same ratings, each counted ``factor`` times."""
        totals = (factor * one for one in (self.n_items, self.total, self.total_squares))
        return FactorStatistics(self.annotators, factor * self.sums, *totals)

    def normalized(self) -> "FactorStatistics":
        """Return the statistics for z with mean 0 and variance 1 over all items.

        This is the parameter expansion of Liu, Rubin and Wu (1998), "Parameter expansion to
        accelerate EM", by which EM needs far fewer iterations.
        """
        mean = self.total / max(self.n_items, 1.0)
        variance = self.total_squares / max(self.n_items, 1.0) - mean**2
        d = np.sqrt(variance) if variance > 0 else 1.0
        n, u, x, xx, z, zz, xz = self.sums.T
        z, zz, xz = (
            (z - mean * u) / d,
            (zz - 2 * mean * z + mean**2 * u) / d**2,
            (xz - mean * x) / d,
        )
        sums = np.column_stack([n, u, x, xx, z, zz, xz])
        return FactorStatistics(self.annotators, sums, self.n_items, 0.0, self.n_items)

    def rescaled(self, factor: float, shift: float) -> "FactorStatistics":
        """Return the statistics of ``factor · x + shift`` in place of the ratings x."""
        n, u, x, xx, z, zz, xz = self.sums.T
        xx = factor**2 * xx + 2 * factor * shift * x + shift**2 * u
        sums = np.column_stack([n, u, factor * x + shift * u, xx, z, zz, factor * xz + shift * z])
        return replace(self, sums=sums)


def expected_statistics(
    table: Numbers, fit: AnnotatorFit, z: Floats, v: Floats
) -> FactorStatistics:
    """Fill the posterior means ``z[item]`` and variances ``v[item]``; return the statistics.

    ``fit`` has one entry per annotator of the table. The result depends on the number of threads in
    the last digits only.
    """
    blocks = _update_blocks(table, fit, z, v, table.n_annotators)
    sums, total, total_squares = (
        sum(column[1:], start=column[0]) for column in zip(*blocks, strict=True)
    )
    sums[:, :4] = table.power_sums
    return FactorStatistics(table.annotators, sums, float(table.n_items), total, total_squares)


def update_posteriors(table: Numbers, fit: AnnotatorFit, z: Floats, v: Floats) -> None:
    """Fill ``z`` and ``v`` as :func:`expected_statistics` does, without the statistics."""
    _update_blocks(table, fit, z, v, 0)


def _update_blocks(
    table: Numbers, fit: AnnotatorFit, z: Floats, v: Floats, n_rows: int
) -> list[tuple[Floats, float, float]]:
    """Fill ``z`` and ``v``; return ``sums[:n_rows]``, Σz and Σ(z² + v) of each block of items."""
    weights = _normal_weights(fit)

    def work(first: int, last: int) -> tuple[Floats, float, float]:
        sums = np.zeros((n_rows, N_SUMS))
        totals = normal_posteriors(*table.by_item, first, last, weights, z, v, sums)
        return sums, *totals

    return table.map_items(work)


def _normal_weights(fit: AnnotatorFit) -> Floats:
    """The columns of ``weights`` of ``normal_posteriors``."""
    products = (
        fit.scale**2 + fit.uncertainty[:, 0],
        fit.scale,
        fit.scale * fit.bias + fit.uncertainty[:, 1],
    )
    return np.column_stack(products) / fit.noise[:, None]


def maximize(statistics: FactorStatistics, last: AnnotatorFit) -> AnnotatorFit:
    """Return the annotators' parameters given the statistics: the M-step."""
    return fit_step(statistics.normalized().sums, last)
