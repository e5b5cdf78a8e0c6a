"""Annotators whose errors are correlated, as those of annotators who copy from each other."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blindfuse.errors import list_names
from blindfuse.kernels.ratings import add_pair_moments, add_pair_residuals
from blindfuse.numbers.factor_em import fit_factor
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]

FAMILY_WISE_LEVEL = 0.05
"""Probability of a dependent pair among independent annotators, over all pairs (Bonferroni)."""
MIN_CORRELATION = 0.3
"""Correlation of errors at or above which a pair is reported: a medium effect (Cohen 1988)."""
MIN_COMMON = 10
"""Minimum number of common items of a tested pair."""
MIN_COPY_CORRELATION = 0.9
"""Correlation of errors at or above which two annotators count as one."""
MAX_SUSPECTS = 10
"""Pairs of closest annotators that are compared with a model of all others."""
MAX_PASSES = 3
"""Times that copies are merged and looked for again, for groups of copies."""
MIN_OTHERS = 3
"""Annotators besides a pair that are needed to tell its errors from the truth."""
MIN_IDENTICAL_CORRELATION = 0.999
"""Correlation of ratings at or above which two annotators are nearly identical."""
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
        """Annotators that copy, directly or through others, as pairs of high correlation do."""
        return connected_groups(self.pairs[self.correlation >= MIN_COPY_CORRELATION])

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
        text = (
            f"Errors are correlated in {len(self.pairs):,} of {self.n_tested:,} pairs of "
            f"annotators, most in {named}."
        )
        if np.all(self.correlation >= MIN_COPY_CORRELATION):
            return f"{text} Such annotators count as one; check whether they share a source."
        return (
            f"{text} Intervals are too narrow, because not all of them count as one annotator; "
            "check whether they share a source."
        )


def find_copies(table: Numbers) -> CopiedRatings:
    """Return the pairs whose residuals coincide significantly more than the model allows.

    Copies confirm each other in a model that contains both: it takes what they share for the truth.
    Annotators with nearly identical ratings are therefore found first. Then pairs that are each
    other's closest annotators are compared with a model of all others, and copies are merged. All
    remaining pairs are tested by one model.
    """
    M = table.n_annotators
    if M > MAX_ANNOTATORS:
        nothing = np.empty(0)
        return CopiedRatings(table.annotators, np.empty((0, 2), np.intp), nothing, nothing, 0)
    moments = _pair_moments(table)
    first, second = np.nonzero(moments.common >= MIN_COMMON)
    found = {
        (int(m), int(l)): 1.0
        for m, l in zip(first, second, strict=True)
        if moments.correlation[m, l] >= MIN_IDENTICAL_CORRELATION
    }
    merged = _merge_pairs(table, list(found))
    for _ in range(MAX_PASSES):
        copied = _copied_suspects(merged)
        found.update(copied)
        if not copied:
            break
        merged = _merge_pairs(table, list(found))
    correlation, excess = _correlated_errors(merged, first, second)
    threshold = -ndtri(FAMILY_WISE_LEVEL / max(len(first), 1))
    for at in np.flatnonzero((correlation >= MIN_CORRELATION) & (excess > threshold)):
        found.setdefault((int(first[at]), int(second[at])), float(correlation[at]))
    pairs = sorted(found, key=lambda pair: (-found[pair], pair))
    places = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return CopiedRatings(
        table.annotators,
        places,
        np.array([found[pair] for pair in pairs]),
        moments.identical[places[:, 0], places[:, 1]],
        len(first),
    )


class _PairMoments(NamedTuple):
    """Common items, correlation and share of equal ratings ``[first, second]``, above diagonal."""

    common: Floats
    correlation: Floats
    identical: Floats


def _pair_moments(table: Numbers) -> _PairMoments:
    sums = np.zeros((table.n_annotators, table.n_annotators, 7))
    add_pair_moments(table.starts, table.codes, table.values, sums)
    n, equal, x, y, xx, yy, xy = np.moveaxis(sums, 2, 0)
    safe = np.maximum(n, 1)
    correlation = _correlation(xy - x * y / safe, xx - x**2 / safe, yy - y**2 / safe)
    return _PairMoments(n, np.where(n >= MIN_COMMON, correlation, 0.0), equal / safe)


def _merge_pairs(table: Numbers, pairs: list[tuple[int, int]]) -> Numbers:
    if not pairs:
        return table
    return merge_groups(table, connected_groups(np.array(pairs, dtype=np.intp)))


def _copied_suspects(table: Numbers) -> dict[tuple[int, int], float]:
    """Pairs of closest annotators whose errors, against all others, are nearly the same."""
    correlation = _pair_moments(table).correlation
    both = correlation + correlation.T
    closest = both.argmax(axis=1)
    mutual = [
        (m, int(l))
        for m, l in enumerate(closest)
        if m < l and closest[l] == m and both[m, l] >= MIN_CORRELATION
    ]
    mutual.sort(key=lambda pair: -both[pair])
    copied = {}
    for pair in mutual[:MAX_SUSPECTS]:
        errors, excess = _errors_against_others(table, pair)
        if errors >= MIN_COPY_CORRELATION and excess > -ndtri(FAMILY_WISE_LEVEL / MAX_SUSPECTS):
            copied[pair] = errors
    return copied


def _errors_against_others(table: Numbers, pair: tuple[int, int]) -> tuple[float, float]:
    """Correlation of the errors of two annotators, and its excess in standard errors.

    z and v are the posterior of the truth given all other annotators, so that a rating has the
    expectation b + a z and two ratings the covariance a a' v beyond that of their errors.
    """
    own = np.isin(table.codes, pair)
    others = table.select_ratings(~own)
    if np.count_nonzero(others.ratings_per_annotator) < MIN_OTHERS:
        return 0.0, 0.0
    fitted = fit_factor(others)
    ratings = np.full((table.n_items, 2), np.nan)
    items = table.item_of_rating()
    for column, m in enumerate(pair):
        mine = table.codes == m
        ratings[items[mine], column] = table.values[mine]
    common = ~np.isnan(ratings).any(axis=1) & (others.ratings_per_item > 0)
    if np.count_nonzero(common) < MIN_COMMON:
        return 0.0, 0.0
    x, z, v = ratings[common], fitted.z[common], fitted.v[common]
    design = np.column_stack([np.ones(len(z)), z])
    coefficients = np.linalg.lstsq(design, x, rcond=None)[0]
    residuals, scale = x - design @ coefficients, coefficients[1]
    shared = np.prod(scale) * v
    excess = float((residuals.prod(axis=1) - shared).sum())
    noise = np.maximum((residuals**2 - scale**2 * v[:, None]).mean(axis=0), 0.0)
    variance = float(((noise + scale**2 * v[:, None]).prod(axis=1) + shared**2).sum())
    totals = noise * len(z)
    correlation = _correlation(np.array([excess]), totals[:1], totals[1:])
    return float(correlation[0]), excess / np.sqrt(variance) if variance > 0 else 0.0


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
