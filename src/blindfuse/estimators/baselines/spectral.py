"""The spectral method: confusion matrices from three groups of annotators (Zhang et al. 2014)."""

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Annotated

import numpy as np
from scipy.optimize import linear_sum_assignment

from blindfuse.errors import RankTooLow
from blindfuse.estimators.base import ModelEstimator, Seed, ShrinkageStrength, shrink_model
from blindfuse.model.alignment import CanonicalOrder
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    count_posteriors,
    count_votes,
    weighted_votes,
)
from blindfuse.model.shrinkage import normalize_columns, vote_confusions
from blindfuse.moments.requirements import require_overlap
from blindfuse.parameters import integer_at_least
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

MIN_PROBABILITY = 1e-6
"""Smallest entry of an estimated confusion matrix (δ in Zhang et al.)."""
BLOCK_ITEMS = 1 << 16
"""Items whose third moments are formed at once."""
POWER_STEPS = 100
"""Iterations of the power method per eigenpair."""
RANK_TOLERANCE = 1e-12
"""Singular values up to this count as zero even without sampling noise."""


@dataclass(kw_only=True, eq=False, repr=False)
class Spectral(ModelEstimator):
    """Confusion matrices from moments of three groups of annotators, by tensor decomposition.

    Z_g(n) is the mean of the one-hot responses of group g to item n. The cross moments of two
    groups map them into the space of the third, where their second moment whitens the third moment.
    The robust eigenpairs of the whitened moment, found by the power method, give the mean confusion
    matrix of the group; cross moments with another group then give each annotator's Γ_m. It needs
    no iteration over the data and is a good start for EM: ``DawidSkene(start="spectral")``.
    Reference: Zhang, Chen, Zhou and Jordan (2014), "Spectral Methods Meet EM: A Provably Optimal
    Algorithm for Crowdsourcing".

    If a moment has rank below K, because a class is too rare or a group does not distinguish it
    from another, it cannot be whitened. The method then uses confusion matrices against the
    majority vote, warns with :class:`RankTooLow`, and stores the reason in ``fallback_``.

    Parameters
    ----------
    shrinkage
        towards the mean confusion matrix of all annotators: ``"learned"``, a number of
        pseudo-counts per class, or None.
    restarts, seed
        number of random starts of the power method per eigenpair, and the random seed.
    rule
        ``"map"`` or ``"ml"``, which ignores the class prior.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    model_, labels_ ``[item]``, posteriors_ ``[item, class]``
        the fitted :class:`Model` and its result.
    fallback_
        why the majority vote was used instead, or None.
    shrinkage_
        the prior that ``shrinkage`` asked for, or None.
    """

    shrinkage: ShrinkageStrength = "learned"
    restarts: Annotated[int, integer_at_least(1)] = 20
    seed: Seed = 0

    def _fit(self, table: Responses) -> None:
        require_overlap(table)
        votes = count_votes(table, self.threads)
        self.fallback_ = None
        try:
            order = CanonicalOrder.by_votes(votes).annotators  # so groups have as many responses
            groups = [np.sort(order[g::3]) for g in range(3)]
            confusions, prior = self._decompose(table, groups)
        except _RankDeficient as reason:
            self.fallback_ = f"{reason} Confusion matrices against the majority vote were used."
            if np.count_nonzero(table.responses_per_symbol) > 1:  # else a low rank is no surprise
                self._warn(f"cannot decompose the moments. {self.fallback_}", RankTooLow)
            confusions, prior = vote_confusions(votes.counts), votes.totals / votes.totals.sum()
        estimate = Model(confusions, prior, table.annotators, table.classes)
        model, self.shrinkage_ = shrink_model(
            estimate, self.shrinkage, lambda: estimate.expected_counts(table, self.threads).counts
        )
        self._store(model, table)

    def _decompose(self, responses: Responses, groups: list[Codes]) -> tuple[Floats, Floats]:
        """Return Γ_m and π from the moments of three groups of annotators."""
        tables = [responses.select_annotators(group) for group in groups]
        means = [_mean_responses(table) for table in tables]
        pairs = {(a, b): _pair_moment(means[a], means[b]) for a, b in combinations(range(3), 2)}
        pairs |= {(b, a): moment.T for (a, b), moment in pairs.items()}
        triple = _triple_moment(*means)
        rng = np.random.default_rng(self.seed)
        group_confusions, priors = zip(
            *(_group_confusions(c, pairs, triple, self.restarts, rng) for c in range(3)),
            strict=True,
        )
        prior = np.mean(priors, axis=0)
        prior /= prior.sum()
        K = responses.n_classes
        confusions = np.tile(np.eye(K), (responses.n_annotators, 1, 1))
        for g, group in enumerate(groups):
            other = (g + 1) % 3
            counts = count_posteriors(tables[g], means[other], self.threads).counts
            estimated = counts @ np.linalg.inv(group_confusions[other]).T / prior
            confusions[group] = normalize_columns(np.maximum(estimated, 0.0) + MIN_PROBABILITY)
        return confusions, prior


