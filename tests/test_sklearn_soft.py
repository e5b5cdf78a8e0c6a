"""``BlindVotingClassifier(voting="soft")``: weights from out-of-fold predictions, or a vote."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from blindfuse.sklearn import BlindVotingClassifier
from blindfuse.sklearn.opinion_pool import (
    FLOOR,
    _fit_weights,
    _logs,
    fit_opinion_pool,
    vote_shares,
)

Array = NDArray[Any]


class PairClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Reports the probabilities in K columns of X, so that X is the table of probabilities."""

    def __init__(self, first: int = 0, n_classes: int = 2) -> None:
        self.first = first
        self.n_classes = n_classes

    def fit(self, X: Array, y: Array) -> "PairClassifier":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(X[:, self.first : self.first + self.n_classes])

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def classifiers() -> list[tuple[str, Any]]:
    return [
        ("lr", LogisticRegression(max_iter=2000)),
        ("nb", GaussianNB()),
        ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
        ("knn", KNeighborsClassifier()),
    ]


def draw_probabilities(
    n_items: int, noise: list[float], seed: int, n_classes: int = 3
) -> tuple[Array, Array]:
    """Truth, and probabilities ``[item, classifier, class]`` of classifiers with noisy scores."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    scores = 2 * np.eye(n_classes)[truth][:, None] + np.array(noise)[:, None] * rng.normal(
        size=(n_items, len(noise), n_classes)
    )
    powers = np.exp(scores)
    return powers / powers.sum(axis=2, keepdims=True), truth


@pytest.mark.parametrize("seed", range(2))
def test_good_classifiers_get_large_weights(seed: int) -> None:
    noise = [0.5, 0.5, 4.0, 4.0, 4.0, 4.0, 4.0]
    probabilities, truth = draw_probabilities(2000, noise, seed)
    pool = fit_opinion_pool(probabilities[:600], truth[:600])
    assert pool.name == "OpinionPool"
    assert pool.weights is not None
    assert pool.weights[1:3].min() > 3 * pool.weights[3:].max()
    wrong = [
        np.mean(each.argmax(axis=1) != truth[600:])
        for each in (
            pool.posteriors(probabilities[600:]),
            vote_shares(probabilities[600:], "SoftVote"),
            vote_shares(probabilities[600:], "MajorityVote"),
        )
    ]
    assert wrong[0] < 0.5 * min(wrong[1:])
    confidence = pool.posteriors(probabilities[600:]).max(axis=1)
    assert abs(confidence.mean() - (1 - wrong[0])) < 0.03


@pytest.mark.parametrize(
    ("n_items", "noise", "why"),
    [
        (40, [2.0] * 9, "less than 2 standard errors"),
        (9, [1.0, 2.0, 3.0], "the fewest of hard and soft votes."),
        (400, [0.0] * 3, "less than 2 standard errors"),
    ],
    ids=["few labels", "very few labels", "classifiers without errors"],
)
def test_the_vote_is_kept(n_items: int, noise: list[float], why: str) -> None:
    probabilities, truth = draw_probabilities(n_items, noise, 0)
    pool = fit_opinion_pool(probabilities, truth)
    assert pool.name == pool.vote
    assert why in pool.why
    np.testing.assert_array_equal(
        pool.posteriors(probabilities), vote_shares(probabilities, pool.vote)
    )
    unrelated = np.random.default_rng(1).integers(3, size=n_items)
    assert fit_opinion_pool(probabilities, unrelated).name != "OpinionPool"


@pytest.mark.parametrize("ridge", [1.0, 100.0])
def test_weights_minimise_the_penalised_log_loss(ridge: float) -> None:
    probabilities, truth = draw_probabilities(300, [1.0, 2.0, 3.0], 2)
    logs = _logs(probabilities, "SoftVote")
    weights = _fit_weights(logs, truth, ridge, np.array([1.0, 0, 0, 0]))
    mean = probabilities.mean(axis=1)
    stacked = np.log(np.clip(np.concatenate([mean[:, None], probabilities], 1), FLOOR, None))

    def loss(w: Array) -> float:
        total = 0.0
        for item in range(len(truth)):
            scores = w @ stacked[item]
            total += np.log(np.exp(scores).sum()) - scores[truth[item]]
        return float(total + ridge / 2 * (w[1:] ** 2).sum() + 1e-3 / 2 * (w[0] - 1) ** 2)

    found = minimize(loss, np.full(4, 0.5), bounds=[(0, None)] * 4, tol=1e-10)
    assert loss(weights) <= found.fun + 1e-4
    np.testing.assert_allclose(weights, found.x, atol=0.02)


def test_the_majority_vote_breaks_ties_by_probabilities() -> None:
    probabilities = np.array([[[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8], [0.7, 0.3]]])
    shares = vote_shares(probabilities, "MajorityVote")
    assert shares.argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize("seed", range(2))
def test_weighted_probabilities_beat_both_votes_on_digits(seed: int) -> None:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:400], order[400:]
    members = classifiers()
    blind = BlindVotingClassifier(members, voting="soft").fit(X[train], y[train])
    votes = [
        VotingClassifier(members, voting=kind).fit(X[train], y[train]).score(X[test], y[test])
        for kind in ("hard", "soft")
    ]
    assert blind.method_ == "OpinionPool"
    assert "reduce its log-loss" in blind.why_
    assert blind.score(X[test], y[test]) > max(votes)
    before = blind.predict_proba(X[test])
    adapted = pickle.loads(pickle.dumps(blind)).adapt(X[test])
    assert adapted.fusion_.responses.n_items == len(test)
    if adapted.method_ == "OpinionPool":  # weights come from labelled items only
        np.testing.assert_array_equal(adapted.predict_proba(X[test]), before)


def test_labels_do_not_depend_on_the_batch_and_classes_keep_their_names() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    blind = BlindVotingClassifier(classifiers(), voting="soft").fit(X[::2], names[::2])
    alone = np.concatenate([blind.predict_proba(X[[i]]) for i in range(20)])
    np.testing.assert_allclose(alone, blind.predict_proba(X)[:20], atol=1e-12)
    assert set(blind.predict(X)) <= set("abc")
    assert clone(blind).get_params()["voting"] == "soft"


def test_members_without_probabilities_count_with_their_class() -> None:
    X, y = load_iris(return_X_y=True)
    members = [("ridge", RidgeClassifier()), *classifiers()]
    blind = BlindVotingClassifier(members, voting="soft").fit(X, y)
    table = blind.transform(X).reshape(len(X), 5, 3)
    np.testing.assert_array_equal(table[:, 0], np.eye(3)[blind.estimators_[0].predict(X)])
    np.testing.assert_allclose(table[:, 1], blind.estimators_[1].predict_proba(X))
    assert blind.score(X, y) > 0.9


def test_the_blind_fusion_is_used_where_it_has_fewer_errors() -> None:
    noise = [1.0] * 3 + [6.0] * 8
    probabilities, truth = draw_probabilities(3000, noise, 5, n_classes=2)
    X = probabilities.reshape(3000, -1)
    members = [(f"m{m}", PairClassifier(2 * m)) for m in range(len(noise))]
    blind = BlindVotingClassifier(members, voting="soft", cv=2).fit(X[:1500], truth[:1500])
    vote, fused = (
        blind._losses(blind._predicted(blind._held_out, name))
        for name in (blind._pool.name, blind.fusion_.method)
    )
    better = np.sum(vote - fused) > 2 * np.sqrt(np.sum(vote != fused))
    is_vote = blind.fusion_.method == "MajorityVote"
    assert (blind.method_ == blind.fusion_.method) == (better and not is_vote)


class DoubledClassifier(PairClassifier):
    """Reports probabilities that sum to two or to zero, or are no numbers, for some items."""

    def predict_proba(self, X: Array) -> Array:
        values = super().predict_proba(X).copy()
        values[::3] *= 2
        values[1::7] = 0
        values[2::7] = np.nan
        return values


def test_probabilities_are_normalised() -> None:
    probabilities, truth = draw_probabilities(300, [1.0, 1.0, 1.0], 0, n_classes=2)
    X = probabilities.reshape(300, -1)
    members = [("odd", DoubledClassifier(0)), ("a", PairClassifier(2)), ("b", PairClassifier(4))]
    blind = BlindVotingClassifier(members, voting="soft", cv=2).fit(X, truth)
    table = blind.transform(X).reshape(300, 3, 2)
    np.testing.assert_allclose(table.sum(axis=2), 1)
    np.testing.assert_allclose(table[1::7, 0], 0.5)
    np.testing.assert_allclose(table[3, 0], probabilities[3, 0])
    assert np.isfinite(blind.predict_proba(X)).all()
