"""LatentSubtypes."""

from typing import Any

import numpy as np
import pytest

from blindfuse import DawidSkene, LatentSubtypes
from blindfuse.metrics import error_rate
from tests.estimators.crowds import crowd

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")


def draw(seed: int, n: int = 4000, m: int = 40, per_item: int = 6) -> tuple[Any, Any]:
    """Draw clear and ambiguous items of two classes, so that errors are correlated."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.3).astype(int)
    is_ambiguous = rng.random(n) < 0.4
    p_yes = np.where(is_ambiguous, np.where(truth == 1, 0.65, 0.35), np.where(truth, 0.95, 0.02))
    bias = rng.normal(0, 0.5, size=m)
    odds = np.log(p_yes / (1 - p_yes))[:, None] + bias
    matrix = (rng.random((n, m)) < 1 / (1 + np.exp(-odds))).astype(int)
    keep = rng.random((n, m)).argsort(axis=1) < per_item
    return np.where(keep, matrix, -1), truth


def test_ambiguous_items_are_not_taken_for_another_class() -> None:
    differences = []
    for seed in range(10):
        matrix, truth = draw(seed)
        subtypes, plain = LatentSubtypes().fit(matrix), DawidSkene().fit(matrix)
        error, plain_error = (error_rate(each.posteriors_, truth) for each in (subtypes, plain))
        differences.append(error - plain_error)
        assert subtypes.log_likelihoods_[-1] > plain.log_likelihoods_[-1]
    assert np.mean(differences) <= 0.002


@pytest.mark.parametrize("seed", range(3))
def test_one_subtype_is_dawid_skene(seed: int) -> None:
    responses = crowd(seed).responses
    one = LatentSubtypes(subtypes=1, shrinkage=0.0, tolerance=1e-9).fit(responses)
    plain = DawidSkene(shrinkage=None, tolerance=1e-9).fit(responses)
    np.testing.assert_allclose(one.model_.confusions, plain.model_.confusions, atol=1e-3)
    np.testing.assert_allclose(one.posteriors_, plain.posteriors_, atol=1e-2)


def test_the_log_likelihood_never_falls_and_is_that_of_the_subtypes() -> None:
    responses = crowd(1, n=200).responses
    fitted = LatentSubtypes(subtypes=3, shrinkage=0.0, tolerance=0.0, max_iter=50).fit(responses)
    assert np.all(np.diff(fitted.log_likelihoods_) >= -1e-6)
    total = 0.0
    for row in responses.matrix().tolist():
        joint = fitted.subtype_prior_.copy()
        for m, a in enumerate(row):
            if a >= 0:
                joint *= fitted.subtype_confusions_[m, a]
        total += np.log(joint.sum())
    assert total >= fitted.log_likelihoods_[-1] - 1e-6
    assert total == pytest.approx(fitted.log_likelihoods_[-1], rel=1e-2)
