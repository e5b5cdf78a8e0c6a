"""What the solver did: one row a sweep, and why it stopped."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Reason = Literal["converged", "stalled", "max_sweeps"]

_IN_WORDS: dict[Reason, str] = {
    "converged": "the factors no longer move",
    "stalled": "the objective no longer falls",
    "max_sweeps": "the limit of sweeps was reached",
}


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The history of one run of Algorithm 1.

    Attributes
    ----------
    objective ``[sweep]``
        h_N of (21), weighted, after each sweep. Straight from labels it lacks the constant
        ½Σw‖moments‖², because no moment is formed, and may be negative.
    change ``[sweep]``
        ‖g(x) − x‖ / ‖g(x)‖ of each sweep x → g(x).
    seconds ``[sweep]``
        wall time of each sweep; the very first on a machine compiles.
    stopped
        ``"converged"``, ``"stalled"`` or ``"max_sweeps"``.
    """

    objective: Floats
    change: Floats
    seconds: Floats
    stopped: Reason

    @property
    def sweeps(self) -> int:
        return len(self.objective)

    @property
    def converged(self) -> bool:
        return self.stopped != "max_sweeps"

    def __repr__(self) -> str:
        return (
            f"Trace: {self.sweeps:,} sweeps, objective {self.objective[0]:.6g} → "
            f"{self.objective.min():.6g}, stopped because {_IN_WORDS[self.stopped]}"
        )
