"""The outer loop of Algorithm 1 (steps 3 to 11) and its stopping rules."""

from dataclasses import replace
from time import perf_counter

import numpy as np

from blindfuse.solver.acceleration import Stepper
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import Problem, Settings
from blindfuse.solver.trace import Reason, Trace

WARM_UP_SWEEPS = 10
"""Number of first sweeps without acceleration that hold the prior fixed. Confusion matrices against
the majority vote are poor for rare classes, and a prior matched to them can become zero, which no
later sweep can undo."""

STALL_SWEEPS = 30
"""Number of sweeps over which the decrease of the objective is measured."""

DEFAULT_TOLERANCE = 1e-6
"""Relative change of the factors below which they have converged, if no tolerance is given."""

NOISE_FRACTION = 0.01
"""Minimum decrease of N · h_N in STALL_SWEEPS sweeps, if no tolerance is given. The sampling noise
of one moment contributes about 1/N to the objective; a decrease by a hundredth of that fits only
noise."""


def alternate(
    problem: Problem,
    start: Factors,
    settings: Settings,
    stepper: Stepper,
    max_sweeps: int,
    tolerance: float | None,
) -> tuple[Factors, Trace]:
    """Run steps 3–11 of Algorithm 1; return the factors with the lowest objective, and the trace.

    Departure from the paper: the first ten sweeps hold the prior fixed. The final objective is as
    low or lower, because a class whose prior becomes zero in the first sweep never returns.

    Stops when the relative change of the factors in one sweep is below ``tolerance``, or when the
    decrease of the objective in the last thirty sweeps is below ``tolerance`` times its total
    decrease. Without a tolerance, it stops when the decrease is small against the sampling noise:
    further sweeps fit rare classes to noise, for thousands of sweeps, and make labels worse.
    """
    min_change = DEFAULT_TOLERANCE if tolerance is None else tolerance
    objectives: list[float] = []
    changes: list[float] = []
    seconds: list[float] = []
    lowest: list[float] = []
    best = point = start
    warm_up = replace(settings, fixed_prior=True)
    stopped: Reason = "max_sweeps"
    for sweep in range(max_sweeps):
        started = perf_counter()
        is_warm_up = sweep < WARM_UP_SWEEPS
        result = point.copy()
        objective = problem.sweep(result, warm_up if is_warm_up else settings)
        is_best = not lowest or objective <= lowest[-1]
        best = result if is_best else best
        objectives.append(objective)
        lowest.append(min([objective, *lowest[-1:]]))
        changes.append(_relative_change(point, result))
        if is_warm_up:
            point = result
        elif is_best and changes[-1] < min_change:
            stopped = "converged"
        elif _is_stalled(lowest, tolerance, problem.n_items):
            stopped = "stalled"
        else:
            point = stepper.next(point, result, objective)
        seconds.append(perf_counter() - started)
        if stopped != "max_sweeps":
            break
    return best, Trace(np.array(objectives), np.array(changes), np.array(seconds), stopped)


def _relative_change(point: Factors, result: Factors) -> float:
    """‖g(x) − x‖ / ‖g(x)‖ of a sweep x → g(x).

    Not by BLAS, whose threads would take longer than the sweep on a busy machine.
    """
    change = result.values - point.values
    squares = (np.einsum("i,i->", values, values) for values in (change, result.values))
    return float(np.sqrt(np.divide(*squares)))


def _is_stalled(lowest: list[float], tolerance: float | None, n_items: float) -> bool:
    """Whether ``lowest[sweep]``, the lowest objective so far, has stopped decreasing."""
    if len(lowest) <= STALL_SWEEPS:
        return False
    decrease = lowest[-1 - STALL_SWEEPS] - lowest[-1]
    if tolerance is None:
        return decrease <= NOISE_FRACTION / n_items
    return decrease <= tolerance * (lowest[0] - lowest[-1])
