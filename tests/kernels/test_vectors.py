"""Vectors in registers, compared with NumPy."""

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from blindfuse.kernels.compilation import kernel, lanes_of
from blindfuse.kernels.vectors import filled, load, plus, store, times, total


@kernel
def multiply_and_add(one: Any, other: Any, at: Any, lanes: Any) -> Any:
    """Replace y by 2 (x y + x), for the vectors x and y at one position; return Σ x y + x."""
    x, y = load(one, at, lanes), load(other, at, lanes)  # type: ignore[call-arg, var-annotated]
    result = plus(times(x, y), x)
    store(other, at, times(result, filled(2.0, lanes)))
    return total(result)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 13, 33])
def test_vector_operations_match_numpy_and_leave_other_entries_unchanged(count: int) -> None:
    rng = np.random.default_rng(count)
    one, other = rng.normal(size=(2, 5 * count))
    before, at = other.copy(), 2 * count
    found = multiply_and_add(one, other, at, lanes_of(count))
    here = slice(at, at + count)
    expected = one[here] * before[here] + one[here]
    assert found == pytest.approx(expected.sum(), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(other[here], 2 * expected, atol=1e-14)
    other[here] = before[here]
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("array", [np.ones((4, 4)).T[:, :2], np.ones(8, dtype=np.float32)])
def test_arrays_that_are_not_contiguous_floats_are_rejected(array: Any) -> None:
    with pytest.raises((TypeError, TypingError), match="contiguous"):
        multiply_and_add(array, array, 0, lanes_of(2))
