"""An order of annotators and classes that depends only on the responses."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.model.posteriors import ExpectedCounts

Floats = NDArray[np.float64]


class CanonicalOrder(NamedTuple):
    """An order of annotators and classes that does not depend on their order in the input.

    ``annotators`` are the positions of those with responses, sorted by the number of responses,
    then by agreement with the majority vote. ``classes`` are the positions of the classes, sorted
    by the number of items that the majority vote gives them. A sweep of Algorithm 1 updates the
    annotators one after the other and acceleration amplifies rounding, so without a canonical
    order the result would depend slightly on the order of the input.
    """

    annotators: NDArray[np.intp]
    classes: NDArray[np.intp]

    @classmethod
    def by_votes(cls, votes: ExpectedCounts) -> "CanonicalOrder":
        """Sort by the expected counts under the majority vote."""
        # Rounded, because the last digits of sums of fractions depend on the order of the terms.
        n_responses = np.round(votes.counts.sum(axis=(1, 2)), 6)
        agreement = np.round(np.einsum("mkk->m", votes.counts), 6)
        annotators = np.lexsort((-agreement, -n_responses))
        reported = np.round(votes.counts.sum(axis=(0, 2)), 6)
        classes = np.lexsort((-reported, -np.round(votes.totals, 6)))
        return cls(annotators[n_responses[annotators] > 0], classes)

    def apply(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Return confusion matrices (or counts of their shape) and prior in this order."""
        return confusions[self._index()], prior[self.classes]

    def undo(self, confusions: Floats, prior: Floats, n_annotators: int) -> tuple[Floats, Floats]:
        """Return the inverse of :meth:`apply`.

        Annotators without responses get the mean confusion matrix of the others.
        """
        K = len(prior)
        all_confusions, all_prior = np.empty((n_annotators, K, K)), np.empty(K)
        all_confusions[:, self.classes[:, None], self.classes] = confusions.mean(axis=0)
        all_confusions[self._index()] = confusions
        all_prior[self.classes] = prior
        return all_confusions, all_prior

    def _index(self) -> tuple[NDArray[np.intp], ...]:
        return np.ix_(self.annotators, self.classes, self.classes)
