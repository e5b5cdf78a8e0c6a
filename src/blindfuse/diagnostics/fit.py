"""How far the answers are from what the model expects."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.pairs import Pairs

Floats = NDArray[np.float64]

SURE = 3.0
"""Standard errors by which a misfit must exceed one to speak against the model."""
SEVERE_MISFIT = 5.0
"""A misfit above this is far from any crowd of independent annotators."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The misfit ratio: squared residuals of second moments over their sampling noise.

    Σ_ij n_ij ‖R̂_ij − Γ_i Π Γ_jᵀ‖² / Σ_ij c_ij (1 − ‖Γ_i Π Γ_jᵀ‖²) over pairs with n_ij common
    items. 1 − ‖·‖² is the mean of n_ij ‖·‖² under the model, over K² − 1 free directions. K − 1 of
    them are the first moments of i, which are matched over its n_i labels, and so are matched in
    n_ij / n_i of what noise they have here; likewise those of j. That leaves
    c_ij = 1 − (n_ij / n_i + n_ij / n_j) / (K + 1). The ratio is about one or less where the model
    holds, whatever the number of items. ``by_annotator[annotator]`` has the pairs with one, NaN
    for none. ``by_chance`` is what it may be by chance: pairs share annotators and items, so they
    count for no more than the M (K − 1) first moments, and the ratio varies by √(2 / M (K − 1)).
    """

    misfit: float
    by_annotator: Floats
    by_chance: float

    @property
    def holds(self) -> bool:
        """Whether pairs do not speak against the model."""
        return self.misfit < self.by_chance

    def summary(self) -> str:
        """In words."""
        ratio = f"Answers of pairs are {self.misfit:.2g} times as far from the model as noise is"
        if self.holds:
            return f"{ratio}: pairs do not speak against the model."
        if self.misfit < SEVERE_MISFIT:
            return f"{ratio}: it fits roughly."
        return (
            f"{ratio}: it does not fit, annotators err together. Do not trust posteriors that a "
            "model of independent annotators would give."
        )


def measure_fit(pairs: Pairs, n_annotators: int) -> Fit:
    """The misfit of all pairs, and of each annotator's."""
    matched = pairs.common * (1 / pairs.labels[pairs.i] + 1 / pairs.labels[pairs.j])
    noise = (1 - matched / (pairs.n_classes + 1)) * (1 - pairs.size)
    by_annotator = np.full(n_annotators, np.nan)
    own = _by_annotator(pairs, pairs.residual), _by_annotator(pairs, noise)
    by_annotator[pairs.annotators] = _ratio(*own)
    directions = max(len(pairs.annotators), 1) * (pairs.n_classes - 1)
    by_chance = 1 + SURE * float(np.sqrt(2 / directions))
    return Fit(float(_ratio(pairs.residual.sum(), noise.sum())), by_annotator, by_chance)


def _by_annotator(pairs: Pairs, values: Floats) -> Floats:
    """Values ``[pair]`` added up for each of those looked at."""
    M = len(pairs.annotators)
    sums = np.bincount(pairs.i, values, minlength=M) + np.bincount(pairs.j, values, minlength=M)
    return np.asarray(sums, dtype=float)


def _ratio(residual: Floats, noise: Floats) -> Floats:
    """One where there is nothing that could vary."""
    return np.divide(residual, noise, out=np.ones_like(residual), where=noise > 1e-9)
