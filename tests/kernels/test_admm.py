"""The ADMM that updates one block in a sweep of Algorithm 1, and its projection."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize

from blindfuse.kernels.admm import admm, invert, project, quadratic

Floats = NDArray[np.float64]


def quadratic_programs(count: int) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Random blocks: a Gram matrix, a target, and a starting point with rows on the simplex."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        root = rng.normal(size=(5, 3))
        yield root.T @ root, rng.normal(size=(3, 3)), rng.dirichlet(np.ones(3), size=3)


def test_invert_returns_the_inverse() -> None:
    for gram, _, _ in quadratic_programs(5):
        shifted = gram + np.eye(3)
        inverse = shifted.copy()
        invert(inverse)
        np.testing.assert_allclose(inverse @ shifted, np.eye(3), atol=1e-10)


def test_admm_finds_the_constrained_minimum_of_a_block() -> None:
    rows = LinearConstraint(np.kron(np.eye(3), np.ones(3)), 1, 1)
    for gram, target, block in quadratic_programs(10):
        best = minimize(
            lambda x, gram=gram, target=target: quadratic(gram, target, x.reshape(3, 3)),
            block.ravel(),
            method="SLSQP",
            bounds=[(0, 1)] * 9,
            constraints=rows,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        solution, dual = block.copy(), np.zeros((3, 3))
        for _ in range(100):
            admm(gram, target, solution, dual, 1e-7, 100)
        np.testing.assert_allclose(solution.sum(axis=1), 1)
        assert quadratic(gram, target, solution) == pytest.approx(best.fun, abs=1e-6)


def test_admm_finds_the_constrained_minimum_of_a_prior() -> None:
    grid = np.array([[i, j, 100 - i - j] for i in range(101) for j in range(101 - i)]) / 100
    for gram, target, block in quadratic_programs(5):
        solution, dual = block[0].reshape(3, 1).copy(), np.zeros((3, 1))
        right = target[:, :1].copy()
        for _ in range(100):
            admm(gram, right, solution, dual, 1e-7, 100)
        values = 0.5 * np.einsum("gi,ij,gj->g", grid, gram, grid) - grid @ right[:, 0]
        assert quadratic(gram, right, solution) <= values.min() + 1e-9


@pytest.mark.parametrize("inner", [1, 2, 5])
def test_admm_never_returns_a_worse_block(inner: int) -> None:
    for gram, target, block in quadratic_programs(50):
        before = quadratic(gram, target, block)
        dual = np.random.default_rng(0).normal(size=(3, 3))
        admm(gram, target, block, dual, 1e-6, inner)
        assert quadratic(gram, target, block) <= before


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
