"""An order of annotators and classes that depends on the responses, not on the user's order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.model.posteriors import ExpectedCounts

Floats = NDArray[np.float64]


class CanonicalOrder(NamedTuple):
    """An order of annotators and classes that does not depend on how the user ordered them.

    Positions of the annotators who answered, most labels first, then most agreement with the
    vote; and of the classes, most votes first. A sweep is a Gauss–Seidel pass and acceleration
    amplifies rounding, so without this the result would depend, a little, on the order of the
    user's columns and on the names of classes.
    """

    annotators: NDArray[np.intp]
    classes: NDArray[np.intp]

    @classmethod
    def by_votes(cls, votes: ExpectedCounts) -> "CanonicalOrder":
        # Rounded, since sums of shared votes depend on their order in the last digits.
        labels = np.round(votes.counts.sum(axis=(1, 2)), 6)
        agreement = np.round(np.einsum("mkk->m", votes.counts), 6)
        annotators = np.lexsort((-agreement, -labels))
        reported = np.round(votes.counts.sum(axis=(0, 2)), 6)
        classes = np.lexsort((-reported, -np.round(votes.totals, 6)))
        return cls(annotators[labels[annotators] > 0], classes)

    def of(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Confusion matrices (or counts of their shape) and prior in this order."""
        return confusions[self._cut()], prior[self.classes]

    def put_back(self, ordered: Floats, prior: Floats, n_annotators: int) -> tuple[Floats, Floats]:
        """Undo :meth:`of`; annotators without answers get the mean of those with."""
        K = len(prior)
        confusions, shares = np.empty((n_annotators, K, K)), np.empty(K)
        confusions[:, self.classes[:, None], self.classes] = ordered.mean(axis=0)
        confusions[self._cut()] = ordered
        shares[self.classes] = prior
        return confusions, shares

    def _cut(self) -> tuple[NDArray[np.intp], ...]:
        return np.ix_(self.annotators, self.classes, self.classes)
