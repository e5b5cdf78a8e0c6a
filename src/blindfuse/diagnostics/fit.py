"""Whether the model fits the pairwise agreement."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.pairs import Pairs
from blindfuse.typing import Floats

MISFIT_Z = 3.0
"""Standard errors by which the misfit must exceed one to count against the model."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The misfit: squared residuals of the second moments, relative to their sampling noise.

    Σ_ij n_ij ‖R̂_ij − Γ_i Π Γ_jᵀ‖² / Σ_ij c_ij (1 − ‖Γ_i Π Γ_jᵀ‖²) over pairs with n_ij common
    items. 1 − ‖·‖² is the mean of n_ij ‖·‖² under the model, over K² − 1 free directions. K − 1 of
    them are the first moments of i. These were fitted over its n_i responses, which removes
    n_ij / n_i of their noise here; likewise for j. That leaves
    c_ij = 1 − (n_ij / n_i + n_ij / n_j) / (K + 1). The misfit is about one or less where the model
    holds, whatever the number of items.

    Attributes
    ----------
    misfit, by_annotator ``[annotator]``
        the ratio over all pairs, and over those of one annotator (NaN without pairs).
    chance_limit
        what the misfit may reach by chance. Pairs share annotators and items, so they carry no
        more information than the M (K − 1) first moments, and the standard deviation of the misfit
        is √(2 / M (K − 1)).
    """

    misfit: float
    by_annotator: Floats
    chance_limit: float

    @property
    def holds(self) -> bool:
        """Whether the misfit is within what chance explains."""
        return self.misfit < self.chance_limit

    def summary(self) -> str:
        """The misfit and the verdict."""
        return (
            "Pairwise agreement deviates from the model of independent annotators by "
            f"{self.misfit:.2g} × the sampling noise: the model "
            f"{'fits' if self.holds else 'does not fit'}."
        )


def measure_fit(pairs: Pairs, n_annotators: int) -> Fit:
    """Measure the misfit over all pairs, and over the pairs of each annotator."""
    n, M = pairs.n_responses, len(pairs.annotators)
    fitted = pairs.n_common * (1 / n[pairs.i] + 1 / n[pairs.j])
    noise = (1 - fitted / (pairs.n_symbols + 1)) * (1 - pairs.squared_norm)

    def of_annotators(values: Floats) -> Floats:
        return np.bincount(pairs.i, values, M).astype(float) + np.bincount(pairs.j, values, M)

    by_annotator = np.full(n_annotators, np.nan)
    by_annotator[pairs.annotators] = _ratio(of_annotators(pairs.residual), of_annotators(noise))
    chance_limit = 1 + MISFIT_Z * float(np.sqrt(2 / (max(M, 1) * (pairs.n_symbols - 1))))
    return Fit(float(_ratio(pairs.residual.sum(), noise.sum())), by_annotator, chance_limit)


def _ratio(residual: Floats, noise: Floats) -> Floats:
    """residual / noise; one where there is no noise."""
    return np.divide(residual, noise, out=np.ones(np.shape(noise)), where=noise > 1e-9)
