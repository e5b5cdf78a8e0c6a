"""Prediction of held-out responses."""

from typing import Any

import numpy as np
import pytest

from blindfuse import Responses, simulate
from blindfuse.estimators.held_out import FOLDS, Gain, LatentFit, held_out_gain


def test_predictions_by_hand() -> None:
    """Two constant models, whose log-probabilities can be looked up."""
    responses = simulate(200, 5, 2, np.random.default_rng(0), missing=0.2).responses

    def constant(yes: float) -> Any:
        def fit(train: Responses) -> LatentFit:
            assert train.n_items == 200
            assert train.n_responses < responses.n_responses
            return LatentFit(np.ones((200, 1)), np.tile([[1 - yes], [yes]], (5, 1, 1)))

        return fit

    gain = held_out_gain(responses, constant(0.5), over=constant(0.6))
    is_one = responses.by_item.symbols == 1
    differences = np.log(0.5) - np.where(is_one, np.log(0.6), np.log(0.4))
    assert gain.mean == pytest.approx(differences.mean())
    per_item = np.bincount(responses.item_of_response(), differences)
    per_item = per_item[responses.responses_per_item > 0]
    error = np.sqrt(np.sum((per_item - per_item.mean()) ** 2)) / responses.n_responses
    assert gain.error == pytest.approx(error)
    assert held_out_gain(responses, constant(0.5), over=constant(0.5)).z == 0


@pytest.mark.parametrize("count", range(1, 10))
def test_no_fold_is_empty_however_few_responses_there_are(count: int) -> None:
    responses, trained = Responses.from_matrix(np.arange(count)[None] % 2, classes=[0, 1]), []

    def fit(train: Responses) -> LatentFit:
        trained.append(train.n_responses)
        return LatentFit(np.ones((1, 1)), np.full((count, 2, 1), 0.5))

    assert held_out_gain(responses, fit, over=fit) == Gain(0.0, 0.0)
    assert sum(count - n for n in trained) == 2 * count
    assert max(trained) < count


def test_models_that_clearly_differ_are_fitted_to_one_fold_and_others_to_all() -> None:
    simulation = simulate(3000, 6, 3, np.random.default_rng(2), missing=0.2)
    fits = []

    def fit(quality: float) -> Any:
        mixed = quality * simulation.model.confusions + (1 - quality) / 3

        def posteriors(train: Responses) -> LatentFit:
            fits.append(quality)
            return LatentFit(simulation.model.posteriors(train), mixed)

        return posteriors

    assert held_out_gain(simulation.responses, fit(0.3), over=fit(1.0)).z < -5
    assert held_out_gain(simulation.responses, fit(1.0), over=fit(0.3)).z > 5
    assert len(fits) == 4
    assert abs(held_out_gain(simulation.responses, fit(0.99), over=fit(1.0)).z) < 5
    assert len(fits) == 4 + 2 * FOLDS
