"""SingleBest."""

import numpy as np
import pytest

from blindfuse import BadParameter, SingleBest
from tests.estimators.crowds import crowd


def test_the_best_annotator_that_labelled_an_item_decides() -> None:
    simulation = crowd(3)
    truth = dict(enumerate(simulation.truth.tolist()))
    fitted = SingleBest(truth=truth).fit(simulation.responses)
    matrix = simulation.responses.matrix()
    right = [
        np.mean(matrix[matrix[:, m] >= 0, m] == simulation.truth[matrix[:, m] >= 0])
        for m in range(7)
    ]
    np.testing.assert_allclose(fitted.accuracies_, right)
    ranking = np.argsort(right)[::-1]
    for row, label in zip(matrix, fitted.labels_, strict=True):
        reported = [row[m] for m in ranking if row[m] >= 0]
        assert not reported or reported[0] == label


def test_the_truth_is_needed() -> None:
    with pytest.raises(BadParameter, match=r"needs the true labels\. Pass truth="):
        SingleBest().fit(crowd().responses)
