"""Write the labels of ``blindfuse demo``: weak classifiers of scikit-learn's breast tumours.

    python tools/tumours.py

The package ships the file, so that the demo needs neither scikit-learn nor training.
"""

import csv
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from blindfuse.typing import Codes, Flags, Floats

TUMOURS = Path(__file__).parents[1] / "src" / "blindfuse" / "datasets" / "tumours.csv"
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "neighbours": KNeighborsClassifier(n_neighbors=3),
    "naive Bayes": GaussianNB(),
}
"""The unfitted model of each type of classifier; there are ten of each."""
N_GUESSERS = 6


def label_tumours(seed: int = 0) -> list[list[str]]:
    """Return a header and a row per tumour: its true class, and what each annotator reported.

    The annotators are 30 weak classifiers and 6 guessers.
    Each classifier is trained on its own 4 to 20 tumours, half per class, and three of 30
    measurements, and labels a random fifth or so of the other tumours; a guesser reports a random
    class.
    """
    rng = np.random.default_rng(seed)
    data = load_breast_cancer()
    features = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    truth = data.target.astype(np.intp)
    sizes = np.linspace(4, 20, 10).round().astype(int).tolist()
    members = [
        (f"{kind} {number:02}", model, size)
        for kind, model in CLASSIFIERS.items()
        for number, size in enumerate(sizes, start=1)
    ]
    members += [(f"guesser {number}", None, 0) for number in range(1, N_GUESSERS + 1)]
    trained = np.column_stack([_draw_rows(size, truth, rng) for _, _, size in members])
    assigned = _assign_items(trained, rng)
    labels = np.zeros(assigned.shape, dtype=np.intp)
    for m, (_, model, _) in enumerate(members):
        rows = assigned[:, m]
        if model is None:
            labels[rows, m] = rng.integers(2, size=np.count_nonzero(rows))
        else:
            seen = features[:, rng.choice(features.shape[1], 3, replace=False)]
            fitted = clone(model).fit(seen[trained[:, m]], truth[trained[:, m]])
            labels[rows, m] = fitted.predict(seen[rows])
    names = data.target_names
    cells = np.where(assigned, names[labels], "")
    header = ["tumour", "truth", *(name for name, _, _ in members)]
    columns = (np.arange(len(truth)).astype(str), names[truth], *cells.T)
    return [header, *map(list, zip(*columns, strict=True))]


def _draw_rows(number: int, truth: Codes, rng: np.random.Generator) -> Flags:
    """Whether an annotator is trained on each item: equally many items of both classes."""
    drawn = np.zeros(len(truth), dtype=bool)
    for k in range(2):
        drawn[rng.choice(np.flatnonzero(truth == k), number // 2, replace=False)] = True
    return drawn


def _assign_items(trained: Flags, rng: np.random.Generator) -> Flags:
    """``assigned[item, annotator]``: whether the annotator labels the item.

    Annotators label 15 to 25 % of the items at random, but none that they were trained on; items
    that would get fewer than three responses are given to more annotators, chosen at random.
    """
    n_items, n_annotators = trained.shape
    sizes = np.round(n_items * rng.uniform(0.15, 0.25, size=n_annotators))
    draws = np.where(trained, np.inf, rng.random(trained.shape))
    turns = _ranks(draws, axis=0) / sizes
    return np.asarray((turns < 1) | (_ranks(turns, axis=1) < 3))


def _ranks(values: Floats, axis: int) -> Codes:
    return np.asarray(values.argsort(axis=axis, kind="stable").argsort(axis=axis))


if __name__ == "__main__":
    with TUMOURS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(label_tumours())
