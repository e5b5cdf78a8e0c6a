"""Logarithms without a function call, compared with NumPy."""

from typing import Any

import numpy as np

from blindfuse.kernels.compilation import kernel, logarithm


@kernel
def logarithms(numbers: Any, result: Any) -> None:
    for at in range(numbers.size):
        result[at] = logarithm(numbers[at])


def test_logarithms_are_exact_to_the_last_digits() -> None:
    rng = np.random.default_rng(0)
    smallest = np.finfo(float).tiny
    numbers = np.concatenate(
        [
            np.exp(rng.uniform(np.log(smallest), np.log(1e300), 5000)),
            1 + rng.normal(scale=1e-3, size=5000),
            [smallest, 1.0, np.sqrt(0.5), np.sqrt(2), 0.5, 2.0, 1 - 1e-16, 1 + 3e-16],
        ]
    )
    found = np.empty_like(numbers)
    logarithms(numbers, found)
    np.testing.assert_allclose(found, np.log(numbers), rtol=1e-15, atol=1e-18)
