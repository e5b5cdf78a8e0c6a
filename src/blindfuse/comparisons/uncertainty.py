"""Uncertainty of the strengths: a sandwich estimate, clustered by prompt or judge.

The covariance is V = S⁻¹ B S⁻¹. S is the curvature, with the judge effects eliminated; B is the
sum of s sᵀ over clusters, where s is the score of a cluster after the same elimination, and what
the priors of strengths and effects add. It is stored as a root: V = R Rᵀ, ``root[item, m]``.
"""

import numpy as np
from scipy.linalg import cholesky
from scipy.sparse import csr_array

from blindfuse.comparisons.fitting import Fit
from blindfuse.comparisons.likelihood import SLOPE, Cells, scores
from blindfuse.comparisons.spreads import typical_slope
from blindfuse.comparisons.table import Comparisons
from blindfuse.typing import Codes, Floats, Integers


def covariance_root(fitted: Fit, table: Comparisons) -> Floats:
    """Return the root of the covariance of the strengths, relative to the mean of their group.

    Comparisons on the same prompt, or else by the same judge, may have errors in common. With few
    judges, their own covariance is mixed with that of single comparisons, which is enlarged by the
    factor that all items together show. The unit of the strengths has a standard error too.
    """

    def root(cells: Cells, clusters: Codes | None = None) -> Floats:
        return centred(_root(fitted, cells, clusters), table.groups)

    _, unit_error = typical_slope(fitted)
    strengths = centred(fitted.parameters.strengths, table.groups)[:, None]
    n_judges = np.count_nonzero(table.comparisons_per_annotator)
    if table.prompt is not None:
        roots = [root(table.rows, table.prompt)]
    elif n_judges == 1 or not table.cells.is_dense:
        roots = [root(table.squared_cells)]
    else:
        single, clustered = root(table.squared_cells), root(table.cells, table.cells.judge)
        clustered = clustered * np.sqrt(n_judges / (n_judges - 1))
        factor = max(1.0, float((clustered**2).sum() / (single**2).sum()))
        share = n_judges / (n_judges + table.n_items)
        roots = [np.sqrt(share) * clustered, np.sqrt((1 - share) * factor) * single]
    return np.hstack([*roots, unit_error * strengths])


def centred(values: Floats, groups: Integers) -> Floats:
    """Return values ``[item, …]`` minus the mean of the item's group."""
    sizes = np.bincount(groups).astype(float)
    columns = values.reshape(len(groups), -1).T
    means = np.stack([np.bincount(groups, column) / sizes for column in columns], axis=1)
    return np.asarray(values - means[groups].reshape(values.shape))


def _root(fitted: Fit, cells: Cells, clusters: Codes | None) -> Floats:
    """Return the root of the covariance, for these clusters or for single comparisons.

    Of very many items, it is the root in 64 random directions.
    """
    if fitted.cells.n_judges != cells.n_judges:
        cells = cells.with_one_judge()
    common, judge = _cluster_scores(fitted, cells, clusters)
    U, W = cells.n_items + 1, fitted.curvature.eliminated
    ridge = np.append(np.full(U - 1, fitted.ridge), 0.0)
    if not cells.is_dense:
        rng = np.random.default_rng(0)
        signs = rng.choice([-1.0, 1.0], (common.shape[0], 64)) / 8
        prior = np.sqrt(ridge)[:, None] * rng.normal(size=(U, 64)) / 8
        return fitted.curvature.solve(common.T @ signs + prior)[:-1]
    B = (common.T @ common).toarray() + np.diag(ridge)
    if W is not None:
        flat, half = W.reshape(-1, U), (common.T @ judge) @ W.reshape(-1, U)
        precisions = np.divide(1, fitted.variances, where=fitted.variances > 0, out=np.zeros(3))
        prior = (W * np.sqrt(precisions)[:, None]).reshape(-1, U)
        B += flat.T @ ((judge.T @ judge) @ flat) - half - half.T + prior.T @ prior
    factor = cholesky(B + 1e-12 * np.diag(B).max() * np.eye(U), lower=True)
    return fitted.curvature.solve(factor)[:-1]


def _cluster_scores(
    fitted: Fit, cells: Cells, clusters: Codes | None
) -> tuple[csr_array, csr_array]:
    """Return the score of each cluster by common parameters and by effects.

    Without clusters, each outcome of each cell has one row, with the root of its number as weight.
    """
    difference, _, _ = fitted.parameters.predictors(cells)
    g = scores(fitted.parameters.probabilities(cells))
    place, n_clusters = np.arange(len(cells.left)), len(cells.left)
    if clusters is None:
        g = (g * np.sqrt(cells.counts)[:, :, None]).reshape(-1, 2)
        cell = np.repeat(place, 3)
        place, n_clusters = np.arange(len(cell)), len(cell)
        cells, difference = cells._replace(judge=cells.judge[cell]), difference[cell]
        cells = cells._replace(left=cells.left[cell], right=cells.right[cell])
    else:
        g = np.einsum("co,cop->cp", cells.counts, g)
        place, n_clusters = clusters, int(clusters.max()) + 1
    by_eta, by_tie = g[:, 0], g[:, 1] * fitted.cells.has_ties
    value = (1 + fitted.parameters.effects[cells.judge, SLOPE]) * by_eta
    I, K = cells.n_items, cells.n_judges
    columns = np.concatenate([cells.left, cells.right, np.full(len(place), I)])
    rows, values = np.tile(place, 3), np.concatenate([value, -value, by_tie])
    common = csr_array((values, (rows, columns)), shape=(n_clusters, I + 1))
    columns = np.concatenate([cells.judge * 3 + effect for effect in range(3)])
    values = np.concatenate([difference * by_eta, by_eta, by_tie])
    values = values * np.repeat(fitted.active, len(place))
    return common, csr_array((values, (rows, columns)), shape=(n_clusters, 3 * K))
