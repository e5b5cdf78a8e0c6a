"""Oracle."""

import numpy as np
import pytest

from blindfuse import BadParameter, Oracle
from tests.estimators.crowds import crowd


def test_the_oracle_of_a_simulation_uses_its_model() -> None:
    simulation = crowd(1)
    for rule in ("map", "ml"):
        fitted = Oracle(model=simulation.model, rule=rule).fit(simulation.responses)
        expected = simulation.model.posteriors(simulation.responses, rule)
        np.testing.assert_allclose(fitted.posteriors_, expected)


def test_confusion_matrices_are_counted_against_the_truth() -> None:
    simulation = crowd(2)
    truth = dict(enumerate(simulation.truth.tolist()))
    model = Oracle(truth=truth).fit(simulation.responses).model_
    matrix = simulation.responses.matrix()
    for m in range(7):
        for k in range(3):
            reported = matrix[(simulation.truth == k) & (matrix[:, m] >= 0), m]
            shares = np.bincount(reported, minlength=3) / len(reported)
            np.testing.assert_allclose(model.confusions[m, :, k], shares)
    np.testing.assert_allclose(model.prior, np.bincount(simulation.truth) / 1500)


def test_either_a_model_or_the_truth_is_needed() -> None:
    with pytest.raises(BadParameter, match="either model= or truth="):
        Oracle().fit(crowd().responses)
