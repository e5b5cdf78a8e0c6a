"""Section V-B: fifteen classifiers, each trained on its own small subset, label a whole dataset.

The paper uses MATLAB's classifiers; these are scikit-learn's of the same three families, so errors
compare in shape and rank, not digit by digit. Labels are kept in the dataset cache, because
training takes minutes.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
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


Ensemble = Literal["paper", "mixed"]


def paper_classifiers() -> dict[str, Any]:
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


def mixed_classifiers() -> dict[str, Any]:
    """Return eleven classifiers of eleven families, which the paper does not use together."""
    return {
        "logistic regression": LogisticRegression(max_iter=300),
        "ridge": RidgeClassifier(),
        "discriminant analysis": LinearDiscriminantAnalysis(),
        "normal naive Bayes": GaussianNB(),
        "binary naive Bayes": BernoulliNB(),
        "nearest centroid": NearestCentroid(),
        "5-nearest": KNeighborsClassifier(5, n_jobs=-1),
        "tree depth 6": DecisionTreeClassifier(max_depth=6, random_state=0),
        "extra trees": ExtraTreesClassifier(30, random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
        "perceptron": MLPClassifier((30,), max_iter=60, random_state=0),
    }


ENSEMBLES: dict[Ensemble, Callable[[], dict[str, Any]]] = {
    "paper": paper_classifiers,
    "mixed": mixed_classifiers,
}


def train_and_label(
    features: NDArray[Any],
    truth: NDArray[Any],
    subset: int,
    rng: np.random.Generator,
    ensemble: Ensemble = "paper",
    labelled: NDArray[np.intp] | None = None,
) -> Responses:
    """Train each classifier on its own random ``subset`` of rows, and label all rows with it.

    If ``labelled`` rows are given, only those are labelled, and none of them is trained on.
    """
    trainable = np.arange(len(features))
    if labelled is not None:
        trainable = np.setdiff1d(trainable, labelled)
    rows = features if labelled is None else features[labelled]
    columns = {}
    for name, classifier in ENSEMBLES[ensemble]().items():
        chosen = rng.choice(trainable, min(subset, len(trainable)), replace=False)
        pipeline = make_pipeline(StandardScaler(), classifier)
        columns[name] = pipeline.fit(features[chosen], truth[chosen]).predict(rows)
    matrix = np.stack(list(columns.values()), axis=1)
    return Responses.from_matrix(matrix, annotators=list(columns), classes=np.unique(truth))


def label_dataset(
    name: str,
    seed: int,
    rows: int | None = None,
    folder: Any = None,
    ensemble: Ensemble = "paper",
    unseen: bool = False,
) -> Crowd:
    """Return the labels of all classifiers for a dataset, or for a random sample of its rows.

    The labels are cached; ``name`` is a key of :data:`SUBSETS`. With ``unseen``, no classifier was
    trained on any of the labelled rows.
    """
    kind = f"-{ensemble}-unseen" if unseen else ""
    path = cache_folder() / f"{name}-{rows or 'all'}-{seed}{kind}.npz"
    if not path.exists():
        crowd = _train(name, seed, rows, folder, ensemble, unseen)
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
            annotators=list(ENSEMBLES[ensemble]()),
            classes=stored["classes"],
        )
        return Crowd(name, responses, stored["truth"])


def _train(
    name: str, seed: int, rows: int | None, folder: Any, ensemble: Ensemble, unseen: bool
) -> Crowd:
    features, classes = load_features(name, folder)
    rng = np.random.default_rng([seed, len(features)])
    largest = _largest_classes(classes, LARGEST_CLASSES.get(name))
    kept = np.flatnonzero(np.isin(classes, largest))
    features, classes = features[kept], classes[kept]
    chosen = np.arange(len(features))
    if rows is not None:
        chosen = np.sort(rng.choice(chosen, min(rows, len(chosen) // (1 + unseen)), replace=False))
    if unseen:
        responses = train_and_label(features, classes, SUBSETS[name], rng, ensemble, chosen)
    else:
        responses = train_and_label(features[chosen], classes[chosen], SUBSETS[name], rng, ensemble)
    return Crowd(name, responses, np.searchsorted(responses.classes, classes[chosen]))


def _largest_classes(classes: NDArray[Any], count: int | None) -> NDArray[Any]:
    values, sizes = np.unique(classes, return_counts=True)
    return np.asarray(values[np.argsort(-sizes, kind="stable")[:count]])
