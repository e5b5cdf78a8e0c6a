"""Section V-B: fifteen classifiers, each trained on its own small subset, label a whole dataset.

The paper uses MATLAB's classifiers; these are scikit-learn's of the same three families, so errors
compare in shape and rank, not digit by digit. Labels are kept in the dataset cache, because
training takes minutes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from blindfuse import Responses
from blindfuse.datasets import Crowd, load_features
from blindfuse.files import atomic_paths, cache_folder
from experiments.svm import FastSVC

SUBSETS = {
    "mnist": 2_000,
    "covtype": 1_000,
    "poker_synthetic": 10_000,
    "connect4": 300,
    "magic": 100,
    "dota2": 5_000,
}
"""Number of rows that each classifier is trained on, as in the paper."""

FULL_ROWS = {
    "mnist": 70_000,
    "covtype": 581_012,
    "poker_synthetic": 971_186,
    "connect4": 67_557,
    "magic": 19_020,
    "dota2": 102_944,
}
"""Rows of each dataset; for poker, those of its three largest classes."""

LARGEST_CLASSES = {"poker_synthetic": 3}
"""Datasets of which the paper keeps only this number of classes, the most common ones."""


def classifiers() -> dict[str, Any]:
    """Return six nearest-neighbour classifiers, four support vector machines and five trees."""
    neighbours = {
        f"{k}-nearest {metric}": KNeighborsClassifier(k, metric=metric, n_jobs=-1)
        for k in (1, 3, 7)
        for metric in ("euclidean", "manhattan")
    }
    svms = {
        f"svm {kernel}": FastSVC(kernel=kernel) for kernel in ("linear", "poly", "rbf", "sigmoid")
    }
    trees = {
        f"tree depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=depth)
        for depth in (3, 4, 6, 8, 12)
    }
    return neighbours | svms | trees


def train_and_label(
    features: NDArray[Any], truth: NDArray[Any], subset: int, rng: np.random.Generator
) -> Responses:
    """Train each classifier on its own random ``subset`` of rows, and label all rows with it."""
    columns = {}
    for name, classifier in classifiers().items():
        chosen = rng.choice(len(features), subset, replace=False)
        pipeline = make_pipeline(StandardScaler(), classifier)
        columns[name] = pipeline.fit(features[chosen], truth[chosen]).predict(features)
    matrix = np.stack(list(columns.values()), axis=1)
    return Responses.from_matrix(matrix, annotators=list(columns), classes=np.unique(truth))


def label_dataset(name: str, seed: int, rows: int | None = None, folder: Any = None) -> Crowd:
    """Return the labels of all classifiers for a dataset, or for a random sample of its rows.

    The labels are cached; ``name`` is a key of :data:`SUBSETS`.
    """
    path = cache_folder() / f"{name}-{rows or 'all'}-{seed}.npz"
    if not path.exists():
        crowd = _train(name, seed, rows, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_paths(path) as (temporary,), temporary.open("wb") as file:
            np.savez_compressed(
                file,
                matrix=crowd.responses.matrix(),
                truth=crowd.truth,
                classes=crowd.responses.classes,
            )
    with np.load(path, allow_pickle=False) as stored:
        responses = Responses.from_matrix(
            stored["classes"][stored["matrix"]],
            annotators=list(classifiers()),
            classes=stored["classes"],
        )
        return Crowd(name, responses, stored["truth"])


def _train(name: str, seed: int, rows: int | None, folder: Any) -> Crowd:
    features, classes = load_features(name, folder)
    rng = np.random.default_rng([seed, len(features)])
    largest = _largest_classes(classes, LARGEST_CLASSES.get(name))
    chosen = np.flatnonzero(np.isin(classes, largest))
    if rows is not None:
        chosen = np.sort(rng.choice(chosen, min(rows, len(chosen)), replace=False))
    responses = train_and_label(features[chosen], classes[chosen], SUBSETS[name], rng)
    return Crowd(name, responses, np.searchsorted(responses.classes, classes[chosen]))


def _largest_classes(classes: NDArray[Any], count: int | None) -> NDArray[Any]:
    values, sizes = np.unique(classes, return_counts=True)
    return np.asarray(values[np.argsort(-sizes, kind="stable")[:count]])
