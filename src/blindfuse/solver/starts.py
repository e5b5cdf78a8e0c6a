"""Where Algorithm 1 starts: at the majority vote, at random, or at a model."""

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import expected_counts, vote_shares
from blindfuse.responses import Responses
from blindfuse.shrinkage import pooled_pseudo, shrink

Floats = NDArray[np.float64]

VOTE_STRENGTH = 1.0
"""Labels' worth of the crowd's matrix in each annotator's start: enough to fill empty columns."""


def vote_counts(responses: Responses, threads: int | None) -> tuple[Floats, Floats]:
    """``counts[m, reported, voted]`` against the majority vote, and the share of each class in it.

    Tied classes share an item, so that the order of classes does not matter.
    """
    shares = vote_shares(responses, threads)
    return expected_counts(responses, shares, threads), shares.sum(axis=0) / shares.sum()


def vote_start(counts: Floats) -> Floats:
    """Each annotator's confusion matrix, taking the majority vote for the truth."""
    labels = counts.sum(axis=1, keepdims=True)
    own = np.divide(counts, labels, out=np.zeros_like(counts), where=labels > 0)
    return shrink(own, counts, pooled_pseudo(counts, VOTE_STRENGTH))


def random_start(
    n_annotators: int, n_classes: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Confusion matrices and prior drawn uniformly from their simplices (step 2 of Algorithm 1)."""
    columns = rng.dirichlet(np.ones(n_classes), size=(n_annotators, n_classes))
    return columns.transpose(0, 2, 1).copy(), rng.dirichlet(np.ones(n_classes))


def visiting_order(counts: Floats) -> NDArray[np.intp]:
    """The annotators who answered, in an order that does not depend on how they are numbered.

    Most labels first, then most agreement with the vote: a sweep is a Gauss–Seidel pass, so
    without this the result would depend, a little, on the order of the user's columns.
    """
    labels = counts.sum(axis=(1, 2))
    agreement = np.einsum("mkk->m", counts)
    order = np.lexsort((-agreement, -labels))
    return np.asarray(order[labels[order] > 0], dtype=np.intp)
