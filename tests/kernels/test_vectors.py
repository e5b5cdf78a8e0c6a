"""Vectors in registers, compared with NumPy."""

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from blindfuse.kernels.compilation import kernel
from blindfuse.kernels.vectors import filled, load, padded, store, total


@kernel
def multiply_and_add(one: Any, other: Any, at: Any) -> Any:
    """Replace ``other[at:]`` by one · other + 3 · one − 2; return the sum."""
    x, y = load(one, at, 8), load(other, at, 8)  # type: ignore[call-arg, var-annotated]
    result = x * y + x * filled(3.0, 8) - filled(2.0, 8)
    store(other, at, result)
    return total(result)


def test_operations_match_numpy() -> None:
    one, other = np.random.default_rng(0).normal(size=(2, 24))
    before, here = other.copy(), slice(8, 16)
    found = multiply_and_add(one, other, np.uint64(8))
    expected = one[here] * before[here] + 3 * one[here] - 2
    assert found == pytest.approx(expected.sum(), rel=1e-12)
    np.testing.assert_allclose(other[here], expected, atol=1e-14)
    other[here] = before[here]
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("length", [1, 5, 8, 9])
def test_padding_fills_up_whole_vectors(length: int) -> None:
    array = np.random.default_rng(length).normal(size=(2, length))
    result = padded(array, 8, -1.0)
    assert result.shape[1] % 8 == 0
    np.testing.assert_array_equal(result[:, :length], array)
    assert (result[:, length:] == -1).all()


@pytest.mark.parametrize("array", [np.ones((16, 16)).T[:, :8], np.ones(8, dtype=np.float32)])
def test_arrays_that_are_not_contiguous_floats_are_rejected(array: Any) -> None:
    with pytest.raises((TypeError, TypingError), match="contiguous"):
        multiply_and_add(array, array, np.uint64(0))
