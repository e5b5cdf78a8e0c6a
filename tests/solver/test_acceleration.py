"""Anderson acceleration of the sweeps."""

import numpy as np
import pytest

from blindfuse import simulate
from blindfuse.solver.solve import Options
from tests.solver.cases import solve_seeded


@pytest.mark.parametrize("seed", range(3))
def test_acceleration_reaches_the_same_objective_in_far_fewer_sweeps(seed: int) -> None:
    responses = simulate(20_000, 8, 3, np.random.default_rng(seed), skill=0.2).responses
    accelerated = solve_seeded(responses, Options(tolerance=1e-6))
    plain_options = Options(acceleration=None, tolerance=1e-9, max_sweeps=20_000)
    plain = solve_seeded(responses, plain_options)
    assert accelerated.trace.objective.min() <= 1.001 * plain.trace.objective.min()
    assert accelerated.trace.sweeps * 5 < plain.trace.sweeps
