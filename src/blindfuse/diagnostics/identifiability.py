"""Whether the responses determine the model (Lemma 1)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as small_components

from blindfuse.errors import list_names
from blindfuse.kernels.compilation import MIN_COMPILED
from blindfuse.kernels.components import connected_components
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array

RANK_TOLERANCE = 0.05
"""Singular values of Γ_m below this count as zero."""
MIN_ITEMS_PER_CLASS = 30
"""Expected items that a class needs for its columns of the confusion matrices to be estimated."""


@dataclass(frozen=True, eq=False)
class Identifiability:
    """Lemma 1: three annotators whose confusion matrices have full rank, and who share items.

    Attributes
    ----------
    n_full_rank
        number of annotators whose Γ_m has full rank: they distinguish all classes.
    n_components
        number of groups of annotators that share no item with another group.
    rare_classes
        classes with fewer than ``MIN_ITEMS_PER_CLASS`` expected items.
    n_annotators
        number of annotators with responses.
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
        """Which conditions are met, and which classes are too rare."""
        needed = "" if self.n_full_rank >= 3 else "; the model needs at least three"
        sentences = [
            f"{self.n_full_rank:,} of {self.n_annotators:,} annotators distinguish all classes"
            f"{needed}."
        ]
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
    K, N = responses.n_classes, responses.n_items
    return Identifiability(
        n_full_rank=int(np.count_nonzero((ranks == K) & responding)),
        n_components=_count_components(responses),
        rare_classes=responses.classes[model.prior * N < MIN_ITEMS_PER_CLASS],
        n_annotators=int(np.count_nonzero(responding)),
    )


def _count_components(responses: Responses) -> int:
    """The number of groups of responding annotators that no item links."""
    starts, annotators, _ = responses.by_item
    if responses.n_responses < MIN_COMPILED:
        M, N = responses.n_annotators, responses.n_items
        shape, items = (M + N, M + N), responses.item_of_response() + M
        links = coo_array((np.ones(len(items)), (annotators, items)), shape=shape)
        number, _ = small_components(links, directed=False)
        silent = np.count_nonzero(responses.responses_per_annotator == 0)
        return int(number - silent - np.count_nonzero(responses.responses_per_item == 0))
    components = connected_components(starts, annotators, responses.n_annotators)
    return len(np.unique(components[responses.responses_per_annotator > 0]))
