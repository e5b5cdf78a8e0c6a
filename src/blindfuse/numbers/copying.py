"""Annotators whose errors are correlated, as those of annotators who copy from each other."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from blindfuse.errors import list_names
from blindfuse.kernels.ratings import add_pair_moments, add_pair_residuals
from blindfuse.numbers.agreement import centred_ranks
from blindfuse.numbers.factor_model import fit_factor
from blindfuse.numbers.table import Numbers
from blindfuse.responses.coding import CodedNames
from blindfuse.responses.table import Cells
from blindfuse.typing import Array, Codes, Floats

Groups = tuple[tuple[int, ...], ...]

FAMILY_WISE_LEVEL = 0.05
"""Probability of a dependent pair among independent annotators, over all pairs (Bonferroni)."""
MIN_CORRELATION = 0.3
"""Correlation of errors at or above which a pair is reported: a medium effect (Cohen 1988)."""
MIN_COMMON = 10
"""Minimum number of common items of a tested pair."""
MIN_COPY_CORRELATION = 0.993
"""Correlation of ratings, and of their ranks, from which two annotators count as one. Independent
annotators reach it with 8 % of the truth's standard deviation as noise, and lose little then."""


@dataclass(frozen=True, eq=False)
class CopiedRatings:
    """Pairs of annotators with correlated errors, the strongest correlation first.

    Which of the two copies cannot be seen from the ratings.

    Attributes
    ----------
    pairs ``[pair, 2]``
        positions of the annotators.
    correlation, identical ``[pair]``
        correlation of their errors, 1 for copies, and share of common items that they rated
        equally.
    n_tested
        number of pairs with enough common items; zero if there were too many annotators to test.
    groups
        annotators who copy, directly or through others, and count as one.
    """

    names: Array
    pairs: Codes
    correlation: Floats
    identical: Floats
    n_tested: int
    groups: Groups = ()

    def at(self, order: Codes) -> "CopiedRatings":
        """Return the same pairs of annotators that move to the positions ``order[annotator]``."""
        groups = sorted(tuple(sorted(order[list(group)].tolist())) for group in self.groups)
        pairs, names = np.sort(order[self.pairs], axis=1), self.names[np.argsort(order)]
        return replace(self, names=names, pairs=pairs, groups=tuple(groups))

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
            f"annotators, most in {named}. Check whether they share a source; those with a "
            "correlation of 1.00 count as one annotator."
        )


def find_copies(table: Numbers) -> CopiedRatings:
    """Return the pairs whose residuals coincide significantly more than the model allows.

    Copies confirm each other in a model that contains both: it takes what they share for the truth.
    Annotators with nearly the same ranking of common items are therefore found first and merged;
    their correlation is given as 1. All other pairs are tested by one model.
    """
    none = np.empty((0, 2), np.intp), np.empty(0), np.empty(0)
    if table.n_annotators > 1000:  # pairs of more would need over 50 MB
        return CopiedRatings(table.annotators, *none, n_tested=0)
    common, identical, likeness = _compare_pairs(table)
    first, second = np.nonzero(common >= MIN_COMMON)
    copied = likeness[first, second] >= MIN_COPY_CORRELATION
    groups = connected_groups(np.column_stack([first, second])[copied])
    copies = CopiedRatings(table.annotators, *none, n_tested=len(first), groups=groups)
    correlation, z_scores = _correlated_errors(merge_groups(table, copies), first, second)
    correlation = np.where(copied, 1.0, correlation)
    threshold = -ndtri(FAMILY_WISE_LEVEL / max(len(first), 1))
    dependent = copied | ((correlation >= MIN_CORRELATION) & (z_scores > threshold))
    order = np.lexsort((second, first, -correlation))
    order = order[dependent[order]]
    pairs, shares = np.column_stack([first, second])[order], identical[first, second][order]
    return replace(copies, pairs=pairs, correlation=correlation[order], identical=shares)


def _compare_pairs(table: Numbers) -> tuple[Floats, Floats, Floats]:
    """Common items, share of equal ratings and correlation ``[first, second]``, first < second.

    The correlation is the smaller of those of the ratings and of their ranks. Ranks alone are the
    same where most ratings are zero, ratings alone where a few are very large.
    """
    sums = np.zeros((2, table.n_annotators, table.n_annotators, 7))
    for values, pairs in zip((table.values, centred_ranks(table)), sums, strict=True):
        add_pair_moments(table.starts, table.codes, values, pairs)
    n, equal, x, y, xx, yy, xy = np.moveaxis(sums, 3, 0)
    safe = np.maximum(n, 1)
    correlations = _correlation(xy - x * y / safe, xx - x**2 / safe, yy - y**2 / safe)
    return n[0], equal[0] / safe[0], correlations.min(axis=0)


def _correlated_errors(table: Numbers, first: Codes, second: Codes) -> tuple[Floats, Floats]:
    """Correlation of the errors of pairs, and its excess over independence in standard errors."""
    fit, M = fit_factor(table).annotators, table.n_annotators
    sums = np.zeros((M, M, 5))
    add_pair_residuals(*table.by_item, fit.bias, fit.scale, fit.noise, sums)
    common, excess, variance, of_first, of_second = sums[first, second].T
    z_scores = excess / np.sqrt(np.where(variance > 0, variance, 1.0))
    correlation = _correlation(excess, of_first, of_second)
    return np.where(common >= MIN_COMMON, correlation, 0.0), z_scores


def _correlation(product: Floats, first: Floats, second: Floats) -> Floats:
    """product / √(first · second), between −1 and 1; 0 where one of them is not positive."""
    defined = (first > 0) & (second > 0)
    scale = np.sqrt(np.where(defined, first, 1.0)) * np.sqrt(np.where(defined, second, 1.0))
    return np.where(defined, np.clip(product / scale, -1, 1), 0.0)


def connected_groups(pairs: Codes) -> Groups:
    """Return the groups of annotators that these pairs connect."""
    group = {m: {m} for m in pairs.ravel().tolist()}
    for first, second in pairs.tolist():
        merged = group[first] | group[second]
        group.update(dict.fromkeys(merged, merged))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))


def merge_groups(table: Numbers, copies: CopiedRatings | None) -> Numbers:
    """Return the ratings with each group of copies replaced by its first member.

    It gives their mean; the other members have no ratings.
    """
    if copies is None or not copies.groups:
        return table
    leader = np.arange(table.n_annotators)
    for members in copies.groups:
        leader[list(members)] = members[0]
    items = CodedNames(table.item_of_response(), table.items)
    annotators = CodedNames(leader[table.codes], table.annotators)
    return Numbers.collect(Cells(items, annotators, table.values), table.values, "mean")
