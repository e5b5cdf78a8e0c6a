"""Two-class methods: responses as signs, pairwise products, and eigenvectors."""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from blindfuse.errors import BadLabels, NotIdentifiable, list_names
from blindfuse.responses.responses import Responses
from blindfuse.typing import Flags, Floats

MIN_DENSE_SHARE = 0.05
"""Share of filled cells from which dense products are faster than sparse ones."""
BLOCK_ITEMS = 20_000
"""Items that are made dense at once."""


def binary_signs(responses: Responses, method: str) -> csr_array:
    """Return two-class responses as signs ``[item, annotator]``: −1, +1, and 0 for missing."""
    if responses.n_classes != 2:
        raise BadLabels(
            f"{method} needs two classes, not {responses.n_classes} "
            f"({list_names(responses.classes)}). "
            "Use BlindEnsemble or DawidSkene, which accept any number of classes."
        )
    return to_signs(responses, responses.by_item.symbols == 1)


def to_signs(responses: Responses, is_positive: Flags) -> csr_array:
    """Return +1 where ``is_positive[response]`` and −1 elsewhere, sparse ``[item, annotator]``."""
    starts, annotators, _ = responses.by_item
    shape = (responses.n_items, responses.n_annotators)
    return csr_array((2.0 * is_positive - 1.0, annotators, starts), shape=shape)


def gram_matrix(table: csr_array) -> Floats:
    """Return AᵀA of a table ``[item, annotator]``.

    Where many cells are filled, blocks of items are made dense: BLAS is much faster than a sparse
    product there.
    """
    N, M = table.shape
    if table.nnz < MIN_DENSE_SHARE * N * M:
        return np.asarray((table.T @ table).toarray())
    total = np.zeros((M, M))
    for begin in range(0, N, BLOCK_ITEMS):
        block = table[begin : begin + BLOCK_ITEMS].toarray()
        total += block.T @ block
    return total


def leading_eigenpair(matrix: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue of a symmetric matrix and its eigenvector."""
    last = len(matrix) - 1
    values, vectors = eigh(matrix, subset_by_index=(last, last))
    return float(values[0]), np.asarray(vectors[:, 0])


def mean_pair_products(signs: csr_array) -> tuple[Floats, Floats]:
    """Return the mean products of signs over common items, and the numbers of common items.

    Both have shape ``[annotator, annotator]``; the mean is zero for pairs without common items.
    """
    common, products = gram_matrix(abs(signs)), gram_matrix(signs)
    means = np.divide(products, common, out=np.zeros_like(products), where=common > 0)
    return means, common


def require_three_overlapping(common: Floats, method: str) -> None:
    """Raise NotIdentifiable unless three annotators share items with two others each."""
    partners = np.count_nonzero(common - np.diag(np.diag(common)), axis=1)
    if np.count_nonzero(partners >= 2) < 3:
        raise NotIdentifiable(
            f"{method} needs three annotators who share items with two others each.",
            "Use MajorityVote, which needs only one response per item.",
        )


def orient_to_majority(signs: csr_array, weights: Floats) -> Floats:
    """Return the weights or their negatives, whichever agree with more majority votes."""
    agreement = np.sign(signs @ weights) @ np.sign(signs.sum(axis=1))
    return -weights if agreement < 0 else weights
