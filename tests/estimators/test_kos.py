"""KOS."""

import numpy as np
import pytest

from blindfuse import KOS, simulate
from blindfuse.metrics import error_rate
from tests.conftest import Crowds
from tests.estimators.crowds import crowd


def test_one_iteration_of_messages_written_out() -> None:
    """Messages exclude what came from their receiver; written out with loops."""
    responses = simulate(30, 5, 2, np.random.default_rng(0), missing=0.3).responses
    signs = np.where(responses.matrix() < 0, 0, 2 * responses.matrix() - 1)
    draws = np.random.default_rng(4).normal(1.0, 1.0, size=responses.n_responses)
    y = np.zeros((30, 5))
    y[signs != 0] = draws
    x = np.zeros((30, 5))
    new = np.zeros((30, 5))
    for i, j in zip(*np.nonzero(signs), strict=True):
        x[i, j] = sum(signs[i, k] * y[i, k] for k in range(5) if k != j)
    for i, j in zip(*np.nonzero(signs), strict=True):
        new[i, j] = sum(signs[k, j] * x[k, j] for k in range(30) if k != i)
    expected = (signs * new).sum(axis=1) > 0
    fitted = KOS(n_iter=1, seed=4).fit(responses)
    has_two = responses.responses_per_item > 1
    np.testing.assert_array_equal(fitted.labels_[has_two], expected[has_two])


def test_the_svd_variant_is_the_leading_singular_vector() -> None:
    responses = crowd(3, n=300, k=2).responses
    signs = np.where(responses.matrix() < 0, 0, 2 * responses.matrix() - 1)
    left, _, right = np.linalg.svd(signs - signs.mean(axis=0), full_matrices=False)
    turn = 1 if np.sum(right[0][right[0] >= 0] ** 2) >= 0.5 else -1
    fitted = KOS(variant="svd").fit(responses)
    np.testing.assert_array_equal(fitted.labels_, turn * left[:, 0] > 0)


@pytest.mark.parametrize(("name", "percent"), [("bird", 11.11), ("rte", 39.75), ("web", 42.93)])
def test_the_svd_variant_has_the_published_errors(
    crowds: Crowds, name: str, percent: float
) -> None:
    crowd = crowds[name]
    posteriors = KOS(variant="svd", ordered=True).fit(crowd.responses).posteriors_
    assert 100 * error_rate(posteriors, crowd.truth) == pytest.approx(percent, abs=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_ordered_classes_reduce_the_error_on_web(crowds: Crowds, seed: int) -> None:
    crowd = crowds["web"]
    posteriors = KOS(ordered=True, seed=seed).fit(crowd.responses).posteriors_
    assert 100 * error_rate(posteriors, crowd.truth) < 7
