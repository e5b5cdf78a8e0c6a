"""The spectral method: confusion matrices from three groups of annotators (Zhang et al. 2014)."""

import warnings
from itertools import combinations, permutations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from blindfuse.errors import RankTooLow
from blindfuse.estimators.base import (
    ModelEstimator,
    Shrinkage,
    at_least,
    check_shrinkage,
    shrink_model,
    to_fit,
)
from blindfuse.model.model import Model, Rule
from blindfuse.model.ordering import CanonicalOrder
from blindfuse.model.posteriors import count_posteriors, count_votes, weighted_votes
from blindfuse.model.shrinkage import normalize_columns, vote_confusions
from blindfuse.moments.requirements import require_overlap
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

FLOOR = 1e-6
"""Least entry of an estimated confusion matrix (Zhang et al.'s δ)."""
BLOCK = 1 << 16
"""Items whose third moments are formed at once."""
POWER_STEPS = 100
RANK_TOLERANCE = 1e-12
"""A singular value below this is zero, noise or not."""


class Spectral(ModelEstimator):
    """Third moments of three groups of annotators, whitened and taken apart by the power method.

    Each group's answers to an item are averaged, Z_g(n) = mean of one-hot answers. Two groups are
    moved into the frame of the third by their cross moments; their second moment whitens the third
    moment, whose robust eigenpairs are the columns of the third group's mean matrix. Each
    annotator's Γ_m follows from its cross moments with a group that it is not in. No iteration over
    the data, and a good start for EM: ``DawidSkene(start="spectral")``.

    Where moments have rank below K — a class that is too rare, or that a group does not tell from
    another — there is nothing to whiten: the method says so by a :class:`RankTooLow` warning, keeps
    the reason in ``fallback_``, and takes confusion matrices against the majority vote.

    Parameters
    ----------
    shrinkage
        towards the crowd's mean matrix: ``"learned"``, a number of pseudo-labels, or None.
    restarts, seed
        random starts of the power method for each eigenpair.

    Attributes
    ----------
    fallback_
        why the vote was taken instead, or None.
    """

    fallback_: str | None
    pseudo_counts_: Floats

    def __init__(
        self,
        *,
        shrinkage: Shrinkage = "learned",
        restarts: int = 20,
        seed: int | None = 0,
        rule: Rule = "map",
        threads: int | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.restarts = restarts
        self.seed = seed
        self.rule: Rule = rule
        self.threads = threads

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        check_shrinkage(self.shrinkage)
        at_least("restarts", self.restarts, 1)
        require_overlap(table)
        votes = count_votes(table, self.threads)
        self.fallback_ = None
        try:
            confusions, prior = self._estimate(
                table, _deal(CanonicalOrder.by_votes(votes).annotators)
            )
        except _NoRank as reason:
            self.fallback_ = f"{reason} Confusion matrices against the majority vote were taken."
            if (
                np.count_nonzero(table.responses_per_class) > 1
            ):  # else there is nothing to tell apart
                warnings.warn(f"Spectral: {self.fallback_}", RankTooLow, stacklevel=2)
            confusions, prior = vote_confusions(votes.counts), votes.totals / votes.totals.sum()
        estimate = Model(confusions, prior, table.annotators, table.classes)
        model, self.pseudo_counts_ = shrink_model(
            estimate, self.shrinkage, lambda: estimate.sums(table, self.threads).counts
        )
        return self._keep(model, table)

    def _estimate(
        self, responses: Responses, groups: list[NDArray[np.intp]]
    ) -> tuple[Floats, Floats]:
        """Γ_m and π from the moments of three groups of annotators."""
        parts = [responses.select_annotators(group) for group in groups]
        shares = [_shares(part) for part in parts]
        pairs = {(a, b): _pair_moment(shares[a], shares[b]) for a, b in combinations(range(3), 2)}
        pairs |= {(b, a): moment.T for (a, b), moment in pairs.items()}
        triple = _triple_moment(*shares)
        rng = np.random.default_rng(self.seed)
        means, weights = zip(
            *(_group_means(c, pairs, triple, self.restarts, rng) for c in range(3)), strict=True
        )
        prior = np.mean(weights, axis=0)
        prior /= prior.sum()
        K = responses.n_classes
        confusions = np.tile(np.eye(K), (responses.n_annotators, 1, 1))
        for g, group in enumerate(groups):
            other = (g + 1) % 3
            counts = count_posteriors(parts[g], shares[other], self.threads).counts
            found = counts @ np.linalg.inv(means[other]).T / prior
            confusions[group] = normalize_columns(np.maximum(found, 0.0) + FLOOR)
        return confusions, prior


class _NoRank(Exception):
    """Why moments cannot be taken apart, in words."""


def _deal(annotators: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Three groups of about equal strength: dealt in turn from those with most labels on."""
    return [np.sort(annotators[g::3]) for g in range(3)]


def _shares(responses: Responses) -> Floats:
    """Z ``[item, label]``: the shares of a group's answers; zeros where nobody answered."""
    votes = weighted_votes(responses)
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0))


