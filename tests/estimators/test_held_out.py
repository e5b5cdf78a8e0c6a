"""Prediction of held-out responses."""

from typing import Any

import numpy as np
import pytest

from blindfuse import (
    Responses,
    simulate,
)
from blindfuse.estimators.held_out import FOLDS, Gain, HeldOut, HeldOutScores, LatentFit


def test_predictions_by_hand() -> None:
    """Two constant models, whose log-probabilities can be looked up."""
    responses = simulate(200, 5, 2, np.random.default_rng(0), missing=0.2).responses

    def constant(yes: float) -> Any:
        def fit(train: Responses) -> LatentFit:
            assert train.n_items == 200
            assert train.n_responses < responses.n_responses
            return LatentFit(np.ones((200, 1)), np.tile([[1 - yes], [yes]], (5, 1, 1)))

        return fit

    held = HeldOut(responses)
    half, most = held.predict(constant(0.5)), held.predict(constant(0.8))
    ones = np.mean(responses.by_item.symbols == 1)
    expected = np.log(0.5) - ones * np.log(0.8) - (1 - ones) * np.log(0.2)
    gain = held.gain(half, over=most)
    assert gain.mean == pytest.approx(expected)
    items = np.concatenate([cells[0] for _, cells in half.folds])
    differences = np.concatenate(half.scores) - np.concatenate(most.scores)
    assert len(differences) == responses.n_responses
    per_item = np.bincount(items, differences)
    error = np.sqrt(np.sum((per_item - per_item.mean()) ** 2)) / responses.n_responses
    assert gain.error == pytest.approx(error)
    assert held.gain(half, over=half).z == 0


def test_the_true_model_predicts_best() -> None:
    simulation = simulate(3000, 6, 3, np.random.default_rng(2), missing=0.2)
    flat = np.full((6, 3, 3), 1 / 3)

    def truth(train: Responses) -> LatentFit:
        return LatentFit(simulation.model.posteriors(train), simulation.model.confusions)

    def guess(train: Responses) -> LatentFit:
        return LatentFit(np.ones((train.n_items, 3)) / 3, flat)

    held = HeldOut(simulation.responses)
    knows, guesses = held.predict(truth), held.predict(guess)
    assert held.gain(knows, over=guesses).z > 10
    assert len(knows.scores) == 1


@pytest.mark.parametrize("count", range(1, 10))
def test_no_fold_is_empty_however_few_responses_there_are(count: int) -> None:
    held = HeldOut(Responses.from_matrix(np.arange(count)[None] % 2, classes=[0, 1]))
    even = held.predict(lambda train: LatentFit(np.ones((1, 1)), np.full((count, 2, 1), 0.5)))
    assert held.gain(even, over=even) == Gain(0.0, 0.0)
    assert sum(map(len, even.scores)) == count
    assert all(len(scores) for scores in even.scores)


def test_models_that_clearly_differ_are_fitted_to_one_fold_and_others_to_all() -> None:
    simulation = simulate(3000, 6, 3, np.random.default_rng(2), missing=0.2)
    held = HeldOut(simulation.responses)

    def fit(quality: float) -> Any:
        mixed = quality * simulation.model.confusions + (1 - quality) / 3
        return lambda train: LatentFit(simulation.model.posteriors(train), mixed)

    good, bad = held.predict(fit(1.0)), held.predict(fit(0.3))
    assert held.gain(bad, over=good).z < -5
    assert len(bad.scores) == len(good.scores) == 1
    assert held.gain(good, over=bad).z > 5
    assert len(bad.scores) == len(good.scores) == 1
    similar = held.predict(fit(0.99))
    assert abs(held.gain(similar, over=good).z) < 5
    assert len(similar.scores) == len(good.scores) == FOLDS


def test_a_model_without_any_gain_is_not_fitted_to_other_folds() -> None:
    simulation = simulate(3000, 6, 3, np.random.default_rng(2), missing=0.2)
    held = HeldOut(simulation.responses)

    def predict(quality: float) -> HeldOutScores:
        mixed = quality * simulation.model.confusions + (1 - quality) / 3
        return held.predict(lambda train: LatentFit(simulation.model.posteriors(train), mixed))

    good, worse, bad = map(predict, (1.0, 0.97, 0.3))
    assert not held.is_better(worse, good, 2.0)
    assert len(worse.scores) == len(good.scores) == 1
    assert held.is_better(good, bad, 2.0)
    assert len(good.scores) == 1
    assert held.is_better(good, worse, 2.0) == (held.gain(good, over=worse).z > 2)
