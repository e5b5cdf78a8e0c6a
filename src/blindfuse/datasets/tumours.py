"""A crowd of weak classifiers that label scikit-learn's bundled measurements of breast tumours.

Nothing is downloaded, and the truth is known, so the fused labels can be compared with it.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from blindfuse.datasets.loading import Crowd
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Flags, Floats

CLASSIFIERS = (
    ("tree", 10, DecisionTreeClassifier(random_state=0)),
    ("neighbours", 10, KNeighborsClassifier(n_neighbors=3)),
    ("naive Bayes", 10, GaussianNB()),
)
"""Type, number of classifiers of this type, and the unfitted model."""
N_GUESSERS = 6

TRAINING_ROWS = 4, 20
"""Tumours that the first and the last classifier of each type are trained on, half per class."""
N_MEASUREMENTS = 3
"""Measurements, of 30, that a classifier sees."""
ITEM_SHARES = 0.15, 0.25
"""Bounds of the share of the items that an annotator labels."""
MIN_RESPONSES = 3
"""Every item gets at least this many responses."""
MISSING = -1


class _Annotator(NamedTuple):
    """The model is None for a guesser, which needs no training rows."""

    name: str
    model: Any
    n_training_rows: int


def tumours_crowd(seed: int = 0) -> Crowd:
    """Make a crowd of 30 weak classifiers and 6 guessers that label 569 tumours.

    Each classifier is trained on its own few tumours and three of 30 measurements, and labels a
    random fifth or so of the other tumours; a guesser reports a random class.
    """
    rng = np.random.default_rng(seed)
    data = load_breast_cancer()
    features = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    truth = data.target.astype(np.intp)
    annotators = _annotators()
    trained = np.column_stack([_draw_rows(one.n_training_rows, truth, rng) for one in annotators])
    assigned = _assign_items(trained, rng)
    matrix = np.full(assigned.shape, MISSING)
    for m, annotator in enumerate(annotators):
        rows = assigned[:, m]
        matrix[rows, m] = _label(annotator.model, features, truth, trained[:, m], rows, rng)
    items, codes = np.nonzero(assigned)
    responses = Responses.from_codes(
        items,
        codes,
        matrix[assigned],
        items=range(len(truth)),
        annotators=[annotator.name for annotator in annotators],
        classes=data.target_names.tolist(),
    )
    return Crowd("tumours", responses, truth)


def _annotators() -> list[_Annotator]:
    classifiers = [
        _Annotator(f"{kind} {number:02}", model, round(n_rows))
        for kind, count, model in CLASSIFIERS
        for number, n_rows in enumerate(np.linspace(*TRAINING_ROWS, count), start=1)
    ]
    guessers = [_Annotator(f"guesser {number}", None, 0) for number in range(1, N_GUESSERS + 1)]
    return classifiers + guessers


def _draw_rows(number: int, truth: Codes, rng: np.random.Generator) -> Flags:
    """Whether an annotator is trained on each item: equally many items of both classes."""
    chosen = np.zeros(len(truth), dtype=bool)
    for k in range(2):
        chosen[rng.choice(np.flatnonzero(truth == k), number // 2, replace=False)] = True
    return chosen


def _assign_items(trained: Flags, rng: np.random.Generator) -> Flags:
    """``assigned[item, annotator]``: whether the annotator labels the item.

    Annotators label items at random, but none that they were trained on; items that would get
    fewer than ``MIN_RESPONSES`` responses are given to more annotators, chosen at random.
    """
    n_items, n_annotators = trained.shape
    sizes = np.round(n_items * rng.uniform(*ITEM_SHARES, size=n_annotators))
    draws = np.where(trained, np.inf, rng.random(trained.shape))
    turns = _ranks(draws, axis=0) / sizes
    return np.asarray((turns < 1) | (_ranks(turns, axis=1) < MIN_RESPONSES))


def _ranks(values: Floats, axis: int) -> Codes:
    return np.asarray(values.argsort(axis=axis, kind="stable").argsort(axis=axis))


def _label(
    model: Any,
    features: Floats,
    truth: Codes,
    trained: Flags,
    assigned: Flags,
    rng: np.random.Generator,
) -> Codes:
    """Classes that one annotator reports for the items assigned to it."""
    if model is None:
        return rng.integers(2, size=np.count_nonzero(assigned))
    seen = rng.choice(features.shape[1], N_MEASUREMENTS, replace=False)
    fitted = clone(model).fit(features[trained][:, seen], truth[trained])
    return np.asarray(fitted.predict(features[assigned][:, seen]))
