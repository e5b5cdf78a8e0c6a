"""Responses, problems and starting points for the tests of the solver."""

import numpy as np
from numpy.typing import NDArray

from blindfuse import MomentCounts, Responses, simulate
from blindfuse.solver.factors import Factors, random_start
from blindfuse.solver.problem import MomentProblem, ResponseProblem
from blindfuse.solver.solve import Options, Solution, solve

Floats = NDArray[np.float64]


def crowd(seed: int, n: int = 400, m: int = 6, k: int = 3, missing: float = 0.3) -> Responses:
    return simulate(n, m, k, np.random.default_rng(seed), missing=missing).responses


def random_factors(responses: Responses, seed: int) -> Factors:
    rng = np.random.default_rng(seed)
    shape = responses.n_annotators, responses.n_symbols, responses.n_classes
    return Factors.pack(*random_start(shape, rng))


def both_problems(responses: Responses) -> tuple[MomentProblem, ResponseProblem]:
    moments = MomentCounts.count(responses).moments()
    return MomentProblem(moments, "counts"), ResponseProblem(responses)


def solve_seeded(responses: Responses, options: Options, seed: int = 0) -> Solution:
    return solve(responses, options, np.random.default_rng(seed))
