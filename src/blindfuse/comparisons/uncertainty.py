"""Uncertainty of the strengths: a sandwich estimate, clustered by prompt or judge; ranks and tiers.

The covariance is V = S⁻¹ B S⁻¹. S is the curvature of the penalised likelihood; B is the sum of
s sᵀ over clusters, where s is the score of a cluster, and what the prior of the strengths adds.
It is stored as a root: V = R Rᵀ, ``root[item, m]``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.sparse import csr_array

from blindfuse.comparisons.model import MAX_DENSE, SLOPE, Cells, Fit, solver, typical_slope
from blindfuse.comparisons.table import Comparisons
from blindfuse.typing import Codes, Floats, Integers

Z = 1.959963984540054
"""Standard errors of a 95 % interval."""
N_DIRECTIONS = 64
"""Random directions in which the covariance of very many items is computed."""


def covariance_root(fitted: Fit, table: Comparisons) -> Floats:
    """Return the root of the covariance of the strengths, relative to the mean of their group.

    Comparisons on the same prompt, or else by the same judge, may have errors in common. With few
    clusters, their own covariance is mixed with that of single comparisons, which is enlarged by
    the factor that all items together show. The unit of the strengths has a standard error too.
    """
    cells = table.rows
    slope = 1 + fitted.effects[cells.judge, SLOPE]
    win, _, loss = np.exp(fitted.log_probabilities(cells))
    scores = slope[:, None] * (np.array([0.5, 0, -0.5]) - (win - loss)[:, None] / 2)
    solve = solver(fitted.curvature(cells, fitted.derivatives(cells).eta_eta))

    def root(clusters: Codes, values: Floats) -> Floats:
        matrix = _incidence(cells, clusters, values)
        return centred(solve(_score_root(matrix, fitted.ridge)), table.groups)

    rows = np.arange(len(cells.left))
    single = root(rows, np.sqrt((cells.counts * scores**2).sum(axis=1)))
    clusters = cells.judge if cells.prompt is None else cells.prompt
    n = len(np.unique(clusters))
    roots = [single]
    if n > 1:
        clustered = root(clusters, (cells.counts * scores).sum(axis=1)) * np.sqrt(n / (n - 1))
        factor = max(1.0, float((clustered**2).sum() / (single**2).sum()))
        share = n / (n + table.n_items)
        roots = [np.sqrt(share) * clustered, np.sqrt((1 - share) * factor) * single]
    _, unit_error = typical_slope(fitted, cells)
    strengths = centred(fitted.strengths, table.groups)[:, None]
    return np.hstack([*roots, unit_error * strengths])


def _incidence(cells: Cells, clusters: Codes, values: Floats) -> csr_array:
    """Return Σ value (e_i − e_j) of each cluster, ``[cluster, item]``."""
    rows, columns = np.tile(clusters, 2), np.concatenate([cells.left, cells.right])
    shape = int(clusters.max()) + 1, cells.n_items
    return csr_array((np.concatenate([values, -values]), (rows, columns)), shape=shape)


def _score_root(matrix: csr_array, ridge: float) -> Floats:
    """Return a root of MᵀM + ridge; of very many items, its product with random directions."""
    if matrix.shape[1] <= MAX_DENSE:
        B = (matrix.T @ matrix).toarray()
        return np.asarray(cholesky(B + (ridge + 1e-12 * B.max()) * np.eye(len(B)), lower=True))
    rng, scale = np.random.default_rng(0), 1 / np.sqrt(N_DIRECTIONS)
    signs, noise = (rng.choice([-scale, scale], (n, N_DIRECTIONS)) for n in matrix.shape)
    return np.asarray(matrix.T @ signs + np.sqrt(ridge) * noise)


def centred(values: Floats, groups: Integers) -> Floats:
    """Return values ``[item, …]`` minus the mean of the item's group."""
    sizes = np.bincount(groups).astype(float)
    columns = values.reshape(len(groups), -1).T
    means = np.stack([np.bincount(groups, column) / sizes for column in columns], axis=1)
    return np.asarray(values - means[groups].reshape(values.shape))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Strengths given the comparisons and the spread of all items: normal, with this mean.

    Attributes
    ----------
    mean ``[item]``
        relative to the mean of the item's group.
    root ``[item, m]``
        the covariance is ``root @ root.T``.
    groups ``[item]``
        items of different groups cannot be compared.
    """

    mean: Floats
    root: Floats
    groups: Integers

    def difference(self, left: Codes, right: Codes) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of θ_left − θ_right."""
        spread = self.root[left] - self.root[right]
        return self.mean[left] - self.mean[right], np.sqrt((spread**2).sum(axis=-1))

    def rank_draws(self) -> Integers:
        """Return draws of the ranks ``[draw, item]``.

        Draws follow the order of the strengths, so that they do not depend on that of the items.
        """
        n_items, rng = len(self.mean), np.random.default_rng(0)
        n_draws = max(100, min(2_000, 2_000_000 // n_items))
        if n_items > MAX_DENSE:
            noise = rng.normal(size=(n_draws, self.root.shape[1])) @ self.root.T
        else:
            order, noise = np.argsort(-self.mean), np.empty((n_draws, n_items))
            covariance = self.root[order] @ self.root[order].T
            covariance += 1e-12 * np.diag(covariance).max() * np.eye(n_items)
            normal = rng.normal(size=(n_draws, n_items))
            noise[:, order] = normal @ np.linalg.cholesky(covariance).T
        return ranks_of(self.mean + noise, self.groups)


def ranks_of(strengths: Floats, groups: Integers) -> Integers:
    """Return ranks ``[…, item]`` in the groups, from 1; equal strengths share the best rank."""
    keys = np.round(-strengths, 9), np.broadcast_to(groups, strengths.shape)
    order = np.lexsort(keys)
    sizes = np.bincount(groups)
    first = (np.cumsum(sizes) - sizes)[np.sort(groups)]
    values = np.take_along_axis(keys[0], order, axis=-1)
    place = np.broadcast_to(np.arange(len(groups)), values.shape).copy()
    place[..., 1:][(values[..., 1:] == values[..., :-1]) & (first[1:] == first[:-1])] = 0
    ranks = np.empty(values.shape, dtype=np.int64)
    best = np.maximum.accumulate(place, axis=-1)
    np.put_along_axis(ranks, order, best - first + 1, axis=-1)
    return ranks


def tiers_of(posterior: Posterior, ranks: Integers) -> Integers:
    """Return the tier of each item in its group, from 1.

    A tier begins with the best item that is left; it has all that follow, up to the first whose
    difference from it has a 95 % interval above zero.
    """
    tiers = np.ones(len(ranks), dtype=np.int64)
    order = np.lexsort([ranks, posterior.groups])
    leader, tier = order[0], 1
    for item in order[1:].tolist():
        if posterior.groups[item] != posterior.groups[leader]:
            leader, tier = item, 1
        else:
            mean, error = posterior.difference(leader, item)
            if mean > Z * error:
                leader, tier = item, tier + 1
        tiers[item] = tier
    return tiers
