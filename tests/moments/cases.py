"""Random responses for the tests."""

import numpy as np

from blindfuse import Responses


def random_table(seed: int, n: int, m: int, k: int, missing: float) -> Responses:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(k, size=(n, m))
    matrix[rng.random((n, m)) < missing] = -1
    return Responses.from_matrix(matrix, classes=range(k))
