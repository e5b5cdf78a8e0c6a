"""What pairs of annotators say on the items that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from blindfuse.model import Model
from blindfuse.responses import Responses

Floats = NDArray[np.float64]

MOST_ITEMS = 200_000
"""Items that are looked at; above, so many are taken at even distances."""
MOST_COLUMNS = 3_000
"""Annotators times classes; above, those with most labels are looked at."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Answers of pairs, seen and expected.

    ``annotators[i]`` are the positions of those looked at, ``common[i, j]`` how many items they
    share (0 on the diagonal), ``seen[i, a, j, b]`` the shares of those in which they report a and
    b, and ``expected[i, a, j, b]`` what the model expects, Γ_i Π Γ_jᵀ.
    """

    annotators: NDArray[np.intp]
    common: Floats
    seen: Floats
    expected: Floats

    @property
    def agreement(self) -> tuple[Floats, Floats]:
        """How often pairs agree ``[i, j]``, seen and expected."""
        return np.einsum("iaja->ij", self.seen), np.einsum("iaja->ij", self.expected)

    def without(self, groups: Sequence[Sequence[int]]) -> "Pairs":
        """The same, with pairs inside these groups of positions left out."""
        common = self.common.copy()
        for group in groups:
            inside = np.isin(self.annotators, group)
            common[np.ix_(inside, inside)] = 0
        return replace(self, common=common)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """What is seen of pairs, whatever the model: as in :class:`Pairs`."""

    annotators: NDArray[np.intp]
    common: Floats
    seen: Floats

    def beside(self, model: Model) -> Pairs:
        """With what a model of the same annotators expects of them."""
        confusions = model.confusions[self.annotators]
        expected = np.tensordot(confusions * model.prior, confusions, axes=(2, 2))
        return Pairs(self.annotators, self.common, self.seen, expected)


def count_pairs(responses: Responses) -> PairCounts:
    """Pairs of the annotators with most labels, on at most MOST_ITEMS items."""
    step = -(-responses.n_items // MOST_ITEMS)
    table = responses.select_items(np.arange(0, responses.n_items, step))
    K = table.n_classes
    busiest = np.argsort(-table.labels_per_annotator, kind="stable")[: MOST_COLUMNS // K]
    chosen = np.sort(busiest)
    table = table.select_annotators(chosen)
    M = table.n_annotators
    starts, annotators, labels = table.by_item
    cells = annotators.astype(np.int64) * K + labels
    one_hot = csr_array((np.ones(len(cells)), cells, starts), shape=(table.n_items, M * K))
    counts = (one_hot.T @ one_hot).toarray().reshape(M, K, M, K)
    common = counts.sum(axis=(1, 3))
    np.fill_diagonal(common, 0.0)
    seen = counts / np.maximum(common, 1.0)[:, None, :, None]
    return PairCounts(chosen, common, seen)
