"""Vectors in registers, compared with NumPy."""

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from blindfuse.kernels.compilation import kernel
from blindfuse.kernels.vectors import LANES, filled, load, padded, plus, store, times, total


@kernel
def multiply_and_add(one: Any, other: Any, at: Any) -> Any:
    """Replace ``other[at:]`` by one · other + 3 · one; return the sum."""
    x, y = load(one, at), load(other, at)  # type: ignore[call-arg, var-annotated]
    result = plus(times(x, y), times(x, filled(3.0)))
    store(other, at, result)
    return total(result)


def test_operations_match_numpy() -> None:
    one, other = np.random.default_rng(0).normal(size=(2, 3 * LANES))
    before, here = other.copy(), slice(LANES, 2 * LANES)
    found = multiply_and_add(one, other, np.uint64(LANES))
    expected = one[here] * before[here] + 3 * one[here]
    assert found == pytest.approx(expected.sum(), rel=1e-12)
    np.testing.assert_allclose(other[here], expected, atol=1e-14)
    other[here] = before[here]
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("length", [1, 5, LANES, LANES + 1])
def test_padding_fills_up_whole_vectors(length: int) -> None:
    array = np.random.default_rng(length).normal(size=(2, length))
    result = padded(array, -1.0)
    assert result.shape[1] % LANES == 0
    np.testing.assert_array_equal(result[:, :length], array)
    assert (result[:, length:] == -1).all()


@pytest.mark.parametrize("array", [np.ones((16, 16)).T[:, :8], np.ones(8, dtype=np.float32)])
def test_arrays_that_are_not_contiguous_floats_are_rejected(array: Any) -> None:
    with pytest.raises((TypeError, TypingError), match="contiguous"):
        multiply_and_add(array, array, np.uint64(0))
