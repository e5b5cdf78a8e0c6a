"""A crowd of weak classifiers that label scikit-learn's bundled handwritten digits.

Nothing is downloaded, and the truth is known, so the fused labels can be compared with it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from blindfuse.datasets.loading import Crowd
from blindfuse.responses.responses import Responses

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

N_CLASSES = 10
CLASSIFIERS = (
    ("tree", 14, DecisionTreeClassifier(random_state=0)),
    ("neighbours", 13, KNeighborsClassifier(n_neighbors=3)),
    ("svm", 13, SVC()),
)
"""Type, number of classifiers of this type, and the unfitted model."""
N_GUESSERS = 3

TRAINING_ROWS = 30, 150
"""Rows that the first and the last classifier of each type are trained on."""
PIXEL_SHARE = 1 / 3
"""Share of the pixels that a classifier sees."""
ITEM_SHARES = 0.15, 0.20
"""Bounds of the share of the items that an annotator labels."""
MIN_RESPONSES = 5
"""Every item gets at least this many responses."""
MISSING = -1


class _Annotator(NamedTuple):
    """The model is None for a guesser, which needs no training rows."""

    name: str
    model: Any
    n_training_rows: int


def digits_crowd(seed: int = 0) -> Crowd:
    """Make a crowd of 40 weak classifiers and 3 guessers that label 1,797 images of digits.

    Each classifier is trained on its own few rows and a random third of the pixels, and labels a
    random sixth or so of the other rows; a guesser reports a random class.
    """
    rng = np.random.default_rng(seed)
    pixels, truth = load_digits(return_X_y=True)
    annotators = _annotators()
    trained = _draw_training_rows(annotators, len(truth), rng)
    assigned = _assign_items(trained, rng)
    matrix = np.full(assigned.shape, MISSING)
    for m, annotator in enumerate(annotators):
        rows = assigned[:, m]
        matrix[rows, m] = _label(annotator.model, pixels, truth, trained[:, m], rows, rng)
    names = [annotator.name for annotator in annotators]
    responses = Responses.from_matrix(matrix, MISSING, annotators=names, classes=range(N_CLASSES))
    return Crowd("digits", responses, truth.astype(np.intp))


def _annotators() -> list[_Annotator]:
    classifiers = [
        _Annotator(f"{kind} {number:02}", model, round(n_rows))
        for kind, count, model in CLASSIFIERS
        for number, n_rows in enumerate(np.linspace(*TRAINING_ROWS, count), start=1)
    ]
    guessers = [_Annotator(f"guesser {number}", None, 0) for number in range(1, N_GUESSERS + 1)]
    return classifiers + guessers


def _draw_training_rows(
    annotators: list[_Annotator], n_items: int, rng: np.random.Generator
) -> Bools:
    """``trained[item, annotator]``: whether the annotator was trained on the item."""
    trained = np.zeros((n_items, len(annotators)), dtype=bool)
    for m, annotator in enumerate(annotators):
        trained[rng.choice(n_items, annotator.n_training_rows, replace=False), m] = True
    return trained


def _assign_items(trained: Bools, rng: np.random.Generator) -> Bools:
    """``assigned[item, annotator]``: whether the annotator labels the item.

    Annotators label items at random, but none that they were trained on; items that would get
    fewer than ``MIN_RESPONSES`` responses are given to more annotators, chosen at random.
    """
    n_items, n_annotators = trained.shape
    sizes = np.round(n_items * rng.uniform(*ITEM_SHARES, size=n_annotators))
    draws = np.where(trained, np.inf, rng.random(trained.shape))
    turns = _ranks(draws, axis=0) / sizes
    return np.asarray((turns < 1) | (_ranks(turns, axis=1) < MIN_RESPONSES))


def _ranks(values: NDArray[np.float64], axis: int) -> NDArray[np.intp]:
    return np.asarray(values.argsort(axis=axis, kind="stable").argsort(axis=axis))


def _label(
    model: Any,
    pixels: NDArray[np.float64],
    truth: Integers,
    trained: Bools,
    assigned: Bools,
    rng: np.random.Generator,
) -> Integers:
    """Classes that one annotator reports for the items assigned to it."""
    if model is None:
        return rng.integers(N_CLASSES, size=np.count_nonzero(assigned))
    n_pixels = pixels.shape[1]
    seen = rng.choice(n_pixels, round(PIXEL_SHARE * n_pixels), replace=False)
    fitted = clone(model).fit(pixels[trained][:, seen], truth[trained])
    return np.asarray(fitted.predict(pixels[assigned][:, seen]))
