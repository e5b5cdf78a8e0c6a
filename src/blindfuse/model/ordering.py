"""An order of annotators and classes that depends only on the responses."""

from typing import NamedTuple

import numpy as np

from blindfuse.model.posteriors import ExpectedCounts
from blindfuse.typing import Codes, Floats


class CanonicalOrder(NamedTuple):
    """An order of annotators and classes that does not depend on their order in the input.

    ``annotators`` are the positions of those with responses, sorted by the number of responses,
    then by agreement with the majority vote. ``classes`` are the positions of the classes, sorted
    by the number of items that the majority vote gives them; ``symbols`` have the order of the
    classes for plain labels, and keep their own otherwise. A sweep of Algorithm 1 updates the
    annotators one after the other and acceleration amplifies rounding, so without a canonical
    order the result would depend slightly on the order of the input.
    """

    annotators: Codes
    classes: Codes
    symbols: Codes

    @classmethod
    def by_votes(cls, votes: ExpectedCounts, is_plain: bool = True) -> "CanonicalOrder":
        """Sort by the expected counts under the majority vote."""
        # Rounded, because the last digits of sums of fractions depend on the order of the terms.
        n_responses = np.round(votes.counts.sum(axis=(1, 2)), 6)
        if not is_plain:
            reported = np.round((votes.counts**2).sum(axis=(1, 2)), 3)
            annotators = np.lexsort((-reported, -n_responses))
            _, R, K = votes.counts.shape
            return cls(annotators[n_responses[annotators] > 0], np.arange(K), np.arange(R))
        agreement = np.round(np.einsum("mkk->m", votes.counts), 6)
        annotators = np.lexsort((-agreement, -n_responses))
        reported = np.round(votes.counts.sum(axis=(0, 2)), 6)
        classes = np.lexsort((-reported, -np.round(votes.totals, 6)))
        return cls(annotators[n_responses[annotators] > 0], classes, classes)

    def apply(self, confusions: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Return confusion matrices (or counts of their shape) and prior in this order."""
        return confusions[np.ix_(self.annotators, *self._axes)], prior[self.classes]

    def undo(self, confusions: Floats, prior: Floats, n_annotators: int) -> tuple[Floats, Floats]:
        """Return the inverse of :meth:`apply`.

        Annotators without responses get the mean confusion matrix of the others.
        """
        shape = n_annotators, *confusions.shape[1:]
        all_confusions, all_prior = np.empty(shape), np.empty(len(prior))
        all_confusions[:, self._axes[0][:, None], self._axes[1]] = confusions.mean(axis=0)
        all_confusions[np.ix_(self.annotators, *self._axes)] = confusions
        all_prior[self.classes] = prior
        return all_confusions, all_prior

    @property
    def _axes(self) -> tuple[Codes, Codes]:
        return self.symbols, self.classes