def _pair_moment(one: Floats, other: Floats) -> Floats:
    """E[Z_a Z_bᵀ] over items that both groups answered; refused where its rank is below K.

    A singular value counts if it is above the norm of the sampling noise, about √(V/K) for K × K
    entries whose variances add up to V = (E[‖Z_a‖² ‖Z_b‖²] − ‖E[Z_a Z_bᵀ]‖²)/items.
    """
    total: Floats = one.T @ other
    K, items = len(total), max(total.sum(), 1.0)
    moment: Floats = total / items
    sizes = np.einsum("nk,nk->n", one, one) @ np.einsum("nk,nk->n", other, other)
    noise = np.sqrt(max(sizes / items - np.sum(moment**2), 0.0) / (items * K))
    if np.linalg.svd(moment, compute_uv=False)[-1] <= noise + RANK_TOLERANCE:
        raise _NoRank(
            f"Second moments of two groups of annotators tell fewer than {K} classes apart."
        )
    return moment


def _triple_moment(one: Floats, two: Floats, three: Floats) -> Floats:
    """E[Z_a ⊗ Z_b ⊗ Z_c] over items that all groups answered, in blocks of items."""
    K = one.shape[1]
    total = np.zeros((K * K, K))
    for begin in range(0, len(one), BLOCK):
        cut = slice(begin, begin + BLOCK)
        pairs = (one[cut, :, None] * two[cut, None, :]).reshape(-1, K * K)
        total += pairs.T @ three[cut]
    return np.asarray(total / total.sum()).reshape(K, K, K)


def _group_means(
    c: int,
    pairs: dict[tuple[int, int], Floats],
    triple: Floats,
    restarts: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """The mean matrix ``[reported, true]`` of group c, and the class shares."""
    a, b = (group for group in range(3) if group != c)
    from_a = pairs[c, b] @ np.linalg.inv(pairs[a, b])
    from_b = pairs[c, a] @ np.linalg.inv(pairs[b, a])
    second = pairs[c, b] @ np.linalg.inv(pairs[a, b]) @ pairs[a, c]
    third = np.einsum("ia,jb,abk->ijk", from_a, from_b, np.moveaxis(triple, (a, b, c), (0, 1, 2)))
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    if values[0] <= 0:
        raise _NoRank("The second moment of a group of annotators cannot be whitened.")
    whiten = vectors / np.sqrt(values)
    sizes, directions = _robust_eigenpairs(
        np.einsum("ijk,ia,jb,kc->abc", third, whiten, whiten, whiten), restarts, rng
    )
    columns = (vectors * np.sqrt(values)) @ directions.T * sizes
    _, order = linear_sum_assignment(columns, maximize=True)
    means = normalize_columns(np.maximum(columns[:, order], 0.0)[None])[0]
    return means, sizes[order] ** -2.0


def _robust_eigenpairs(
    tensor: Floats, restarts: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors ``[pair, :]`` by the power method with deflation."""
    K = len(tensor)
    rest = sum(np.transpose(tensor, order) for order in permutations(range(3))) / 6
    sizes, directions = np.empty(K), np.empty((K, K))
    for pair in range(K):
        tried = rng.normal(size=(restarts, K))
        values = np.linalg.norm(tried, axis=1)
        for _ in range(POWER_STEPS):
            tried = tried / values[:, None]
            tried = np.einsum("ijk,lj,lk->li", rest, tried, tried)
            values = np.linalg.norm(tried, axis=1)  # θᵀT(I, θ, θ) at a fixed point
            if not values.all():
                raise _NoRank("The third moment of a group of annotators has too few directions.")
        best = values.argmax()
        sizes[pair], directions[pair] = values[best], tried[best] / values[best]
        rest = rest - sizes[pair] * np.einsum("i,j,k->ijk", *[directions[pair]] * 3)
    return sizes, directions
