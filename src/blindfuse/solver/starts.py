"""Where Algorithm 1 starts: at the majority vote, at random, or at a model."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import Sums
from blindfuse.shrinkage import pooled_pseudo, shrink

Floats = NDArray[np.float64]

VOTE_STRENGTH = 1.0
"""Labels' worth of the crowd's matrix in each annotator's start: enough to fill empty columns."""


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


class Order(NamedTuple):
    """An order of annotators and classes that does not depend on how the user ordered them.

    Positions of the annotators who answered, most labels first, then most agreement with the
    vote; and of the classes, most votes first. A sweep is a Gauss–Seidel pass and acceleration
    amplifies rounding, so without this the result would depend, a little, on the order of the
    user's columns and on the names of classes.
    """

    annotators: NDArray[np.intp]
    classes: NDArray[np.intp]

    @classmethod
    def by_votes(cls, votes: Sums) -> "Order":
        labels = votes.counts.sum(axis=(1, 2))
        agreement = np.einsum("mkk->m", votes.counts)
        annotators = np.lexsort((-agreement, -labels))
        reported = votes.counts.sum(axis=(0, 2))
        classes = np.lexsort((-reported, -votes.totals))
        return cls(annotators[labels[annotators] > 0], classes)

    def of(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Confusion matrices and prior in this order."""
        cut = np.ix_(self.annotators, self.classes, self.classes)
        return confusions[cut], prior[self.classes]

    def put_back(self, ordered: Floats, prior: Floats, into: Floats) -> tuple[Floats, Floats]:
        """Undo :meth:`of`; annotators without answers keep what ``into`` holds."""
        confusions, shares = into.copy(), np.empty_like(prior)
        confusions[np.ix_(self.annotators, self.classes, self.classes)] = ordered
        shares[self.classes] = prior
        return confusions, shares
