"""fuse_clusters and other methods of ensemble clustering on the same runs of k-means."""

import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
from ensembleclustering import ClusterEnsembles
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from blindfuse import fuse_clusters
from blindfuse.datasets import load_features
from report import Check, Section
from trust import has_data

Labels = NDArray[np.intp]
Data = tuple[NDArray[Any], Labels]

SEEDS = 10
RUNS = 15
SOLVERS = ("cspa", "hgpa", "mcla", "hbgf", "nmf")
MNIST_ROWS = 5_000
LARGE, LARGE_RUNS, LARGE_CLASSES = 100_000, 20, 10


def datasets() -> dict[str, Callable[[int], Data]]:
    """Return functions of a seed; wine has features of very different scales, so it is scaled."""
    loaders: dict[str, Callable[[int], Data]] = {
        "digits": lambda seed: load_digits(return_X_y=True),
        "wine": lambda seed: (
            StandardScaler().fit_transform(load_wine().data),
            load_wine().target,
        ),
        "iris": lambda seed: load_iris(return_X_y=True),
    }
    return loaders | ({"mnist": _sample_mnist} if has_data() else {})


def _sample_mnist(seed: int) -> Data:
    features, classes = load_features("mnist")
    rows = np.random.default_rng(seed).choice(len(features), MNIST_ROWS, replace=False)
    return features[rows].astype(np.float32), classes[rows]


def run_kmeans(features: NDArray[Any], n_classes: int, seed: int) -> Labels:
    """Return clusters ``[item, run]`` of random halves of the features, with 2 to 2K clusters."""
    rng, n_features = np.random.default_rng([seed, 7]), features.shape[1]
    columns = []
    for _ in range(RUNS):
        chosen = rng.choice(n_features, max(1, n_features // 2), replace=False)
        number = int(rng.integers(2, 2 * n_classes + 1))
        kmeans = KMeans(number, n_init=1, random_state=int(rng.integers(1 << 30)))
        columns.append(kmeans.fit_predict(features[:, chosen]))
    return np.stack(columns, axis=1)


def co_association(runs: Labels, n_classes: int, seed: int) -> Labels:
    """Spectral clustering of the share of runs that put two items into one cluster."""
    together = np.mean([run[:, None] == run for run in runs.T], axis=0)
    spectral = SpectralClustering(n_classes, affinity="precomputed", random_state=seed)
    return np.asarray(spectral.fit_predict(together))


def _as_metis(graph: Any) -> tuple[list[int], list[int], list[int]]:
    """Replace ensembleclustering's function of this purpose, which fails with current SciPy."""
    rows = csr_matrix(graph)
    rows.eliminate_zeros()
    return rows.indptr.tolist(), rows.indices.tolist(), rows.data.astype(int).tolist()


def solve(solver: str, runs: Labels, n_classes: int, seed: int) -> Labels:
    """Return the classes that a method of ensembleclustering finds."""
    ClusterEnsembles.to_pymetis_format = _as_metis
    table = runs.T.astype(float)
    return np.asarray(
        ClusterEnsembles.cluster_ensembles(table, n_classes, solver=solver, random_state=seed)
    )


def methods() -> dict[str, Callable[[Labels, int, int], Labels]]:
    peers: dict[str, Callable[[Labels, int, int], Labels]] = {
        solver.upper(): partial(solve, solver) for solver in SOLVERS
    }
    return {
        "fuse_clusters": lambda runs, K, seed: fuse_clusters(runs, K).labels,
        "spectral co-association": co_association,
        **peers,
    }


def kmeans_runs() -> Section:
    """Adjusted Rand index with the true classes, and the number of classes chosen blindly."""
    compared = methods()
    section = Section(
        f"Ensemble clustering: adjusted Rand index, {RUNS} runs of k-means, mean of {SEEDS} seeds",
        ["dataset", "K", "mean of the runs", *compared, "chosen K"],
        note=(
            "Every run sees a random half of the features and has 2 to 2K clusters. All methods "
            "are given K; chosen K is what fuse_clusters chooses without it. Capital letters are "
            f"the methods of ensembleclustering {version('ensembleclustering')}."
        ),
    )
    means = []
    for name, load in datasets().items():
        scores, chosen = [], []
        for seed in range(SEEDS):
            features, truth = load(seed)
            K = len(np.unique(truth))
            runs = run_kmeans(features, K, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [method(runs, K, seed) for method in compared.values()]
            single = fmean(adjusted_rand_score(truth, run) for run in runs.T)
            scores.append([single, *(adjusted_rand_score(truth, each) for each in found)])
            chosen.append(len(fuse_clusters(runs).model.classes))
        means.append(np.mean(scores, axis=0))
        scored = [f"{value:.3f}" for value in means[-1]]
        section.rows.append([name, f"{K}", *scored, f"{min(chosen)} to {max(chosen)}"])
    table = np.array(means)
    averages = table.mean(axis=0)
    section.rows.append(["mean", "", *(f"{value:.3f}" for value in averages), ""])
    section.checks = [
        Check(
            "smallest gain over the mean of the runs",
            float((table[:, 1] - table[:, 0]).min()),
            0.0,
            at_most=False,
        ),
        Check(
            "mean, against the best other method",
            float(averages[1]),
            float(averages[2:].max()),
            at_most=False,
        ),
    ]
    return section


def large() -> Section:
    """Time of the fusion of many items, against one run of k-means on them."""
    features, truth = make_blobs(
        LARGE, 20, centers=LARGE_CLASSES, cluster_std=1.5, center_box=(-2, 2), random_state=0
    )
    rng, columns, times = np.random.default_rng(0), [], []
    for run in range(LARGE_RUNS):
        chosen = rng.choice(20, 10, replace=False)
        number = int(rng.integers(LARGE_CLASSES, 2 * LARGE_CLASSES + 1))
        began = perf_counter()
        kmeans = KMeans(number, n_init=1, random_state=run)
        columns.append(kmeans.fit_predict(features[:, chosen]))
        times.append(perf_counter() - began)
    runs = np.stack(columns, axis=1)
    fuse_clusters(runs[:1000], LARGE_CLASSES)  # compile
    sizes = LARGE // 10, LARGE
    spent = []
    for size in sizes:
        began = perf_counter()
        labels = fuse_clusters(runs[:size], LARGE_CLASSES).labels
        spent.append(perf_counter() - began)
    section = Section(
        f"Ensemble clustering of {LARGE:,} items by {LARGE_RUNS} runs",
        ["items", "time / one run of k-means on all", "adjusted Rand index"],
        note=f"{LARGE_CLASSES} overlapping clusters in 20 dimensions; runs see ten of them.",
    )
    single = fmean(times)
    scores = ["", f"{adjusted_rand_score(truth, labels):.3f}"]
    section.rows = [
        [f"{size:,}", f"{time / single:.1f}", score]
        for size, time, score in zip(sizes, spent, scores, strict=True)
    ]
    section.checks = [Check("time / one run of k-means", spent[1] / single, 20.0)]
    return section
