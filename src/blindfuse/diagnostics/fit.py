"""Whether the model fits the pairwise agreement, and whether the responses determine it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from blindfuse.diagnostics.pairs import Pairs, sample_items
from blindfuse.errors import list_names
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Floats

MISFIT_Z = 3.0
"""Standard errors by which the misfit must exceed one to count against the model."""
RANK_TOLERANCE = 0.05
"""Singular values of Γ_m below this count as zero."""
MIN_ITEMS_PER_CLASS = 30
"""Expected items that a class needs for its columns of the confusion matrices to be estimated."""


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


@dataclass(frozen=True, eq=False)
class Identifiability:
    """Lemma 1: three annotators whose confusion matrices have full rank, and who share items.

    ``n_full_rank`` of ``n_annotators`` with responses distinguish all classes; they fall into
    ``n_components`` groups that share no item. ``rare_classes`` have fewer than
    ``MIN_ITEMS_PER_CLASS`` expected items.
    """

    n_full_rank: int
    n_components: int
    rare_classes: Array
    n_annotators: int

    @property
    def holds(self) -> bool:
        """Whether the conditions of Lemma 1 are met."""
        return self.n_full_rank >= 3 and self.n_components == 1

    def summary(self) -> str:
        """Which conditions are not met, and which classes are too rare; empty if all is well."""
        sentences = []
        if self.n_full_rank < 3:
            sentences.append(
                f"{self.n_full_rank:,} of {self.n_annotators:,} annotators distinguish all "
                "classes; the model needs at least three."
            )
        if self.n_components > 1:
            sentences.append(
                f"Annotators fall into {self.n_components:,} groups that share no items: compare "
                "accuracies only within a group."
            )
        if len(self.rare_classes):
            sentences.append(
                f"Fewer than {MIN_ITEMS_PER_CLASS} expected items, so confusions are uncertain: "
                f"{list_names(self.rare_classes)}."
            )
        return " ".join(sentences)


def check_identifiability(responses: Responses, model: Model) -> Identifiability:
    """Check ranks of the confusion matrices, shared items and rare classes."""
    ranks = np.linalg.matrix_rank(model.confusions, tol=RANK_TOLERANCE)
    responding = responses.responses_per_annotator > 0
    sample = sample_items(responses)
    components = _count_components(sample)  # what connects all annotators of a sample suffices
    if components > 1 and sample.n_items < responses.n_items:
        components = _count_components(responses)
    return Identifiability(
        n_full_rank=int(np.count_nonzero((ranks == responses.n_classes) & responding)),
        n_components=components - int(np.count_nonzero(~responding)),
        rare_classes=responses.classes[model.prior * responses.n_items < MIN_ITEMS_PER_CLASS],
        n_annotators=int(np.count_nonzero(responding)),
    )


def _count_components(responses: Responses) -> int:
    """The number of groups of annotators that no item links; each without responses is one."""
    M, size = responses.n_annotators, responses.n_annotators + responses.n_items
    ends = responses.by_item.codes, responses.item_of_response() + M
    links = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
    number, _ = connected_components(links, directed=False)
    return int(number - np.count_nonzero(responses.responses_per_item == 0))
