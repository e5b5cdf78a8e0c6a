"""The point from which the next sweep starts: plain alternation or Anderson acceleration."""

from typing import Protocol

import numpy as np

from blindfuse.kernels.admm import project_model
from blindfuse.solver.factors import Factors
from blindfuse.typing import Floats

RIDGE = 1e-12
"""Ridge penalty of the least-squares problem for γ, relative to its trace."""


class Stepper(Protocol):
    """Chooses where the next sweep starts, from the last sweep x → g(x) and its objective."""

    def next(self, point: Factors, result: Factors, objective: float) -> Factors: ...


class Plain:
    """The paper's alternation: start from the result of the last sweep."""

    def next(self, point: Factors, result: Factors, objective: float) -> Factors:
        return result


class Anderson:
    """Anderson acceleration of the sweep as a fixed-point map x → g(x), with a safeguard.

    The next point is g(x) − Σ_i γ_i Δg_i, projected onto the simplices. γ is the least-squares fit
    of the residual f = g(x) − x by the differences Δf_i of the last residuals, and Δg_i are the
    differences of the last results. Residuals are weighted by the prior of their true class,
    because entries of a rare class contribute little to the moments.

    Safeguard: if the objective after a sweep is above both of the last two accepted ones, the step
    is rejected. The next sweep starts from the last accepted result, and only the two newest
    differences are kept.
    """

    def __init__(self, memory: int = 8) -> None:
        self.memory = memory
        self.result_differences: list[Floats] = []
        self.residual_differences: list[Floats] = []
        self.accepted_objectives: list[float] = []
        self.last: tuple[Factors, Floats] | None = None
        """The last accepted result and its residual."""

    def next(self, point: Factors, result: Factors, objective: float) -> Factors:
        if self.last and objective > max(self.accepted_objectives):
            self._keep(2)
            return self.last[0]
        residual = result.values - point.values
        if self.last:
            self.result_differences.append(result.values - self.last[0].values)
            self.residual_differences.append(residual - self.last[1])
            self._keep(self.memory)
        self.last = (result, residual)
        self.accepted_objectives = [*self.accepted_objectives[-1:], objective]
        if not self.result_differences:
            return result
        accelerated = result.copy()
        weights = _weights(np.array(self.residual_differences), residual, _importance(result))
        for weight, step in zip(weights, self.result_differences, strict=True):
            accelerated.values[:] -= weight * step
        project_model(accelerated.confusions, accelerated.prior)
        return accelerated

    def _keep(self, count: int) -> None:
        """Forget all but the newest differences."""
        del self.result_differences[:-count], self.residual_differences[:-count]


def _weights(changes: Floats, residual: Floats, importance: Floats) -> Floats:
    """Return the γ that minimise Σ_j importance_j (f_j − Σ_i γ_i Δf_ij)², f being ``residual``.

    Δf is ``changes[i, j]``. A ridge penalty, relative to the trace, makes the solution unique.
    Products are computed by einsum, because BLAS would start its threads for such small matrices.
    """
    weighted = importance * changes
    normal = np.einsum("ij,lj->il", weighted, changes)
    right = np.einsum("ij,j->i", weighted, residual)
    ridge = RIDGE * np.trace(normal) + 1e-300
    return np.asarray(np.linalg.solve(normal + ridge * np.eye(len(normal)), right))


def _importance(factors: Factors) -> Floats:
    """Weights of the residuals: π_k for entries of column k, 1 for entries of the prior."""
    importance = np.ones_like(factors.values)
    importance[: -factors.n_classes].reshape(-1, factors.n_classes)[:] = factors.prior
    return importance
