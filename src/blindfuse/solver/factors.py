"""The unknowns of (21), with the multipliers of their constraints."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Factors:
    """Confusion matrices and prior as one vector, and their scaled multipliers as another.

    Views into ``values``: ``confusions[m, reported, true]`` and ``prior[true]``. Views into
    ``multipliers``: ``duals[m, true, reported]`` (the paper's Δ_m, transposed) and ``prior_dual``.
    """

    values: Floats
    multipliers: Floats
    n_classes: int

    @classmethod
    def begin(
        cls,
        confusions: Floats,
        prior: Floats,
        duals: Floats | None = None,
        prior_dual: Floats | None = None,
    ) -> "Factors":
        """Factors at this point, with these multipliers; of zero, if not given."""
        values = np.concatenate([confusions.ravel(), prior])
        multipliers = np.zeros_like(values)
        if duals is not None and prior_dual is not None:
            multipliers = np.concatenate([duals.ravel(), prior_dual])
        return cls(values, multipliers, len(prior))

    def copy(self) -> "Factors":
        return Factors(self.values.copy(), self.multipliers.copy(), self.n_classes)

    @property
    def confusions(self) -> Floats:
        return self._matrices(self.values)

    @property
    def prior(self) -> Floats:
        return self.values[-self.n_classes :]

    @property
    def duals(self) -> Floats:
        return self._matrices(self.multipliers)

    @property
    def prior_dual(self) -> Floats:
        return self.multipliers[-self.n_classes :]

    def _matrices(self, vector: Floats) -> Floats:
        return vector[: -self.n_classes].reshape(-1, self.n_classes, self.n_classes)
