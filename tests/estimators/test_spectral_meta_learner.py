"""SpectralMetaLearner."""

import numpy as np
import pytest

from blindfuse import SpectralMetaLearner, simulate
from tests.estimators.crowds import one_coin_matrix


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_accuracies_are_recovered(seed: int, missing: float) -> None:
    matrix, accuracy = one_coin_matrix(seed, missing)
    model = SpectralMetaLearner().fit(matrix).model_
    np.testing.assert_allclose(model.accuracies, accuracy, atol=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_prior_and_confusion_matrices_are_recovered(seed: int) -> None:
    simulation = simulate(
        300_000, 6, 2, np.random.default_rng(seed), prior=[0.8, 0.2], missing=0.2, skill=0.2
    )
    fitted = SpectralMetaLearner().fit(simulation.responses)
    np.testing.assert_allclose(fitted.model_.prior, [0.8, 0.2], atol=0.03)
    np.testing.assert_allclose(fitted.model_.confusions, simulation.model.confusions, atol=0.05)
