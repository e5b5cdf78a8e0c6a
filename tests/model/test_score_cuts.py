"""Cuts between classes of mean scores: rare classes are found, and noise moves nothing."""

import numpy as np
import pytest

from blindfuse import Responses, fuse
from blindfuse.model.anchored_votes import kmeans_cuts, unequal_cuts


def drawn(seed: int, n: int, share: float, gap: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return gap * truth + rng.normal(size=n), truth


@pytest.mark.parametrize("share", [0.02, 0.98])
@pytest.mark.parametrize("seed", range(3))
def test_a_rare_class_is_not_merged_with_half_of_the_other(seed: int, share: float) -> None:
    scores, truth = drawn(seed, 800, share, gap=5)
    cuts = unequal_cuts(scores, 2)
    assert cuts is not None
    assert np.mean((scores >= cuts[0]) != truth) < 0.02
    assert np.mean((scores >= kmeans_cuts(scores, 2)[0]) != truth) > 0.1


@pytest.mark.parametrize("seed", range(8))
def test_overlapping_classes_of_equal_size_prove_nothing(seed: int) -> None:
    scores, _ = drawn(seed, 800, 0.5, gap=1)
    assert unequal_cuts(scores, 2) is None


def test_three_classes_with_one_rare() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 2000, p=[0.9, 0.06, 0.04])
    scores = 6.0 * truth + rng.normal(size=2000)
    cuts = unequal_cuts(scores, 3)
    assert cuts is not None
    assert np.mean(np.searchsorted(cuts, scores, side="right") != truth) < 0.01


@pytest.mark.parametrize("scores", [[1.0], [1.0, 1.0, 1.0], [0.0, 1.0], [0.0] * 50 + [1.0]])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_few_and_equal_scores_give_finite_ascending_cuts(
    scores: list[float], n_classes: int
) -> None:
    for cuts in (
        kmeans_cuts(np.array(scores), n_classes),
        unequal_cuts(np.array(scores), n_classes),
    ):
        if cuts is not None:
            assert len(cuts) == n_classes - 1
            assert np.all(np.isfinite(cuts))
            assert np.all(np.diff(cuts) >= 0)


@pytest.mark.parametrize("seed", range(3))
def test_fused_rare_positives_are_as_good_as_the_best_threshold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = (rng.random(600) < 0.05).astype(int)
    scores = np.clip(4 + 3 * truth[:, None] + rng.normal(0, 1.5, size=(600, 6)), 0, 10).round()
    fusion = fuse(Responses.from_scores(scores, classes=[0, 1]))
    best = min(np.mean((scores.mean(axis=1) > cut) != truth) for cut in np.arange(3, 8, 0.1))
    found = np.mean(fusion.labels != truth)
    assert found <= best + 0.01
    assert fusion.expected_error is not None
    assert fusion.expected_error.low - 0.005 <= found <= fusion.expected_error.high + 0.005
