"""Spectral clustering of items whose annotators have symbols of their own, such as clusterings."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from blindfuse.model.anchored_votes import KMEANS_ITERATIONS
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

KMEANS_STARTS = 10
"""Number of starts of k-means, of which the best is kept."""
MAX_KMEANS_ITEMS = 20_000
"""Items that cluster centres are computed from; the others are assigned to the nearest centre."""
MAX_DENSE_COLUMNS = 1_500
"""Annotators times symbols up to which the spectrum is computed from a dense matrix."""
MIN_NORM = 1e-12
"""Smallest length that a row is divided by."""
MIN_VALUE = 1e-6
"""Singular values below are zero but for rounding; the largest is one."""


def spectral_codes(responses: Responses) -> Codes:
    """Cluster items by normalised cuts of the graph that joins each item to its clusters.

    ``B[item, (annotator, symbol)]`` is one for each response. With D and C the numbers of responses
    per item and per cluster, the left singular vectors of D^(−½) B C^(−½) are those of the
    normalised graph of items and clusters (Fern and Brodley 2004, "Solving Cluster Ensemble
    Problems by Bipartite Graph Partitioning"; Dhillon 2001), and no matrix of items by items is
    formed. Items are clustered by the first K of them, with rows scaled to length one (Ng, Jordan
    and Weiss 2002, "On Spectral Clustering: Analysis and an Algorithm"), in time linear in the
    number of responses. Classes are numbered from the largest cluster down.
    """
    K = responses.n_classes
    responded = responses.responses_per_item > 0
    rows = _left_vectors(_normalised_graph(responses), K)
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows / np.maximum(lengths, MIN_NORM)[:, None]
    codes = np.full(responses.n_items, -1)
    found = _kmeans(rows[responded], K, np.random.default_rng(0))
    sizes = np.bincount(found, minlength=K)
    codes[responded] = np.argsort(np.argsort(-sizes, kind="stable"))[found]
    return codes


def _normalised_graph(responses: Responses) -> "csr_array":
    """Return D^(−½) B C^(−½), ``[item, cluster]``, with the clusters that occur."""
    starts, annotators, symbols = responses.by_item
    clusters = annotators.astype(np.int64) * responses.n_symbols + symbols
    used, places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    per_item = np.repeat(np.diff(starts), np.diff(starts))
    values = 1 / np.sqrt(per_item * sizes[places])
    return csr_array((values, places, starts), shape=(responses.n_items, len(used)))


def _left_vectors(table: "csr_array", count: int) -> Floats:
    """Return the first left singular vectors ``[item, count]``; beyond the rank, zeros."""
    n_columns = table.shape[1]
    if n_columns <= max(MAX_DENSE_COLUMNS, count):
        squares, vectors = np.linalg.eigh((table.T @ table).toarray())
        values, vectors = np.sqrt(np.maximum(squares, 0)), vectors
    else:
        start = np.ones(min(table.shape))
        _, values, rows = svds(table, k=count, v0=start)
        vectors = rows.T
    first = np.argsort(-values, kind="stable")[:count]
    kept = first[values[first] > MIN_VALUE]
    return np.asarray(table @ (vectors[:, kept] / values[kept]))


def _kmeans(points: Floats, n_clusters: int, rng: np.random.Generator) -> Codes:
    """Return the cluster of each point: the best of several runs of Lloyd's algorithm.

    Centres are started by k-means++, and computed from a sample of many points.
    """
    step = -(-len(points) // MAX_KMEANS_ITEMS)
    sample = points[::step]
    runs = [_lloyd(sample, _spread_centres(sample, n_clusters, rng)) for _ in range(KMEANS_STARTS)]
    centres, _ = min(runs, key=lambda run: run[1])
    return np.asarray(_squared_distances(points, centres).argmin(axis=1))


def _spread_centres(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Draw centres in proportion to the squared distance from earlier ones (k-means++)."""
    centres = [points[rng.integers(len(points))]]
    nearest = np.full(len(points), np.inf)
    for _ in range(count - 1):
        nearest = np.minimum(nearest, ((points - centres[-1]) ** 2).sum(axis=1))
        total = nearest.sum()
        chances = nearest / total if total > 0 else np.full(len(points), 1 / len(points))
        centres.append(points[rng.choice(len(points), p=chances)])
    return np.array(centres)


def _lloyd(points: Floats, centres: Floats) -> tuple[Floats, float]:
    """Return centres, and the sum of squared distances from them."""
    codes = np.full(len(points), -1)
    for _ in range(KMEANS_ITERATIONS):
        last, codes = codes, _squared_distances(points, centres).argmin(axis=1)
        if np.array_equal(last, codes):
            break
        for k in range(len(centres)):
            if np.any(codes == k):
                centres[k] = points[codes == k].mean(axis=0)
    return centres, float(_squared_distances(points, centres).min(axis=1).sum())


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.asarray(squares - 2 * np.einsum("nd,kd->nk", points, centres))
