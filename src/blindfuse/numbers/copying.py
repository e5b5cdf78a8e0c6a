"""Annotators whose errors are correlated, as those of annotators who copy from each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blindfuse.errors import list_names
from blindfuse.kernels.ratings import add_pair_residuals
from blindfuse.numbers.annotator_fit import AnnotatorFit
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
        group = {m: {m} for m in self.pairs.ravel().tolist()}
        for first, second in self.pairs[self.correlation >= COPIED].tolist():
            merged = group[first] | group[second]
            group.update(dict.fromkeys(merged, merged))
        found = {tuple(sorted(members)) for members in group.values() if len(members) > 1}
        return tuple(sorted(found))

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


def find_copies(table: Numbers, fit: AnnotatorFit) -> CopiedRatings:
    """Return the pairs whose residuals coincide significantly more than the model allows."""
    M = table.n_annotators
    if M > MAX_ANNOTATORS:
        nothing = np.empty(0)
        return CopiedRatings(table.annotators, np.empty((0, 2), np.intp), nothing, nothing, 0)
    sums = np.zeros((M, M, 6))
    add_pair_residuals(
        *(table.starts, table.codes, table.values, fit.bias, fit.scale, fit.noise), sums
    )
    first, second = np.nonzero(sums[:, :, 0] >= MIN_COMMON)
    common, equal, excess, variance, own, other = sums[first, second].T
    correlation = excess / np.sqrt(np.maximum(own, 1e-300) * np.maximum(other, 1e-300))
    correlation = np.where((own > 0) & (other > 0), np.clip(correlation, -1, 1), 0.0)
    threshold = -ndtri(SIGNIFICANCE / max(len(first), 1))
    found = (correlation >= MIN_CORRELATION) & (excess > threshold * np.sqrt(variance))
    order = np.flatnonzero(found)[np.argsort(-correlation[found], kind="stable")]
    return CopiedRatings(
        table.annotators,
        np.column_stack([first, second])[order],
        correlation[order],
        (equal / common)[order],
        len(first),
    )


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
