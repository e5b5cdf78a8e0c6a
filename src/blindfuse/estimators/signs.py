"""What methods for two classes share: answers as signs, and weights that may be negative."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from blindfuse.errors import BadLabels, NotIdentifiable, naming
from blindfuse.estimators.base import to_fit
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

FILLED, PIECE = 0.05, 20_000
"""Share of cells from which on a table counts as filled, and items made dense at once."""


def to_fit_signs(data: Any, method: str) -> tuple[Responses, csr_array]:
    """Responses in two classes, and their signs ``[item, annotator]``: −1 and +1, 0 unanswered."""
    responses = to_fit(data)
    if responses.n_classes != 2:
        raise BadLabels(
            f"{method} knows two classes, not {responses.n_classes} ({naming(responses.classes)}). "
            "Use BlindEnsemble or DawidSkene, which know any number."
        )
    return responses, signs(responses, responses.by_item.labels == 1)


def signs(responses: Responses, yes: NDArray[np.bool_]) -> csr_array:
    """Answers ``yes[label]`` as +1 and the others as −1, sparse ``[item, annotator]``."""
    starts, annotators, _ = responses.by_item
    shape = (responses.n_items, responses.n_annotators)
    return csr_array((2.0 * yes - 1.0, annotators, starts), shape=shape)


def products_of(table: csr_array) -> Floats:
    """AᵀA of a table ``[item, annotator]``.

    Where many cells are filled, pieces of items are made dense: BLAS is far faster there than going
    from cell to cell.
    """
    N, M = table.shape
    if table.nnz < FILLED * N * M:
        return np.asarray((table.T @ table).toarray())
    total = np.zeros((M, M))
    for begin in range(0, N, PIECE):
        piece = table[begin : begin + PIECE].toarray()
        total += piece.T @ piece
    return total


def leading(matrix: Floats) -> tuple[float, Floats]:
    """The largest eigenvalue of a symmetric matrix, and its eigenvector."""
    last = len(matrix) - 1
    values, vectors = eigh(matrix, subset_by_index=(last, last))
    return float(values[0]), np.asarray(vectors[:, 0])


def pair_means(table: csr_array) -> tuple[Floats, Floats]:
    """Mean products of answers by pairs of annotators over common items, and their numbers."""
    answered = abs(table)
    together, products = products_of(answered), products_of(table)
    means = np.divide(products, together, out=np.zeros_like(products), where=together > 0)
    return means, together


def require_three(together: Floats, method: str) -> None:
    """Refuse where no two annotators but few share items, so that skill cannot be seen."""
    partners = np.count_nonzero(together - np.diag(np.diag(together)), axis=1)
    if np.count_nonzero(partners >= 2) < 3:
        raise NotIdentifiable(
            f"{method} needs three annotators who share items with two others each.",
            "Use MajorityVote, which needs only one response per item.",
        )


def towards_vote(table: csr_array, weights: Floats) -> Floats:
    """The weights, or their negatives, whichever labels more items as the majority does."""
    agreement = np.sign(table @ weights) @ np.sign(table.sum(axis=1))
    return -weights if agreement < 0 else weights
