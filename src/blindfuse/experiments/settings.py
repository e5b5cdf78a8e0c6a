"""The synthetic settings of Section V-A, by the table or figure that they belong to."""

from dataclasses import dataclass

import numpy as np

from blindfuse.simulation import Simulation, simulate


@dataclass(frozen=True)
class Setting:
    """Class shares π and the number of annotators of one synthetic experiment."""

    name: str
    prior: tuple[float, ...]
    n_annotators: int = 10

    def draw(self, n_items: int, seed: int, skill: float = 0.0) -> Simulation:
        """Simulate it once; the paper does not say how Γ_m were drawn, see :func:`simulate`."""
        rng = np.random.default_rng([seed, n_items, len(self.prior)])
        return simulate(
            n_items, self.n_annotators, len(self.prior), rng, prior=self.prior, skill=skill
        )


TABLE_1 = Setting("Table I, K = 2", (0.9003, 0.0997))
TABLE_2 = Setting("Table II, K = 2", (0.5856, 0.4144))
FIGURE_3 = Setting("Figure 3, K = 5", (0.2404, 0.2679, 0.0731, 0.1950, 0.2236))
FIGURE_4 = Setting("Figure 4, K = 7", (0.2347, 0.0230, 0.0705, 0.1477, 0.2659, 0.0043, 0.2539))
FIGURE_11 = Setting("Figure 11, K = 3", (0.31, 0.34, 0.35))
