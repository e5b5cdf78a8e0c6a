"""Annotators whose errors are correlated, as those of annotators who copy from each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blindfuse.errors import list_names
from blindfuse.kernels.ratings import add_pair_moments, add_pair_residuals
from blindfuse.numbers.factor_em import fit_factor
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]

SIGNIFICANCE = 0.05
"""Probability of a dependent pair among independent annotators, over all pairs (Bonferroni)."""
MIN_CORRELATION = 0.3
"""Correlation of errors from which on a pair is reported: a medium effect (Cohen 1988)."""
MIN_COMMON = 10
"""Common items from which on a pair is tested."""
COPIED = 0.9
"""Correlation of errors from which on two annotators count as one."""
IDENTICAL = 0.999
"""Correlation of ratings from which on two annotators are nearly identical."""
MAX_ANNOTATORS = 1000
"""Annotators up to which pairs are tested; more would need over 50 MB."""


@dataclass(frozen=True, eq=False)
class CopiedRatings:
    """Pairs of annotators with correlated errors, the strongest correlation first.

    Which of the two copies cannot be seen from the ratings.

    Attributes
    ----------
    pairs ``[pair, 2]``
        positions of the annotators.
    correlation, identical ``[pair]``
        correlation of their errors, and share of common items that they rated equally.
    n_tested
        number of pairs with enough common items; zero if there were too many annotators to test.
    """

    names: NDArray[Any]
    pairs: NDArray[np.intp]
    correlation: Floats
    identical: Floats
    n_tested: int

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Annotators that copy, directly or through others: pairs with correlation ≥ COPIED."""
        return connected_groups(self.pairs[self.correlation >= COPIED])

    def summary(self) -> str:
        """The dependent pairs, and what to do."""
        if not self.n_tested:
            return "No two annotators share enough items to test for correlated errors."
        if not len(self.pairs):
            return f"No correlated errors among {self.n_tested:,} tested pairs of annotators."
        named = "; ".join(
            f"{list_names(self.names[pair])} ({correlation:.2f})"
            for pair, correlation in zip(self.pairs[:3], self.correlation[:3], strict=True)
        )
        return (
            f"Errors are correlated in {len(self.pairs):,} of {self.n_tested:,} pairs of "
            f"annotators, most in {named}. Intervals that assume independent errors are too narrow "
            "there; check whether these annotators share a source."
        )


def find_copies(table: Numbers) -> CopiedRatings:
    """Return the pairs whose residuals coincide significantly more than the model allows.

    Annotators with nearly identical ratings are found first and count as one in the model, because
    three copies confirm each other.
    """
    M = table.n_annotators
    if M > MAX_ANNOTATORS:
        nothing = np.empty(0)
        return CopiedRatings(table.annotators, np.empty((0, 2), np.intp), nothing, nothing, 0)
    sums = np.zeros((M, M, 7))
    add_pair_moments(table.starts, table.codes, table.values, sums)
    first, second = np.nonzero(sums[:, :, 0] >= MIN_COMMON)
    n, equal, x, y, xx, yy, xy = sums[first, second].T
    identical = _correlation(xy - x * y / n, xx - x**2 / n, yy - y**2 / n) >= IDENTICAL
    duplicates = np.column_stack([first, second])[identical]
    merged = merge_groups(table, connected_groups(duplicates)) if len(duplicates) else table
    correlation, excess = _correlated_errors(merged, first, second)
    threshold = -ndtri(SIGNIFICANCE / max(len(first), 1))
    correlation = np.where(identical, 1.0, correlation)
    found = identical | ((correlation >= MIN_CORRELATION) & (excess > threshold))
    order = np.flatnonzero(found)[np.argsort(-correlation[found], kind="stable")]
    return CopiedRatings(
        table.annotators,
        np.column_stack([first, second])[order],
        correlation[order],
        (equal / n)[order],
        len(first),
    )


def _correlated_errors(
    table: Numbers, first: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Correlation of the errors of pairs, and its excess over independence in standard errors."""
    fit, M = fit_factor(table).annotators, table.n_annotators
    sums = np.zeros((M, M, 5))
    add_pair_residuals(
        *(table.starts, table.codes, table.values, fit.bias, fit.scale, fit.noise), sums
    )
    common, excess, variance, own, other = sums[first, second].T
    z_scores = excess / np.sqrt(np.where(variance > 0, variance, 1.0))
    return np.where(common >= MIN_COMMON, _correlation(excess, own, other), 0.0), z_scores


def _correlation(product: Floats, own: Floats, other: Floats) -> Floats:
    """product / √(own · other), between −1 and 1; 0 where one of them is not positive."""
    defined = (own > 0) & (other > 0)
    scale = np.sqrt(np.where(defined, own, 1.0)) * np.sqrt(np.where(defined, other, 1.0))
    return np.where(defined, np.clip(product / scale, -1, 1), 0.0)


def connected_groups(pairs: NDArray[np.intp]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of annotators that these pairs connect."""
    group = {m: {m} for m in pairs.ravel().tolist()}
    for first, second in pairs.tolist():
        merged = group[first] | group[second]
        group.update(dict.fromkeys(merged, merged))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))


def merge_groups(table: Numbers, groups: tuple[tuple[int, ...], ...]) -> Numbers:
    """Return the ratings with each group replaced by one annotator, who gives their mean.

    The merged annotator has the position and name of the first member of its group; the others
    have no ratings.
    """
    leader = np.arange(table.n_annotators)
    for members in groups:
        leader[list(members)] = members[0]
    key = table.item_of_rating() * table.n_annotators + leader[table.codes]
    distinct, where = np.unique(key, return_inverse=True)
    means = np.bincount(where, table.values) / np.bincount(where)
    items, codes = np.divmod(distinct, table.n_annotators)
    counts = np.bincount(items, minlength=table.n_items)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return table.with_rows(starts.astype(table.starts.dtype), codes.astype(np.int32), means)
