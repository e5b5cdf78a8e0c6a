"""Simulated crowds that several tests use."""

import numpy as np

from blindfuse import Simulation, simulate

GROUPS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
"""Annotators who copy from the first of their group."""


def copiers(seed: int, classes: int = 3, copying: float = 0.5) -> Simulation:
    """Ten thousand items by fifteen annotators, nine of them in three groups of copiers."""
    rng = np.random.default_rng(seed)
    return simulate(10_000, 15, classes, rng, dependent_groups=GROUPS, copy_probability=copying)
