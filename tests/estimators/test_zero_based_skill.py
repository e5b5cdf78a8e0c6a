"""ZeroBasedSkill."""

import numpy as np
import pytest

from blindfuse import ZeroBasedSkill
from tests.estimators.crowds import crowd


def test_weights_converge_to_agreement_with_their_own_vote() -> None:
    responses = crowd(5).responses
    fitted = ZeroBasedSkill().fit(responses)
    matrix = responses.matrix()
    for m in range(7):
        is_labelled = matrix[:, m] >= 0
        agreement = np.mean(matrix[is_labelled, m] == fitted.labels_[is_labelled])
        assert fitted.weights_[m] == pytest.approx(agreement, abs=1e-4)
