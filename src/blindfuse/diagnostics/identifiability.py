"""Whether the answers can determine the model at all (Lemma 1)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import naming
from blindfuse.kernels.components import link
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

RANK_TOLERANCE = 0.05
"""A singular value of Γ_m below this counts as zero: columns that alike are not told apart."""
FEW_ITEMS = 30
"""Expected items below which a class is too rare for its columns to be estimated."""


@dataclass(frozen=True, eq=False)
class Identifiability:
    """Lemma 1: three annotators whose Γ_m have full rank, who share items.

    ``ranks[annotator]`` and ``conditions[annotator]`` of Γ_m; ``tell_all`` annotators have full
    rank; ``parts`` are groups of annotators that share no item with another group; ``rare`` are
    classes with fewer than FEW_ITEMS expected items.
    """

    ranks: NDArray[np.intp]
    conditions: Floats
    tell_all: int
    parts: int
    rare: NDArray[Any]
    n_annotators: int

    @property
    def holds(self) -> bool:
        """Whether the model is determined up to what the summary says."""
        return self.tell_all >= 3 and self.parts == 1

    def summary(self) -> str:
        """In words."""
        says = [
            f"{self.tell_all:,} of {self.n_annotators:,} annotators tell all classes apart"
            f"{'' if self.tell_all >= 3 else '; at least three are needed to be sure of the rest'}."
        ]
        if self.parts > 1:
            says.append(
                f"Annotators fall into {self.parts:,} groups that share no items: skills compare "
                "within a group only."
            )
        if len(self.rare):
            says.append(f"Too rare to say who confuses them: {naming(self.rare)}.")
        return " ".join(says)


def check_identifiability(responses: Responses, model: Model) -> Identifiability:
    """Ranks of the estimated matrices, connections of annotators through items, rare classes."""
    values = np.linalg.svd(model.confusions, compute_uv=False)
    ranks = np.count_nonzero(values > RANK_TOLERANCE, axis=1)
    answering = responses.responses_per_annotator > 0
    K, N = responses.n_classes, responses.n_items
    return Identifiability(
        ranks=ranks,
        conditions=values[:, 0] / np.maximum(values[:, -1], 1e-12),
        tell_all=int(np.count_nonzero((ranks == K) & answering)),
        parts=_parts(responses),
        rare=responses.classes[model.prior * N < FEW_ITEMS],
        n_annotators=int(np.count_nonzero(answering)),
    )


def _parts(responses: Responses) -> int:
    """Groups of annotators who answered, of which no two are linked through items."""
    heads = link(responses.by_item.starts, responses.by_item.codes, responses.n_annotators)
    return len(np.unique(heads[responses.responses_per_annotator > 0]))
