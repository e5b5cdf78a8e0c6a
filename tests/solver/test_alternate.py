"""The outer loop: Proposition 1, Lemma 1, and the stopping rules."""

from itertools import combinations

import numpy as np
import pytest

from blindfuse import MomentCounts, Moments, simulate
from blindfuse.solver.acceleration import Anderson, Plain
from blindfuse.solver.alternate import alternate
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import MomentProblem, Settings
from blindfuse.solver.solve import Options
from tests.solver.cases import Floats, both_problems, crowd, random_factors, solve_seeded


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_proposition_1_the_plain_objective_never_increases(seed: int, missing: float) -> None:
    responses = crowd(seed, missing=missing)
    for problem in both_problems(responses):
        start = random_factors(responses, seed)
        _, trace = alternate(problem, start, Settings(), Plain(), 200, 0.0)
        assert np.all(np.diff(trace.objective) <= 1e-12 * np.abs(trace.objective[1:]))
        assert trace.objective[-1] < trace.objective[0]


@pytest.mark.parametrize("seed", range(5))
def test_lemma_1_population_moments_determine_the_model(seed: int) -> None:
    truth = simulate(1, 4, 3, np.random.default_rng(seed), skill=0.3).model
    moments = population_moments(truth.confusions, truth.prior)
    start = Factors.pack(0.7 * truth.confusions + 0.1, np.full(3, 1 / 3))
    problem = MomentProblem(moments, "counts")
    factors, trace = alternate(problem, start, Settings(), Anderson(), 5000, 1e-12)
    assert trace.objective.min() < 1e-12
    np.testing.assert_allclose(factors.confusions, truth.confusions, atol=1e-3)
    np.testing.assert_allclose(factors.prior, truth.prior, atol=1e-3)


def population_moments(confusions: Floats, prior: Floats) -> Moments:
    """The moments (13), (14) and (16) of a model."""
    M = len(confusions)
    second = [(confusions[i] * prior) @ confusions[j].T for i, j in combinations(range(M), 2)]
    third = [
        np.einsum("k,ak,bk,ck->abc", prior, confusions[i], confusions[j], confusions[l])
        for i, j, l in combinations(range(M), 3)
    ]
    ones = [np.ones(size, dtype=np.int64) for size in (M, len(second), len(third))]
    return Moments(1, confusions @ prior, np.array(second), np.array(third), *ones)


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_without_a_tolerance_sweeps_stop_within_noise_of_the_minimum(
    seed: int, missing: float
) -> None:
    """N h_N is a sum of about one half per moment, so 0.1 is small against the noise of one."""
    responses = crowd(seed, n=2000, missing=missing)
    options = Options(tolerance=1e-9, max_sweeps=5000, moments="counts")
    minimum = solve_seeded(responses, options).trace.objective.min()
    for moments in ("counts", "labels"):
        solution = solve_seeded(responses, Options(moments=moments))
        sample = MomentCounts.count(responses).moments()
        objective = sample.objective(solution.confusions, solution.prior)
        assert 2000 * (objective - minimum) < 0.1
