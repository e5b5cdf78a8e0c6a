"""Rows of classes, in registers and in memory, compared with NumPy."""

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from blindfuse.kernels.compilation import MAX_LANES, kernel, lanes_of
from blindfuse.kernels.vectors import (
    copied,
    dot,
    filled,
    load,
    plus_scaled,
    scaled,
    store,
    times,
    total,
)

COUNTS = [1, 2, 3, 4, 5, 7, 8, 13, MAX_LANES, MAX_LANES + 1, 100]


@kernel
def multiply_and_add(one: Any, other: Any, at: Any, lanes: Any) -> Any:
    """Replace y by 2 (x y + 3 x), for the rows x and y at one position; return Σ x y + 3 x."""
    buffer = np.empty(len(lanes))
    x = load(one, at, lanes)  # type: ignore[call-arg, var-annotated]
    y = copied(other, at, buffer, lanes)
    result = plus_scaled(times(y, x), x, 3.0)
    found = total(result)
    store(other, at, scaled(result, 2.0))
    return found


@kernel
def dot_with_ones(array: Any, at: Any, lanes: Any) -> Any:
    """Return Σ 5 x for the row x at one position."""
    fives = filled(5.0, np.empty(len(lanes)), lanes)  # type: ignore[call-arg, var-annotated]
    return dot(fives, load(array, at, lanes))


@pytest.mark.parametrize("count", COUNTS)
def test_operations_match_numpy_and_leave_other_entries_unchanged(count: int) -> None:
    rng = np.random.default_rng(count)
    one, other = rng.normal(size=(2, 5 * count))
    before, at = other.copy(), 2 * count
    found = multiply_and_add(one, other, at, lanes_of(count))
    here = slice(at, at + count)
    expected = one[here] * before[here] + 3 * one[here]
    assert found == pytest.approx(expected.sum(), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(other[here], 2 * expected, atol=1e-14)
    other[here] = before[here]
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("count", COUNTS)
def test_the_dot_product_matches_numpy(count: int) -> None:
    array = np.random.default_rng(count).normal(size=3 * count)
    found = dot_with_ones(array, count, lanes_of(count))
    assert found == pytest.approx(5 * array[count : 2 * count].sum(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("array", [np.ones((4, 4)).T[:, :2], np.ones(8, dtype=np.float32)])
def test_arrays_that_are_not_contiguous_floats_are_rejected(array: Any) -> None:
    with pytest.raises((TypeError, TypingError), match="contiguous"):
        multiply_and_add(array, array, 0, lanes_of(2))
