"""The outer loop of Algorithm 1: sweep until nothing moves."""

from dataclasses import replace
from time import perf_counter

import numpy as np

from blindfuse.solver.acceleration import Stepper
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import Problem, Settings
from blindfuse.solver.trace import Reason, Trace

WARM_UP = 10
"""Plain sweeps at first that leave the prior alone. Confusion matrices against the vote are poor
for rare classes, and a prior matched to those can drop to zero, which no later sweep undoes."""

STALL = 30
"""Sweeps over which the objective must fall by more than is said below."""

TIGHT = 1e-6
"""Relative change of the factors that is none, unless a tolerance is given."""

NOISE = 0.01
"""What the objective must fall by in STALL sweeps, times N, unless a tolerance is given. A moment
is off by noise whose weighted square is about 1/N; to fit a hundredth of that of one moment is to
fit nothing."""


def alternate(
    problem: Problem,
    start: Factors,
    settings: Settings,
    stepper: Stepper,
    max_sweeps: int,
    tolerance: float | None,
) -> tuple[Factors, Trace]:
    """Steps 3–11 of Algorithm 1; returns the factors of the lowest objective, and the trace.

    The first ten sweeps hold the prior: a departure from the paper that ends in objectives as low
    or lower, because a class that vanished in the first sweep never comes back.

    Stops when a sweep moves the factors by less than ``tolerance``, relatively, or when thirty
    sweeps lowered the objective by less than ``tolerance`` of what all of them did. Without a
    tolerance they end where noise begins: classes with few items can be fitted to noise for
    thousands of sweeps, and labels get worse.
    """
    still = TIGHT if tolerance is None else tolerance
    objectives: list[float] = []
    changes: list[float] = []
    seconds: list[float] = []
    lowest: list[float] = []
    best = point = start
    holding = replace(settings, fixed_prior=True)
    stopped: Reason = "max_sweeps"
    for sweep in range(max_sweeps):
        began = perf_counter()
        warming = sweep < WARM_UP
        result = point.copy()
        objective = problem.sweep(result, holding if warming else settings)
        is_best = not lowest or objective <= lowest[-1]
        best = result if is_best else best
        objectives.append(objective)
        lowest.append(min([objective, *lowest[-1:]]))
        changes.append(_relative_change(point, result))
        if warming:
            point = result
        elif is_best and changes[-1] < still:
            stopped = "converged"
        elif _stalled(lowest, tolerance, problem.n_items):
            stopped = "stalled"
        else:
            point = stepper.next(point, result, objective)
        seconds.append(perf_counter() - began)
        if stopped != "max_sweeps":
            break
    return best, Trace(np.array(objectives), np.array(changes), np.array(seconds), stopped)


def _relative_change(point: Factors, result: Factors) -> float:
    moved = np.linalg.norm(result.values - point.values)
    return float(moved / np.linalg.norm(result.values))


def _stalled(lowest: list[float], tolerance: float | None, n_items: float) -> bool:
    if len(lowest) <= STALL:
        return False
    fall = lowest[-1 - STALL] - lowest[-1]
    if tolerance is None:
        return fall <= NOISE / n_items
    return fall <= tolerance * (lowest[0] - lowest[-1])
