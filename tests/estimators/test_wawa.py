"""Wawa."""

import numpy as np
import pytest

from blindfuse import MajorityVote, Wawa
from tests.estimators.crowds import crowd


def test_weights_are_agreements_with_the_majority_vote() -> None:
    responses = crowd(4).responses
    vote, wawa = MajorityVote().fit(responses), Wawa().fit(responses)
    matrix = responses.matrix()
    for m in range(7):
        is_labelled = matrix[:, m] >= 0
        agreement = np.mean(matrix[is_labelled, m] == vote.labels_[is_labelled])
        assert wawa.weights_[m] == pytest.approx(agreement)
