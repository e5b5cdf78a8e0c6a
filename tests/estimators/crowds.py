"""Simulated crowds that several test files of this folder use."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import simulate


def crowd(seed: int = 0, n: int = 1500, k: int = 3, missing: float = 0.3) -> Any:
    """Simulate seven annotators of moderate skill."""
    return simulate(n, 7, k, np.random.default_rng(seed), skill=0.3, missing=missing)


def crowd_with_adversaries() -> Any:
    """Simulate two classes, five good annotators, and two adversaries after them."""
    return simulate(5000, 7, 2, np.random.default_rng(0), skill=0.4, adversaries=0.29)


def one_coin_matrix(seed: int, missing: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return a matrix of two classes, and the accuracy of its seven annotators in both classes."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.55, 0.95, size=7)
    truth = rng.integers(2, size=100_000)
    is_correct = rng.random((100_000, 7)) < accuracy
    matrix = np.where(is_correct, truth[:, None], 1 - truth[:, None])
    matrix[rng.random(matrix.shape) < missing] = -1
    return matrix, accuracy
