"""Sparse and dense products of signs."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from blindfuse.estimators.baselines.two_class import gram_matrix


@pytest.mark.parametrize("filled", [0.01, 0.3, 1.0])
def test_the_gram_matrix_is_the_same_dense_and_sparse(filled: float) -> None:
    rng = np.random.default_rng(0)
    dense = rng.choice([-1.0, 1.0], size=(45_000, 12)) * (rng.random((45_000, 12)) < filled)
    np.testing.assert_array_equal(gram_matrix(csr_array(dense)), dense.T @ dense)
