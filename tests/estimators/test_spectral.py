"""Spectral."""

import numpy as np
import pytest

from blindfuse import DawidSkene, MajorityVote, RankTooLow, Spectral, simulate
from blindfuse.metrics import confusion_error
from tests.estimators.crowds import crowd

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")


def test_exact_moments_give_the_exact_model() -> None:
    """Every response is as frequent as its probability, in 2 × 4³ and 4 × 4³ items."""
    for quarters, shares in (
        ([[3, 1], [1, 3]], [1, 1]),
        ([[3, 1, 1], [1, 3, 1], [0, 0, 2]], [1, 2, 1]),
    ):
        rows = []
        for k, share in enumerate(shares):
            reported = np.repeat(np.arange(len(shares)), np.array(quarters)[:, k])
            grid = np.array(np.meshgrid(*[reported] * 3)).reshape(3, -1).T
            rows += [grid] * share
        model = Spectral(shrinkage=None).fit(np.concatenate(rows)).model_
        np.testing.assert_allclose(model.prior, np.array(shares) / sum(shares), atol=1e-6)
        for confusion in model.confusions:
            np.testing.assert_allclose(confusion, np.array(quarters) / 4, atol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_errors_fall_with_the_number_of_items(missing: float) -> None:
    means = []
    for n in (3_000, 30_000, 300_000):
        errors = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            simulation = simulate(n, 9, 3, rng, skill=0.3, missing=missing)
            model = Spectral().fit(simulation.responses).model_
            errors.append(confusion_error(model, simulation.model))
        means.append(np.mean(errors))
    assert means[0] > 2 * means[1] > 4 * means[2]


def test_a_rank_below_the_number_of_classes_warns_and_falls_back() -> None:
    """No annotator distinguishes two of the three classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=2000)
    confusion = np.array([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
    matrix = np.array([rng.choice(3, size=7, p=confusion[:, k]) for k in truth])
    for method in (Spectral(), DawidSkene(start="spectral")):
        with pytest.warns(RankTooLow, match=r"fewer than 3 classes.*majority vote"):
            method.fit(matrix)
    spectral = Spectral()
    with pytest.warns(RankTooLow):
        spectral.fit(matrix)
    assert spectral.fallback_ is not None
    votes = MajorityVote().fit(matrix)
    assert np.mean(spectral.labels_ == votes.labels_) > 0.7
    clear = Spectral().fit(crowd(missing=0.0).responses)
    assert clear.fallback_ is None
