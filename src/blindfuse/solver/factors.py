"""The unknowns of (21) with the dual variables of the ADMM, and random ones to start from."""

from dataclasses import dataclass

import numpy as np

from blindfuse.typing import Floats


@dataclass(frozen=True)
class Factors:
    """Confusion matrices and prior in one vector, and their scaled Lagrange multipliers in another.

    ``confusions[m, reported, true]`` (Γ_m) and ``prior[true]`` (π) are views of ``values``.
    ``duals[m, true, reported]`` (Δ_mᵀ of (35)) and ``prior_dual[true]`` (δ of (30)) are views of
    ``multipliers``. The multipliers are kept from sweep to sweep.
    """

    values: Floats
    multipliers: Floats
    n_classes: int
    n_symbols: int

    @classmethod
    def pack(cls, confusions: Floats, prior: Floats) -> "Factors":
        """Copy these arrays into a vector, with multipliers of zero."""
        values = np.concatenate([confusions.ravel(), prior])
        return cls(values, np.zeros_like(values), len(prior), confusions.shape[1])

    def copy(self) -> "Factors":
        sizes = self.n_classes, self.n_symbols
        return Factors(self.values.copy(), self.multipliers.copy(), *sizes)

    @property
    def confusions(self) -> Floats:
        return self.values[: -self.n_classes].reshape(-1, self.n_symbols, self.n_classes)

    @property
    def prior(self) -> Floats:
        return self.values[-self.n_classes :]

    @property
    def duals(self) -> Floats:
        return self.multipliers[: -self.n_classes].reshape(-1, self.n_classes, self.n_symbols)

    @property
    def prior_dual(self) -> Floats:
        return self.multipliers[-self.n_classes :]


def random_start(shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw confusion matrices and prior uniformly from their simplices.

    ``shape`` holds the numbers of annotators, symbols and classes.
    """
    n_annotators, n_symbols, n_classes = shape
    columns = rng.dirichlet(np.ones(n_symbols), size=(n_annotators, n_classes))
    return columns.transpose(0, 2, 1).copy(), rng.dirichlet(np.ones(n_classes))
