"""The error of a fusion on gold labels, computed a second way."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from blindfuse import BadLabels, Fusion, Simulation, check_on_gold, fuse, simulate

Floats = NDArray[np.float64]


def fusion_with(drawn: Simulation, posteriors: Floats) -> Fusion:
    """A fusion with given posteriors."""
    fusion = fuse(drawn.responses)
    return replace(fusion, posteriors=posteriors, labels=drawn.model.name_labels(posteriors))


@pytest.mark.parametrize("seed", range(3))
def test_gold_check_matches_a_direct_computation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = simulate(500, 5, 3, rng, missing=0.2)
    posteriors = drawn.model.posteriors(drawn.responses)
    chosen = rng.choice(500, 80, replace=False)
    known = dict(zip(chosen.tolist(), drawn.truth[chosen].tolist(), strict=True))
    found = check_on_gold(fusion_with(drawn, posteriors), known)
    wrong = np.sum(posteriors[chosen].argmax(axis=1) != drawn.truth[chosen])
    interval = binomtest(int(wrong), 80).proportion_ci(method="wilson")
    assert (found.error.value, found.error.low, found.error.high) == pytest.approx(
        (wrong / 80, interval.low, interval.high)
    )
    lost = 0.0
    for item, true in zip(chosen, drawn.truth[chosen], strict=True):
        votes = Counter(drawn.responses.matrix()[item].tolist())
        del votes[-1]
        best = [label for label, count in votes.items() if count == max(votes.values())]
        lost += 1 - (true in best) / len(best) if best else 1 - 1 / 3
    assert found.vote_error.value == pytest.approx(lost / 80)
    assert found.expected_error == pytest.approx(np.mean(1 - posteriors[chosen].max(axis=1)))
    assert sum(one.items for one in found.bins) == 80
    right = sum(one.items * one.accuracy.value for one in found.bins)
    assert right == pytest.approx(80 - wrong)


def test_an_empty_gold_is_refused() -> None:
    with pytest.raises(BadLabels, match="at least one"):
        check_on_gold(fuse(simulate(50, 4, 2, np.random.default_rng(0)).responses), {})


@pytest.mark.parametrize(("power", "advises"), [(1, False), (20, True)])
def test_an_expected_error_below_the_measured_interval_is_not_to_be_trusted(
    power: int, advises: bool
) -> None:
    drawn = simulate(2000, 5, 3, np.random.default_rng(0), skill=0.1)
    posteriors = drawn.model.posteriors(drawn.responses) ** power
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    fusion = fusion_with(drawn, posteriors)
    check = check_on_gold(fusion, dict(enumerate(drawn.truth.tolist())))
    assert ("trust the measured" in check.summary()) == advises
