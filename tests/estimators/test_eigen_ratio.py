"""EigenRatio."""

import numpy as np
import pytest

from blindfuse import EigenRatio
from blindfuse.metrics import error_rate
from tests.conftest import Crowds
from tests.estimators.crowds import crowd_with_adversaries, one_coin_matrix


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_weights_rank_annotators_by_accuracy(seed: int, missing: float) -> None:
    matrix, accuracy = one_coin_matrix(seed, missing)
    weights = EigenRatio().fit(matrix).weights_
    np.testing.assert_array_equal(np.argsort(weights), np.argsort(accuracy))


def test_adversaries_have_negative_weights() -> None:
    simulation = crowd_with_adversaries()
    fitted = EigenRatio().fit(simulation.responses)
    assert np.all(fitted.weights_[:5] > 0)
    assert np.all(fitted.weights_[5:] < 0)
    assert error_rate(fitted.posteriors_, simulation.truth) < 0.05


@pytest.mark.parametrize(("name", "percent"), [("bird", 27.78), ("rte", 9.00)])
def test_published_errors(crowds: Crowds, name: str, percent: float) -> None:
    crowd = crowds[name]
    posteriors = EigenRatio().fit(crowd.responses).posteriors_
    assert 100 * error_rate(posteriors, crowd.truth) == pytest.approx(percent, abs=0.15)
