"""Where the next sweep starts: at the last one's result, or at a mix of the past ones."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.sweeps import project_model, take_mixed_step
from blindfuse.solver.factors import Factors

Floats = NDArray[np.float64]


RIDGE = 1e-12
"""Relative to the trace, added to the small least-squares problem of the mix."""


class Stepper(Protocol):
    """Chooses the next point from a sweep's start, its result, and the result's objective."""

    def next(self, point: Factors, result: Factors, objective: float) -> Factors: ...


class Plain:
    """The paper's alternation: go on from the result."""

    def next(self, point: Factors, result: Factors, objective: float) -> Factors:
        return result


class Anderson:
    """Anderson acceleration of the sweep as a fixed-point map x → g(x), with a safeguard.

    The next point is g(x) − Σ_i γ_i Δg_i, where γ fits the residual f = g(x) − x by the last
    differences Δf_i of residuals, and Δg_i are those of results.

    A mix of the last results is projected onto the simplices and swept. If the objective after
    that sweep is above both of the last two, the mix is dropped: the next sweep starts from the
    last good result, and only the two newest differences are remembered. Entries are compared on
    the scale √π of their true class, since an entry of a rare class matters that much less to
    the moments.
    """

    def __init__(self, memory: int = 8) -> None:
        self.memory = memory
        self.steps: list[Floats] = []
        self.changes: list[Floats] = []
        self.accepted: list[float] = []
        self.last: tuple[Factors, Floats] | None = None

    def next(self, point: Factors, result: Factors, objective: float) -> Factors:
        if self.last and objective > max(self.accepted):
            del self.steps[:-2], self.changes[:-2]
            return self.last[0]
        residual = result.values - point.values
        if self.last:
            self.steps.append(result.values - self.last[0].values)
            self.changes.append(residual - self.last[1])
            del self.steps[: -self.memory], self.changes[: -self.memory]
        self.last = (result, residual)
        self.accepted = [*self.accepted[-1:], objective]
        if not self.steps:
            return result
        moved = result.copy()
        differences = np.array(self.changes), np.array(self.steps)
        take_mixed_step(*differences, residual, _importance(result), RIDGE, moved.values)
        project_model(moved.confusions, moved.prior)
        return moved


def _importance(factors: Factors) -> Floats:
    """π of the true class for entries of confusion matrices, 1 for those of the prior."""
    importance = np.ones_like(factors.values)
    importance[: -factors.n_classes].reshape(-1, factors.n_classes)[:] = factors.prior
    return importance
