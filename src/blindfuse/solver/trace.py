"""The history of the solver, one entry per sweep, and the reason why it stopped."""

from dataclasses import dataclass
from typing import Literal

from blindfuse.typing import Floats

Reason = Literal["converged", "stalled", "max_sweeps"]

_REASON_TEXT: dict[Reason, str] = {
    "converged": "the estimates converged",
    "stalled": "the objective no longer decreases",
    "max_sweeps": "the maximum number of sweeps was reached",
}


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The history of one run of Algorithm 1.

    Attributes
    ----------
    objective ``[sweep]``
        weighted h_N of (21) after each sweep. With ``moments="labels"`` it lacks the constant
        ½Σw‖moments‖², because no moment is formed, and may be negative.
    change ``[sweep]``
        relative change of the estimates, ‖g(x) − x‖ / ‖g(x)‖ for a sweep x → g(x).
    seconds ``[sweep]``
        wall time of each sweep; the first on a new machine includes compilation.
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
            f"{self.objective.min():.6g}, stopped because {_REASON_TEXT[self.stopped]}"
        )
