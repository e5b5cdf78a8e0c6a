"""What pairs of annotators say on the items that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import lanes_of
from blindfuse.kernels.pairs import add_pairs, compare_with_model
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MOST_ITEMS = 200_000
"""Items that are looked at; above, so many are taken at even distances."""
MOST_COLUMNS = 3_000
"""Annotators times classes; above, those with most labels are looked at."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Answers of pairs that share items, beside what a model expects of them.

    ``annotators[i]`` are the positions of those looked at, and ``labels[i]`` how many they gave in
    all. A pair is ``i[pair]`` and ``j[pair]`` of these, with ``common[pair]`` items. S[a, b] are
    the shares of those in which they report a and b, and P = Γ_i Π Γ_jᵀ what the model expects:
    ``residual[pair]`` is common · ‖S − P‖², ``size[pair]`` is ‖P‖², and ``agreed[pair]`` and
    ``expected[pair]`` are how often they agree, seen and expected.
    """

    annotators: NDArray[np.intp]
    n_classes: int
    labels: Floats
    i: NDArray[np.intp]
    j: NDArray[np.intp]
    common: Floats
    residual: Floats
    size: Floats
    agreed: Floats
    expected: Floats

    def without(self, groups: Sequence[Sequence[int]]) -> "Pairs":
        """The same, with pairs inside these groups of positions left out."""
        group_of = np.full(len(self.annotators), -1)
        for g, group in enumerate(groups):
            group_of[np.isin(self.annotators, group)] = g
        return self._only((group_of[self.i] != group_of[self.j]) | (group_of[self.i] < 0))

    def sharing(self, least: int) -> "Pairs":
        """The same, with pairs that share fewer items left out."""
        return self._only(self.common >= least)

    def _only(self, kept: NDArray[np.bool_]) -> "Pairs":
        names = ("i", "j", "common", "residual", "size", "agreed", "expected")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})


@dataclass(frozen=True, eq=False)
class PairCounts:
    """What is seen of pairs, whatever the model: ``counts[i, a, j, b]`` items for i < j."""

    annotators: NDArray[np.intp]
    labels: Floats
    counts: NDArray[np.int32]

    def beside(self, model: Model, least: int = 1) -> Pairs:
        """With what a model of the same annotators expects of those that share ``least`` items."""
        M, K = self.counts.shape[:2]
        confusions = model.confusions[self.annotators]
        pairs = np.empty((2, M * (M - 1) // 2), dtype=np.intp)
        found = np.empty((5, M * (M - 1) // 2))
        n = compare_with_model(
            self.counts, confusions, model.prior, least, lanes_of(K), *pairs, *found
        )
        return Pairs(self.annotators, K, self.labels, *pairs[:, :n], *found[:, :n])


def count_pairs(responses: Responses) -> PairCounts:
    """Pairs of the annotators with most labels, on at most MOST_ITEMS items."""
    table, K = responses, responses.n_classes
    step = -(-responses.n_items // MOST_ITEMS)
    if step > 1:
        table = table.select_items(np.arange(0, responses.n_items, step))
    busiest = np.argsort(-table.responses_per_annotator, kind="stable")[: MOST_COLUMNS // K]
    chosen = np.sort(busiest)
    if len(chosen) < table.n_annotators:
        table = table.select_annotators(chosen)
    M = table.n_annotators
    counts = np.zeros((M * K, M * K), dtype=np.int32)
    add_pairs(*table.by_item, K, counts)
    # Of all items, also of those not looked at: a model has matched the first moments of all.
    labels = responses.responses_per_annotator[chosen].astype(float)
    return PairCounts(chosen, labels, counts.reshape(M, K, M, K))
