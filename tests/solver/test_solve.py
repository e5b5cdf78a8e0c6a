"""Algorithm 1 from responses: starts, trace, and what it requires."""

import numpy as np
import pytest

from blindfuse import NotIdentifiable, Responses
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


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[0, 1], [1, 1]], "Only 2 annotators"),
        ([[0, 1, -1], [1, 1, -1]], "Only 2 annotators"),
        ([[0, 1, -1], [1, -1, 1], [-1, 0, 1]], "No item was labelled by three"),
    ],
)
def test_too_little_overlap_is_refused_with_a_remedy(matrix: list[list[int]], reason: str) -> None:
    with pytest.raises(NotIdentifiable, match=f"{reason}.*majority vote"):
        solve_seeded(Responses.from_matrix(matrix), Options())
