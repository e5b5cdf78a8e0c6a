"""BlindVotingClassifier(voting="soft") and the hard and soft votes of the same classifiers."""

import warnings
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from blindfuse import Responses, fuse
from blindfuse.datasets import load_features
from blindfuse.model.posteriors import most_likely
from blindfuse.sklearn import BlindVotingClassifier
from experiments.trained_classifiers import LARGEST_CLASSES, SUBSETS
from report import Check, Section
from trust import has_data

Data = tuple[NDArray[Any], NDArray[Any]]
Floats = NDArray[np.float64]

SEEDS = 3
LABELLED = {"digits": 300} | SUBSETS
"""Rows that all classifiers are trained on; as many as the paper's classifiers have each."""
UNSEEN = 10_000
"""Rows that errors are measured on, and as many that adapt sees without labels."""


def classifiers() -> list[tuple[str, Any]]:
    """Return eleven classifiers of eleven families, all with ``predict_proba``."""
    members = {
        "logistic regression": LogisticRegression(max_iter=300),
        "discriminant analysis": LinearDiscriminantAnalysis(),
        "boosted stumps": AdaBoostClassifier(n_estimators=30, random_state=0),
        "normal naive Bayes": GaussianNB(),
        "binary naive Bayes": BernoulliNB(),
        "nearest centroid": NearestCentroid(),
        "5-nearest": KNeighborsClassifier(5),
        "tree depth 6": DecisionTreeClassifier(max_depth=6, random_state=0),
        "extra trees": ExtraTreesClassifier(30, random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
        "perceptron": MLPClassifier((30,), max_iter=60, random_state=0),
    }
    return [(name, make_pipeline(StandardScaler(), each)) for name, each in members.items()]


def load(name: str) -> Data:
    """Return features and classes; of poker hands, those of the three largest classes."""
    if name == "digits":
        features, classes = load_digits(return_X_y=True)
        return features, classes
    features, classes = load_features(name)
    values, sizes = np.unique(classes, return_counts=True)
    largest = values[np.argsort(-sizes, kind="stable")[: LARGEST_CLASSES.get(name)]]
    kept = np.isin(classes, largest)
    return features[kept].astype(np.float32), classes[kept]


def probabilities() -> Section:
    """Errors on unseen items after fit, and after adapt to unlabelled items."""
    section = Section(
        f'BlindVotingClassifier(voting="soft"), eleven classifiers, mean of {SEEDS} seeds',
        [
            *("dataset", "labelled", "hard vote %", "soft vote %", "blind %", "stacking %"),
            *("after fit %", "after adapt %", "against the better vote", "blind, against it"),
            "methods",
        ],
        note=(
            "All classifiers are trained on the same labelled rows, which also give, out of fold, "
            "the weights of their probabilities: BlindVotingClassifier and stacking use labels, "
            "the votes and the blind fusion do not. Blind is fuse of the probabilities of "
            "unlabelled rows (Responses.from_probabilities). Stacking is scikit-"
            "learn's logistic regression on the same out-of-fold probabilities. Errors are "
            "measured on rows that no classifier saw. The better vote is chosen per seed with the "
            "truth."
        ),
    )
    excess = []
    for name, labelled in LABELLED.items() if has_data() else [("digits", LABELLED["digits"])]:
        measured = [_measure(load(name), labelled, seed) for seed in range(SEEDS)]
        errors = np.array([each.errors for each in measured])
        better = errors[:, :2].min(axis=1)
        excess.append(fmean(errors[:, 5] - better))
        blind = f"{fmean(errors[:, 2] - better):+.2f}"
        used = ", ".join(sorted({each.method for each in measured}))
        shown = [f"{value:.1f}" for value in errors.mean(axis=0)]
        section.rows.append([name, f"{labelled:,}", *shown, f"{excess[-1]:+.2f}", blind, used])
    section.checks = [
        Check("largest mean excess over the better vote, points", max(excess), 0.3),
        Check("mean over datasets, points", fmean(excess), -0.4),
    ]
    return section


class Measured(NamedTuple):
    """Errors in percent of both votes, the blind fusion, stacking, and BlindVotingClassifier after
    fit and after adapt; and the method that it chose."""

    errors: list[float]
    method: str


def _measure(data: Data, labelled: int, seed: int) -> Measured:
    """Train on the first rows, adapt to the next, and measure errors on others."""
    X, y = data
    order = np.random.default_rng([seed, len(X)]).permutation(len(X))
    train, rest = order[:labelled], order[labelled:]
    half = min(UNSEEN, len(rest) // 2)
    unlabelled, unseen = rest[:half], rest[half : 2 * half]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blind = BlindVotingClassifier(classifiers(), voting="soft").fit(X[train], y[train])
    table, seen = (
        blind.transform(X[rows]).reshape(len(rows), -1, len(blind.classes_))
        for rows in (unseen, unlabelled)
    )
    votes = np.eye(len(blind.classes_))[table.argmax(axis=2)].sum(axis=1), table.mean(axis=1)
    errors = [np.mean(blind.classes_[vote.argmax(axis=1)] != y[unseen]) for vote in votes]
    errors.append(np.mean(blind.classes_[_fuse_blindly(seen, table)] != y[unseen]))
    stacked = LogisticRegression(max_iter=1000).fit(
        blind._held_out.reshape(labelled, -1), blind._truth
    )
    predicted = stacked.predict(table.reshape(len(table), -1))
    errors.append(np.mean(blind.classes_[predicted] != y[unseen]))
    errors.append(1 - blind.score(X[unseen], y[unseen]))
    errors.append(1 - blind.adapt(X[unlabelled]).score(X[unseen], y[unseen]))
    return Measured([100 * float(error) for error in errors], blind.method_)


def _fuse_blindly(seen: Floats, new: Floats) -> NDArray[np.intp]:
    """Classes of ``new[item, classifier, class]`` by the fusion of other items, without labels."""
    fusion = fuse(Responses.from_probabilities(seen))
    return most_likely(fusion.predict_proba(Responses.from_probabilities(new)))
