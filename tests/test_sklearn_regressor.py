"""``BlindVotingRegressor``: better predictions than the mean."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import VotingRegressor

from blindfuse import simulate_numbers
from blindfuse.sklearn import BlindVotingRegressor

Array = NDArray[Any]


class ColumnRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the values of one column, so that X is the table of ratings."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Array, y: Array) -> "ColumnRegressor":
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Array) -> Array:
        return np.asarray(X[:, self.column])


def columns(count: int) -> list[tuple[str, Any]]:
    return [(f"c{column}", ColumnRegressor(column)) for column in range(count)]


def test_noisy_regressors_count_less_than_in_the_mean() -> None:
    rng = np.random.default_rng(0)
    noise, y = np.array([0.4, 0.5, 0.6, 0.8, 2, 2, 3, 3]), rng.normal(size=1200)
    X = y[:, None] + noise * rng.normal(size=(1200, 8))
    blind = BlindVotingRegressor(columns(8)).fit(X[:800], y[:800])
    voting = VotingRegressor(columns(8)).fit(X[:800], y[:800])
    assert "factor" in blind.method_
    assert "Out-of-fold mean squared error on 800 training items" in blind.why_
    errors = [np.mean((model.predict(X[800:]) - y[800:]) ** 2) for model in (blind, voting)]
    oracle = 1 / (1 + (noise**-2.0).sum())
    assert errors[0] < 1.25 * oracle < 0.5 * errors[1]
    np.testing.assert_allclose(
        blind.predict(X[800:]), [blind.predict(X[n : n + 1])[0] for n in range(800, 1200)]
    )


def test_the_mean_is_used_where_regressors_are_alike() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=300)
    X = y[:, None] + rng.normal(size=(300, 4))
    blind = BlindVotingRegressor(columns(4)).fit(X, y)
    assert blind.method_ == "mean"
    np.testing.assert_allclose(blind.predict(X), X.mean(axis=1))


def test_adapt_fuses_unlabelled_items_and_dropped_regressors_are_left_out() -> None:
    drawn = simulate_numbers(2000, 6, missing=0, useless=0.3, reversed_share=0, seed=2)
    X, y = drawn.numbers.matrix(), drawn.truth
    blind = BlindVotingRegressor([*columns(5), ("none", "drop")]).fit(X[:200], y[:200])
    assert blind.fusion_.numbers.annotators.tolist() == [f"c{m}" for m in range(5)]
    blind.adapt(X[200:])
    assert blind.fusion_.numbers.n_items == 1800
    clone(blind)


def test_two_regressors_are_averaged() -> None:
    X = np.random.default_rng(3).normal(size=(60, 2))
    blind = BlindVotingRegressor(columns(2)).fit(X, X.sum(axis=1))
    assert blind.method_ == "mean"
    assert "do not agree beyond chance" in blind.why_
    with pytest.raises(ValueError, match="estimators"):
        BlindVotingRegressor([]).fit(X, X[:, 0])
