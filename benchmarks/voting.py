"""BlindVotingClassifier and scikit-learn's VotingClassifier on the same classifiers."""

import warnings
from collections.abc import Callable
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from blindfuse.datasets import load_features
from blindfuse.sklearn import BlindVotingClassifier
from report import Check, Section
from trust import has_data

Data = tuple[NDArray[Any], NDArray[Any]]
Ensemble = list[tuple[str, Any]]

SEEDS = 3
LABELLED = (100, 400)
"""Numbers of labelled items."""
VIEWS = 8
"""Number of disjoint feature sets."""


def synthetic(seed: int) -> Data:
    features, truth = make_classification(
        4000, 24, n_informative=16, n_redundant=0, n_classes=5, random_state=seed
    )
    return features, truth


def sampled(name: str) -> Callable[[int], Data]:
    """Return a function that samples 4,000 rows of a dataset, without rare classes."""

    def sample(seed: int) -> Data:
        features, classes = load_features(name)
        rows = np.random.default_rng(seed).choice(len(features), 4000, replace=False)
        values, sizes = np.unique(classes[rows], return_counts=True)
        rows = rows[np.isin(classes[rows], values[sizes >= 100])]
        return features[rows], classes[rows]

    return sample


def datasets() -> dict[str, Callable[[int], Data]]:
    loaders: dict[str, Callable[[int], Data]] = {
        "digits": lambda seed: load_digits(return_X_y=True),
        "breast cancer": lambda seed: load_breast_cancer(return_X_y=True),
        "synthetic, K = 5": synthetic,
    }
    return loaders | ({name: sampled(name) for name in ("covtype", "magic")} if has_data() else {})


def shared_features(n_features: int, seed: int) -> Ensemble:
    """Return classifiers that see all features."""
    classifiers = {
        "logistic": LogisticRegression(max_iter=1000),
        "bayes": GaussianNB(var_smoothing=0.01),
        "neighbours": KNeighborsClassifier(),
        "svm": SVC(),
        "stump": DecisionTreeClassifier(max_depth=2, random_state=0),
        "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    }
    return [(name, make_pipeline(StandardScaler(), each)) for name, each in classifiers.items()]


def disjoint_features(n_features: int, seed: int) -> Ensemble:
    """Return classifiers that see disjoint sets of features."""
    classifiers = [
        LogisticRegression(max_iter=1000),
        KNeighborsClassifier(),
        DecisionTreeClassifier(max_depth=6, random_state=0),
    ]
    views = np.array_split(np.random.default_rng(seed).permutation(n_features), VIEWS)
    return [
        (
            f"view {i}",
            make_pipeline(
                ColumnTransformer([("seen", StandardScaler(), view)]),
                classifiers[i % len(classifiers)],
            ),
        )
        for i, view in enumerate(views)
    ]


def classifiers() -> Section:
    """Errors on unseen items after fit, and after adapt to the same number of unlabelled items."""
    section = Section(
        f'BlindVotingClassifier and VotingClassifier(voting="hard"), mean of {SEEDS} seeds',
        ["dataset", "features", "labelled", "vote %", "after fit %", "after adapt %", "worst seed"],
        note=(
            "Six classifiers that share all features, or eight with disjoint features. Half of the "
            "other items are unlabelled and used by adapt, half are scored. Worst seed: the "
            "largest excess over the vote after adapt, in points."
        ),
    )
    excess: dict[str, list[float]] = {"shared": [], "disjoint": []}
    for name, load in datasets().items():
        for features, ensemble in (("shared", shared_features), ("disjoint", disjoint_features)):
            for labelled in LABELLED:
                errors = np.array([_errors(load, ensemble, labelled, s) for s in range(SEEDS)])
                vote, fit, adapt = errors.mean(axis=0)
                worst = np.max(errors[:, 2] - errors[:, 0])
                section.rows.append(
                    [name, features, f"{labelled}"]
                    + [f"{100 * value:.1f}" for value in (vote, fit, adapt)]
                    + [f"{100 * worst:+.1f}"]
                )
                excess[features].append(100 * (adapt - vote))
    section.checks = [
        check
        for name, points in excess.items()
        for check in (
            Check(f"{name} features: mean excess over the vote, points", fmean(points), 0.0),
            Check(f"{name} features: largest mean excess, points", max(points), 0.5),
        )
    ]
    return section


def _errors(
    load: Callable[[int], Data],
    ensemble: Callable[[int, int], Ensemble],
    labelled: int,
    seed: int,
) -> tuple[float, float, float]:
    X, y = load(seed)
    X, rest, y, other = train_test_split(X, y, train_size=labelled, stratify=y, random_state=seed)
    unlabelled, unseen, _, truth = train_test_split(rest, other, test_size=0.5, random_state=seed)
    members = ensemble(X.shape[1], seed)
    vote = VotingClassifier(members).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        blind = BlindVotingClassifier(members).fit(X, y)
    after_fit = 1 - blind.score(unseen, truth)
    return (
        1 - vote.score(unseen, truth),
        after_fit,
        1 - blind.adapt(unlabelled).score(unseen, truth),
    )
