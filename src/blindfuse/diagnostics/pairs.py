"""Responses of pairs of annotators to the items that they share, compared with a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import lanes_of
from blindfuse.kernels.pairs import add_pair_counts, compare_with_model
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MAX_ITEMS = 200_000
"""Maximum number of items that are counted; of more, an evenly spaced sample."""
MAX_COLUMNS = 3_000
"""Maximum number of annotators times symbols; beyond, the annotators with most responses."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs that share items: what they reported, compared with what a model predicts.

    With S[a, b] the share of common items for which i reported a and j reported b, and
    P = Γ_i Π Γ_jᵀ the model's prediction of it:

    Attributes
    ----------
    annotators ``[i]``, n_responses ``[i]``
        positions of the counted annotators, and their numbers of responses to all items.
    i, j ``[pair]``
        the annotators of each pair, as indices into ``annotators``.
    n_common ``[pair]``
        number of common items.
    residual ``[pair]``
        n_common · ‖S − P‖².
    squared_norm ``[pair]``
        ‖P‖².
    agreement, expected_agreement ``[pair]``
        how often they agree: the traces of S and P.
    """

    annotators: NDArray[np.intp]
    n_symbols: int
    n_responses: Floats
    i: NDArray[np.intp]
    j: NDArray[np.intp]
    n_common: Floats
    residual: Floats
    squared_norm: Floats
    agreement: Floats
    expected_agreement: Floats

    def outside_groups(self, groups: Sequence[Sequence[int]]) -> "Pairs":
        """The pairs that are not inside one of these groups of positions."""
        group_of = np.full(len(self.annotators), -1)
        for g, group in enumerate(groups):
            group_of[np.isin(self.annotators, group)] = g
        return self._select((group_of[self.i] != group_of[self.j]) | (group_of[self.i] < 0))

    def with_common_items(self, minimum: int) -> "Pairs":
        """The pairs that share at least this many items."""
        return self._select(self.n_common >= minimum)

    def _select(self, kept: NDArray[np.bool_]) -> "Pairs":
        names = ("i", "j", "n_common", "residual", "squared_norm", "agreement")
        columns = {name: getattr(self, name)[kept] for name in (*names, "expected_agreement")}
        return replace(self, **columns)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Responses of all pairs, before any model: ``counts[i, a, j, b]`` items for i < j.

    ``annotators`` and ``n_responses`` are as in :class:`Pairs`.
    """

    annotators: NDArray[np.intp]
    n_responses: Floats
    counts: NDArray[np.int32]

    def compare_with(self, model: Model, min_common: int = 1) -> Pairs:
        """Compare pairs that share ``min_common`` items with a model of the same annotators."""
        M, R = self.counts.shape[:2]
        confusions = model.confusions[self.annotators]
        indices = np.empty((2, M * (M - 1) // 2), dtype=np.intp)
        columns = np.empty((5, M * (M - 1) // 2))
        lanes = lanes_of(R, int(self.n_responses.sum()))
        n = compare_with_model(
            self.counts, confusions, model.prior, min_common, lanes, *indices, *columns
        )
        return Pairs(self.annotators, R, self.n_responses, *indices[:, :n], *columns[:, :n])


def count_pairs(responses: Responses) -> PairCounts:
    """Count pairs of the annotators with most responses, on at most ``MAX_ITEMS`` items."""
    table, R = responses, responses.n_symbols
    step = -(-responses.n_items // MAX_ITEMS)
    if step > 1:
        table = table.select_items(np.arange(0, responses.n_items, step))
    busiest = np.argsort(-table.responses_per_annotator, kind="stable")[: max(2, MAX_COLUMNS // R)]
    chosen = np.sort(busiest)
    if len(chosen) < table.n_annotators:
        table = table.select_annotators(chosen)
    M = table.n_annotators
    counts = np.zeros((M * R, M * R), dtype=np.int32)
    add_pair_counts(*table.by_item, R, counts)
    # Of all items, not only those counted: the model fitted the first moments of all of them.
    n_responses = responses.responses_per_annotator[chosen].astype(float)
    return PairCounts(chosen, n_responses, counts.reshape(M, R, M, R))
