"""Joint probabilities of the responses of a group, compared with products."""

import numpy as np
import pytest

from blindfuse.kernels.compilation import lanes_of
from blindfuse.kernels.posteriors import joint_probabilities


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_joint_probabilities_are_products(size: int, classes: int) -> None:
    rng = np.random.default_rng(size)
    confusions = rng.dirichlet(np.ones(classes), (6, classes)).transpose(0, 2, 1).copy()
    group, prior = rng.permutation(6)[:size], rng.dirichlet(np.ones(classes))
    table = np.empty((classes**size, classes))
    joint_probabilities(confusions, group, prior, lanes_of(classes), table)
    for code, symbols in enumerate(np.ndindex(*[classes] * size)):
        expected = prior * np.prod(confusions[group, symbols], axis=0)
        np.testing.assert_allclose(table[code], expected, rtol=1e-13)
