"""What pairs of annotators say on the items that they share."""

from dataclasses import dataclass

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


def count_pairs(responses: Responses, model: Model) -> Pairs:
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
    confusions = model.confusions[chosen]
    expected = np.tensordot(confusions * model.prior, confusions, axes=(2, 2))
    return Pairs(chosen, common, seen, expected)
