"""Errors against a known truth."""

import numpy as np
import pytest

from blindfuse import Model
from blindfuse.metrics import confusion_error, error_rate, prior_error


def test_ties_share_the_credit_and_unknown_truth_is_left_out() -> None:
    beliefs = np.array([[0.9, 0.1, 0.0], [0.4, 0.4, 0.2], [1 / 3] * 3, [0.0, 0.0, 1.0]])
    truth = np.array([0, 1, 2, -1])
    assert error_rate(beliefs, truth) == pytest.approx(1 - (1 + 1 / 2 + 1 / 3) / 3)


def test_errors_of_the_model_are_those_of_section_v() -> None:
    names = np.arange(2), np.arange(2)
    truth = Model(np.tile(np.eye(2), (2, 1, 1)), np.array([0.5, 0.5]), *names)
    gamma = np.array([[[0.9, 0.3], [0.1, 0.7]], [[1.0, 0.0], [0.0, 1.0]]])
    estimate = Model(gamma, np.array([0.4, 0.6]), *names)
    assert confusion_error(estimate, truth) == pytest.approx((0.6 + 0) / 2)
    assert prior_error(estimate, truth) == pytest.approx(0.2)
