"""Simulated crowds, and their diagnostics under Dawid–Skene, for the tests of the diagnostics."""

from itertools import combinations

import numpy as np

from blindfuse import DawidSkene, Diagnostics, Responses, diagnose, simulate
from blindfuse.simulation import Simulation

GROUPS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
"""Planted groups of copiers."""
PLANTED_PAIRS = {pair for group in GROUPS for pair in combinations(group, 2)}


def copiers(seed: int, classes: int = 3, copying: float = 0.5) -> Simulation:
    """Ten thousand items by fifteen annotators, nine of them in three groups of copiers."""
    rng = np.random.default_rng(seed)
    return simulate(10_000, 15, classes, rng, dependent_groups=GROUPS, copy_probability=copying)


def diagnosed(responses: Responses) -> tuple[Diagnostics, DawidSkene]:
    """The diagnostics of Dawid–Skene on these responses, and the fitted method."""
    fitted = DawidSkene().fit(responses)
    return diagnose(responses, fitted.model_, fitted.posteriors_), fitted


def crowd(seed: int = 0, n: int = 400, m: int = 6, k: int = 3, missing: float = 0.3) -> Simulation:
    """Conditionally independent annotators."""
    return simulate(n, m, k, np.random.default_rng(seed), skill=0.3, missing=missing)
