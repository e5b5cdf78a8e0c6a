"""The synthetic settings of Section V-A, named after their table or figure."""

from dataclasses import dataclass

import numpy as np

from blindfuse import Simulation, simulate


@dataclass(frozen=True)
class Setting:
    """Class prior π and number of annotators of one synthetic experiment."""

    name: str
    prior: tuple[float, ...]
    n_annotators: int = 10

    def draw(
        self,
        n_items: int,
        seed: int,
        skill: float = 0.0,
        n_annotators: int | None = None,
        adversaries: float = 0.0,
        same_annotators: bool = False,
    ) -> Simulation:
        """Simulate responses; the paper does not say how Γ_m were drawn, see :func:`simulate`.

        With ``same_annotators``, the confusion matrices depend only on the seed, not on the number
        of items.
        """
        classes = len(self.prior)
        seeds = [seed, classes] if same_annotators else [seed, n_items, classes]
        return simulate(
            n_items,
            n_annotators or self.n_annotators,
            classes,
            np.random.default_rng(seeds),
            prior=self.prior,
            skill=skill,
            adversaries=adversaries,
        )


TABLE_1 = Setting("Table I, K = 2", (0.9003, 0.0997))
TABLE_2 = Setting("Table II, K = 2", (0.5856, 0.4144))
FIGURE_3 = Setting("Figure 3, K = 5", (0.2404, 0.2679, 0.0731, 0.1950, 0.2236))
FIGURE_4 = Setting("Figure 4, K = 7", (0.2347, 0.0230, 0.0705, 0.1477, 0.2659, 0.0043, 0.2539))
FIGURE_6 = Setting("Figure 6, K = 3", (0.2318, 0.4713, 0.2969))
FIGURE_7 = Setting("Figure 7, K = 5", (0.3596, 0.1553, 0.1229, 0.3258, 0.0364))
FIGURE_10 = Setting("Figure 10, K = 3", (0.3096, 0.3416, 0.3488), 30)
FIGURE_11 = Setting("Figure 11, K = 3", (0.31, 0.34, 0.35))

SETTINGS = {
    setting.name: setting
    for setting in (
        *(TABLE_1, TABLE_2, FIGURE_3, FIGURE_4),
        *(FIGURE_6, FIGURE_7, FIGURE_10, FIGURE_11),
    )
}
