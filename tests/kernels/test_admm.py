"""The ADMM that updates one block in a sweep of Algorithm 1."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize

from blindfuse.kernels.sweeps import admm, invert, quadratic

Floats = NDArray[np.float64]


def quadratic_programs(count: int) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Random blocks: a Gram matrix, a target, and a starting point with rows on the simplex."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        root = rng.normal(size=(5, 3))
        yield root.T @ root, rng.normal(size=(3, 3)), rng.dirichlet(np.ones(3), size=3)


def solve(
    gram: Floats, target: Floats, block: Floats, dual: Floats, proximal: float, inner: int
) -> None:
    """Run ADMM with buffers of its own, for any number of classes."""
    inverse, work, moved_to = np.empty_like(gram), np.empty((4, *block.shape)), np.empty(block.size)
    admm(gram, target, block, dual, inverse, work, moved_to, proximal, inner)


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
            solve(gram, target, solution, dual, 1e-7, 100)
        np.testing.assert_allclose(solution.sum(axis=1), 1)
        assert quadratic(gram, target, solution) == pytest.approx(best.fun, abs=1e-6)


def test_admm_finds_the_constrained_minimum_of_a_prior() -> None:
    grid = np.array([[i, j, 100 - i - j] for i in range(101) for j in range(101 - i)]) / 100
    for gram, target, block in quadratic_programs(5):
        solution, dual = block[0].reshape(3, 1).copy(), np.zeros((3, 1))
        right = target[:, :1].copy()
        for _ in range(100):
            solve(gram, right, solution, dual, 1e-7, 100)
        values = 0.5 * np.einsum("gi,ij,gj->g", grid, gram, grid) - grid @ right[:, 0]
        assert quadratic(gram, right, solution) <= values.min() + 1e-9


@pytest.mark.parametrize("inner", [1, 2, 5])
def test_admm_never_returns_a_worse_block(inner: int) -> None:
    for gram, target, block in quadratic_programs(50):
        before = quadratic(gram, target, block)
        dual = np.random.default_rng(0).normal(size=(3, 3))
        solve(gram, target, block, dual, 1e-6, inner)
        assert quadratic(gram, target, block) <= before
