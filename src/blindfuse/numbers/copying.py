"""Annotators whose errors are correlated, as those of annotators who copy from each other."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from blindfuse.errors import list_names
from blindfuse.kernels.ratings import add_pair_moments, add_pair_residuals
from blindfuse.numbers.factor_model import fit_factor
from blindfuse.numbers.leave_one_out import centred_ranks
from blindfuse.numbers.table import Numbers
from blindfuse.responses.rows import Rows
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
        names = self.names[np.argsort(order)]
        groups = sorted(tuple(sorted(order[list(group)].tolist())) for group in self.groups)
        return replace(
            self, names=names, pairs=np.sort(order[self.pairs], axis=1), groups=tuple(groups)
        )

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
    if table.n_annotators > 1000:  # pairs of more would need over 50 MB
        nothing = np.empty(0)
        return CopiedRatings(table.annotators, np.empty((0, 2), np.intp), nothing, nothing, 0)
    moments = _pair_moments(table)
    first, second = np.nonzero(moments.common >= MIN_COMMON)
    copied = moments.correlation[first, second] >= MIN_COPY_CORRELATION
    groups = connected_groups(np.column_stack([first, second])[copied])
    correlation, excess = _correlated_errors(merge_groups(table, groups), first, second)
    correlation = np.where(copied, 1.0, correlation)
    threshold = -ndtri(FAMILY_WISE_LEVEL / max(len(first), 1))
    found = np.flatnonzero(copied | ((correlation >= MIN_CORRELATION) & (excess > threshold)))
    found = found[np.lexsort((second[found], first[found], -correlation[found]))]
    pairs = np.column_stack([first, second])[found]
    identical = moments.identical[pairs[:, 0], pairs[:, 1]]
    return CopiedRatings(table.annotators, pairs, correlation[found], identical, len(first), groups)


class _PairMoments(NamedTuple):
    """Common items, correlation and share of equal ratings, for ``first < second`` only."""

    common: Floats
    correlation: Floats
    identical: Floats


def _pair_moments(table: Numbers) -> _PairMoments:
    """The correlation is the smaller of those of the ratings and of their ranks.

    Ranks alone are the same where most ratings are zero, ratings alone where a few are very large.
    """
    sums = np.zeros((2, table.n_annotators, table.n_annotators, 7))
    for values, pairs in zip((table.values, centred_ranks(table)), sums, strict=True):
        add_pair_moments(table.starts, table.codes, values, pairs)
    n, equal, x, y, xx, yy, xy = np.moveaxis(sums, 3, 0)
    safe = np.maximum(n, 1)
    correlation = _correlation(xy - x * y / safe, xx - x**2 / safe, yy - y**2 / safe)
    return _PairMoments(n[0], correlation.min(axis=0), equal[0] / safe[0])


def _correlated_errors(table: Numbers, first: Codes, second: Codes) -> tuple[Floats, Floats]:
    """Correlation of the errors of pairs, and its excess over independence in standard errors."""
    fit, M = fit_factor(table).annotators, table.n_annotators
    sums = np.zeros((M, M, 5))
    add_pair_residuals(*table.by_item, fit.bias, fit.scale, fit.noise, sums)
    common, excess, variance, own, other = sums[first, second].T
    z_scores = excess / np.sqrt(np.where(variance > 0, variance, 1.0))
    return np.where(common >= MIN_COMMON, _correlation(excess, own, other), 0.0), z_scores


def _correlation(product: Floats, own: Floats, other: Floats) -> Floats:
    """product / √(own · other), between −1 and 1; 0 where one of them is not positive."""
    defined = (own > 0) & (other > 0)
    scale = np.sqrt(np.where(defined, own, 1.0)) * np.sqrt(np.where(defined, other, 1.0))
    return np.where(defined, np.clip(product / scale, -1, 1), 0.0)


def connected_groups(pairs: Codes) -> Groups:
    """Return the groups of annotators that these pairs connect."""
    group = {m: {m} for m in pairs.ravel().tolist()}
    for first, second in pairs.tolist():
        merged = group[first] | group[second]
        group.update(dict.fromkeys(merged, merged))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))


def merge_groups(table: Numbers, groups: Groups) -> Numbers:
    """Return the ratings with each group replaced by one annotator, who gives their mean.

    The merged annotator has the position and name of the first member of its group; the others
    have no ratings.
    """
    if not groups:
        return table
    leader = np.arange(table.n_annotators)
    for members in groups:
        leader[list(members)] = members[0]
    key = table.item_of_rating() * table.n_annotators + leader[table.codes]
    distinct, where = np.unique(key, return_inverse=True)
    means = np.bincount(where, table.values) / np.bincount(where)
    items, codes = np.divmod(distinct, table.n_annotators)
    counts = np.bincount(items, minlength=table.n_items)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return table.with_rows(table.items, Rows(starts, codes, means))
