"""The projection onto the probability simplex."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from blindfuse.kernels.sweeps import project

vectors = arrays(np.float64, st.integers(1, 12), elements=st.floats(-50, 50))


def projected(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    result = np.array(vector, dtype=float)
    project(result, 0, len(result))
    return result


def test_negative_entries_are_not_clipped_first() -> None:
    np.testing.assert_allclose(projected(np.array([0.2, -0.3, 0.1])), np.array([16, 1, 13]) / 30)


@given(vectors)
def test_the_result_is_on_the_simplex(vector: NDArray[np.float64]) -> None:
    point = projected(vector)
    assert point.min() >= 0
    assert point.sum() == pytest.approx(1)


@given(vectors)
def test_the_residual_has_no_component_towards_a_corner(vector: NDArray[np.float64]) -> None:
    """x is the projection of v if and only if (v − x)·(corner − x) ≤ 0 for all corners."""
    point = projected(vector)
    towards = np.eye(len(point)) - point
    assert np.max(towards @ (vector - point)) <= 1e-9 * max(1, np.abs(vector).max())


@given(arrays(np.float64, 6, elements=st.floats(0.01, 1)))
def test_a_point_of_the_simplex_is_not_moved(weights: NDArray[np.float64]) -> None:
    point = weights / weights.sum()
    np.testing.assert_allclose(projected(point), point, atol=1e-12)
