"""How far the answers are from what the model expects."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.pairs import Pairs

Floats = NDArray[np.float64]

WELL, BADLY = 2.0, 5.0
"""Misfits below the first are noise, above the second no noise can explain them."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The misfit ratio: squared residuals of second moments over their sampling noise.

    Σ_ij n_ij ‖R̂_ij − Γ_i Π Γ_jᵀ‖² / c Σ_ij (1 − ‖Γ_i Π Γ_jᵀ‖²) over pairs with n_ij common items.
    1 − ‖·‖² is the mean of n_ij ‖·‖² under the model, over K² − 1 free directions; the first
    moments are matched, which leaves (K − 1)² of them, c = (K − 1)/(K + 1). The ratio is about one
    or less where the model holds, whatever the number of items. ``by_annotator[annotator]`` has
    the pairs with one, NaN for none.
    """

    misfit: float
    by_annotator: Floats

    def summary(self) -> str:
        """In words."""
        ratio = f"Answers of pairs are {self.misfit:.2g} times as far from the model as noise is"
        if self.misfit < WELL:
            return f"{ratio}: pairs do not speak against the model."
        if self.misfit < BADLY:
            return f"{ratio}: it fits roughly."
        return (
            f"{ratio}: it does not fit, annotators err together. Do not trust posteriors that a "
            "model of independent annotators would give."
        )


def measure_fit(pairs: Pairs, n_annotators: int) -> Fit:
    """The misfit of all pairs, and of each annotator's."""
    residual = pairs.common * np.sum((pairs.seen - pairs.expected) ** 2, axis=(1, 3))
    K = pairs.seen.shape[1]
    variance = (K - 1) / (K + 1) * (1 - np.sum(pairs.expected**2, axis=(1, 3)))
    noise = np.where(pairs.common > 0, variance, 0.0)
    residual = np.where(pairs.common > 0, residual, 0.0)
    by_annotator = np.full(n_annotators, np.nan)
    by_annotator[pairs.annotators] = _ratio(residual.sum(axis=1), noise.sum(axis=1))
    return Fit(float(_ratio(residual.sum(), noise.sum())), by_annotator)


def _ratio(residual: Floats, noise: Floats) -> Floats:
    """One where there is nothing that could vary."""
    return np.divide(residual, noise, out=np.ones_like(residual), where=noise > 1e-9)
