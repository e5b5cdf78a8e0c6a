"""The two forms of (21): explicit moments, and directly from responses."""

from dataclasses import replace

import numpy as np
import pytest

from blindfuse import MomentCounts
from blindfuse.solver.problem import MomentProblem, Settings
from blindfuse.solver.solve import Options
from tests.solver.cases import both_problems, crowd, random_factors, solve_seeded


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_both_forms_make_the_same_sweeps(missing: float, classes: int) -> None:
    responses = crowd(classes, k=classes, missing=missing)
    explicit, direct = both_problems(responses)
    by_moments, by_responses = random_factors(responses, 0), random_factors(responses, 0)
    for _ in range(20):
        with_constant = explicit.sweep(by_moments, Settings())
        without = direct.sweep(by_responses, Settings())
        assert with_constant - explicit.constant == pytest.approx(without, abs=1e-9)
    np.testing.assert_allclose(by_moments.values, by_responses.values, atol=1e-8)
    np.testing.assert_allclose(by_moments.multipliers, by_responses.multipliers, atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_both_forms_give_the_same_solution(classes: int, missing: float) -> None:
    """Without acceleration, which amplifies rounding along flat directions of the objective."""
    responses = crowd(5, n=2000, k=classes, missing=missing)
    plain = Options(acceleration=None, tolerance=0.0, max_sweeps=500)
    by_moments = solve_seeded(responses, replace(plain, moments="counts"))
    by_responses = solve_seeded(responses, replace(plain, moments="labels"))
    np.testing.assert_allclose(by_moments.confusions, by_responses.confusions, atol=1e-8)
    np.testing.assert_allclose(by_moments.prior, by_responses.prior, atol=1e-8)


@pytest.mark.parametrize("weights", ["counts", "equal"])
def test_a_sweep_returns_the_objective_of_the_moments(weights: str) -> None:
    responses = crowd(3)
    moments = MomentCounts.count(responses).moments()
    problem = MomentProblem(moments, weights)
    factors = random_factors(responses, 1)
    for _ in range(3):
        objective = problem.sweep(factors, Settings())
        by_definition = moments.objective(factors.confusions, factors.prior, weights)
        assert objective == pytest.approx(by_definition, rel=1e-9)
