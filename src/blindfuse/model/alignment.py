"""Step 12 of Algorithm 1: find the permutation of columns that names the classes (As2).

The objective (21) does not change if the columns of all confusion matrices and the entries of the
prior are permuted alike. Under As2 most annotators are better than random, so the right
permutation puts the largest entries on the diagonals. If most annotators are adversaries, no rule
can find it from the responses.

All rules return ``columns[class]``, the column that stands for each class. Where symbols are not
classes, their anchor says which symbols speak for which class.
"""

from collections import Counter
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from blindfuse.model.anchored_votes import standardize
from blindfuse.model.posteriors import ExpectedCounts
from blindfuse.responses.alphabet import IDENTITY, Anchor
from blindfuse.typing import Codes, Floats

Alignment = Literal["majority", "hungarian", "common"]

SCORE_WEIGHT = 1e6
"""Responses that an estimated distribution of scores counts for, when scores are standardised."""


def align_by_majority(confusions: Floats, prior: Floats) -> Codes:
    """Choose the permutation under which most annotators have large entries on the diagonal.

    Each annotator votes, for every column, for the row of its largest entry. The assignment with
    the most votes wins; ties go to the larger trace of Σ_m Γ_m. As2 is about how many annotators
    are better than random, not by how much, so a strong adversary counts no more than a weak one.
    Votes are weighted by the prior of the column, because the column of a rare class is mostly
    noise and must not displace the column of a class that is estimated well.
    """
    M, K, _ = confusions.shape
    largest = confusions.argmax(axis=1)
    votes = (largest[:, None, :] == np.arange(K)[None, :, None]).sum(axis=0)
    return _best_columns((votes + confusions.sum(axis=0) / (M * K + 1)) * prior)


def align_by_trace(confusions: Floats, _prior: Floats) -> Codes:
    """Choose the permutation with the largest trace of Σ_m Γ_m."""
    return _best_columns(confusions.sum(axis=0))


def align_by_most_common(confusions: Floats, _prior: Floats) -> Codes:
    """Choose the permutation that is best for the most annotators: the paper's rule, III-D.

    Ties go to the larger trace of Σ_m Γ_m.
    """
    counts = Counter(tuple(_best_columns(confusion).tolist()) for confusion in confusions)
    total = confusions.sum(axis=0)
    rows = np.arange(len(total))

    def rank(columns: tuple[int, ...]) -> tuple[int, float]:
        return counts[columns], float(total[rows, list(columns)].sum())

    return np.array(max(counts, key=rank), dtype=np.intp)


_RULES = {
    "majority": align_by_majority,
    "hungarian": align_by_trace,
    "common": align_by_most_common,
}


def find_alignment(
    confusions: Floats, prior: Floats, rule: Alignment = "majority", anchor: Anchor = IDENTITY
) -> Codes:
    """Return ``columns[class]`` by the rule: apply it to all confusion matrices and the prior.

    Through an anchor matrix, the rule sees the probabilities that a response speaks for each class.
    Columns of scores are sorted by their mean standardised score. Without an anchor, the order of
    the columns means nothing and is kept.
    """
    if anchor.matrix is not None:
        votes = anchor.matrix / np.maximum(anchor.matrix.sum(axis=1, keepdims=True), 1e-300)
        return _RULES[rule](np.einsum("rc,mrk->mck", votes, confusions), prior)
    if anchor.values is not None:
        values = standardize(np.nan_to_num(anchor.values), confusions @ prior * SCORE_WEIGHT)
        return np.asarray(np.argsort(np.einsum("mr,mrk->k", values, confusions), kind="stable"))
    if anchor.kind == "none":
        return np.arange(len(prior))
    return _RULES[rule](confusions, prior)


def _best_columns(matrix: Floats) -> Codes:
    """Assign columns to rows with the largest sum of entries (Hungarian algorithm, O(K³))."""
    _, columns = linear_sum_assignment(matrix, maximize=True)
    return np.asarray(columns, dtype=np.intp)


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