class _RankDeficient(Exception):
    """A moment has too low a rank to be decomposed; the message says which."""


def _mean_responses(responses: Responses) -> Floats:
    """Return Z ``[item, reported]``, the mean one-hot response; zeros without responses."""
    votes = weighted_votes(responses)
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0))


def _pair_moment(z_a: Floats, z_b: Floats) -> Floats:
    """Return E[Z_a Z_bᵀ] over items that both groups labelled; raise if its rank is below K.

    A singular value counts as non-zero if it is above the norm of the sampling noise, about √(V/K)
    for K × K entries with total variance V = (E[‖Z_a‖² ‖Z_b‖²] − ‖E[Z_a Z_bᵀ]‖²)/items.
    """
    total: Floats = z_a.T @ z_b
    K, items = len(total), max(total.sum(), 1.0)
    moment: Floats = total / items
    squares = np.einsum("nk,nk->n", z_a, z_a) @ np.einsum("nk,nk->n", z_b, z_b)
    noise = np.sqrt(max(squares / items - np.sum(moment**2), 0.0) / (items * K))
    if np.linalg.svd(moment, compute_uv=False)[-1] <= noise + RANK_TOLERANCE:
        raise _RankDeficient(
            f"The second moments of two groups of annotators distinguish fewer than {K} classes."
        )
    return moment


def _triple_moment(z_a: Floats, z_b: Floats, z_c: Floats) -> Floats:
    """Return E[Z_a ⊗ Z_b ⊗ Z_c] over items that all groups labelled."""
    K = z_a.shape[1]
    total = np.zeros((K * K, K))
    for begin in range(0, len(z_a), BLOCK_ITEMS):
        block = slice(begin, begin + BLOCK_ITEMS)
        pairs = (z_a[block, :, None] * z_b[block, None, :]).reshape(-1, K * K)
        total += pairs.T @ z_c[block]
    return np.asarray(total / total.sum()).reshape(K, K, K)


def _group_confusions(
    c: int,
    pairs: dict[tuple[int, int], Floats],
    triple: Floats,
    restarts: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return the mean confusion matrix ``[reported, true]`` of group c, and the class prior."""
    a, b = (group for group in range(3) if group != c)
    from_a = pairs[c, b] @ np.linalg.inv(pairs[a, b])
    from_b = pairs[c, a] @ np.linalg.inv(pairs[b, a])
    second = pairs[c, b] @ np.linalg.inv(pairs[a, b]) @ pairs[a, c]
    third = np.einsum("ia,jb,abk->ijk", from_a, from_b, np.moveaxis(triple, (a, b, c), (0, 1, 2)))
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    if values[0] <= 0:
        raise _RankDeficient("The second moment of a group of annotators cannot be whitened.")
    whiten = vectors / np.sqrt(values)
    eigenvalues, eigenvectors = _robust_eigenpairs(
        np.einsum("ijk,ia,jb,kc->abc", third, whiten, whiten, whiten), restarts, rng
    )
    columns = (vectors * np.sqrt(values)) @ eigenvectors.T * eigenvalues
    _, order = linear_sum_assignment(columns, maximize=True)
    confusions = normalize_columns(np.maximum(columns[:, order], 0.0)[None])[0]
    return confusions, eigenvalues[order] ** -2.0


def _robust_eigenpairs(
    tensor: Floats, restarts: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors ``[pair, :]``, by the power method with deflation."""
    K = len(tensor)
    rest = sum(np.transpose(tensor, order) for order in permutations(range(3))) / 6
    eigenvalues, eigenvectors = np.empty(K), np.empty((K, K))
    for pair in range(K):
        candidates = rng.normal(size=(restarts, K))
        norms = np.linalg.norm(candidates, axis=1)
        for _ in range(POWER_STEPS):
            candidates = candidates / norms[:, None]
            candidates = np.einsum("ijk,lj,lk->li", rest, candidates, candidates)
            norms = np.linalg.norm(candidates, axis=1)  # θᵀT(I, θ, θ) at a fixed point
            if not norms.all():
                raise _RankDeficient(
                    "The third moment of a group of annotators has too low a rank."
                )
        best = norms.argmax()
        eigenvalues[pair], eigenvectors[pair] = norms[best], candidates[best] / norms[best]
        rest = rest - eigenvalues[pair] * np.einsum("i,j,k->ijk", *[eigenvectors[pair]] * 3)
    return eigenvalues, eigenvectors
