"""Algorithm 1 from responses: starts, trace, and what it requires."""

import numpy as np

from blindfuse.solver.solve import Options
from tests.solver.cases import crowd, solve_seeded


def test_the_best_of_several_random_starts_is_kept() -> None:
    responses = crowd(1, n=3000)
    objectives = [
        solve_seeded(responses, Options(start="random", restarts=1), seed).trace.objective.min()
        for seed in range(6)
    ]
    best = solve_seeded(responses, Options(start="random", restarts=30))
    assert best.trace.objective.min() <= np.median(objectives) * (1 + 1e-6)


def test_the_trace_gives_the_reason_for_stopping() -> None:
    responses = crowd(2, n=5000)
    converged = solve_seeded(responses, Options(tolerance=1e-6))
    assert converged.trace.stopped == "converged"
    assert converged.trace.change[-1] < 1e-6
    at_noise = solve_seeded(responses, Options())
    assert at_noise.trace.stopped == "stalled"
    assert at_noise.trace.sweeps < converged.trace.sweeps
    cut = solve_seeded(responses, Options(max_sweeps=12))
    assert cut.trace.stopped == "max_sweeps"
    assert "the maximum number of sweeps was reached" in repr(cut.trace)
    assert cut.trace.sweeps == 12 == len(cut.trace.seconds) == len(cut.trace.change)
    assert np.all(cut.trace.seconds > 0)
