"""MMSR."""

from typing import Any

import numpy as np
import pytest

from blindfuse import MMSR, MajorityVote
from blindfuse.metrics import error_rate


def draw(seed: int, skills: Any, n: int = 20_000, k: int = 4) -> Any:
    """Draw one-coin responses of annotators with these skills, a third of them missing."""
    rng = np.random.default_rng(seed)
    right = ((k - 1) * np.asarray(skills) + 1) / k
    truth = rng.integers(k, size=n)
    wrong = (truth[:, None] + rng.integers(1, k, size=(n, len(right)))) % k
    matrix = np.where(rng.random(wrong.shape) < right, truth[:, None], wrong)
    matrix[rng.random(wrong.shape) < 0.33] = -1
    return matrix, truth


@pytest.mark.parametrize("seed", range(4))
def test_skills_are_recovered_with_an_adversary(seed: int) -> None:
    skills = np.array([0.9, 0.7, 0.5, 0.6, 0.8, 0.4, 0.5, -0.3])
    matrix, truth = draw(seed, skills)
    fitted = MMSR().fit(matrix)
    np.testing.assert_allclose(fitted.skills_, skills, atol=0.04)
    vote = MajorityVote().fit(matrix)
    assert error_rate(fitted.posteriors_, truth) < error_rate(vote.posteriors_, truth)


@pytest.mark.parametrize("seed", range(3))
def test_trimming_reduces_the_effect_of_a_copied_annotator(seed: int) -> None:
    skills = np.linspace(0.4, 0.8, 12)
    matrix, _ = draw(seed, skills)
    matrix[:, 1] = matrix[:, 0]
    errors = [
        np.abs(MMSR(trim=trim).fit(matrix).skills_[2:] - skills[2:]).mean() for trim in (0.25, 0.0)
    ]
    assert errors[0] < errors[1]
    assert errors[0] < 0.03
