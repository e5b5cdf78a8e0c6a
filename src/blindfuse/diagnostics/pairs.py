"""Responses of pairs of annotators to the items that they share, compared with a model."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.sampling import evenly_spaced
from blindfuse.kernels.compilation import MIN_COMPILED
from blindfuse.kernels.pairs import (
    add_pair_counts,
    add_pair_counts_by_bits,
)
from blindfuse.model.incidence import incidence
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes, Flags, Floats

MAX_ITEMS = 200_000
"""Maximum number of items that are counted; of more, an evenly spaced sample."""
MAX_COLUMNS = 3_000
"""Maximum number of annotators times symbols; beyond, the annotators with most responses."""
MIN_COMMON_ITEMS = 20
"""Items that a pair must share for its agreement to say something about the two annotators."""


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

    annotators: Codes
    n_symbols: int
    n_responses: Floats
    i: Codes
    j: Codes
    n_common: Floats
    residual: Floats
    squared_norm: Floats
    agreement: Floats
    expected_agreement: Floats

    def for_positions(self, positions: Codes) -> "Pairs":
        """The same pairs in a table where annotator m is at ``positions[m]``."""
        return replace(self, annotators=positions[self.annotators])

    def with_common_items(self, minimum: int) -> "Pairs":
        """The pairs that share at least this many items."""
        return self._select(self.n_common >= minimum)

    def _select(self, kept: Flags) -> "Pairs":
        names = ("i", "j", "n_common", "residual", "squared_norm", "agreement")
        columns = {name: getattr(self, name)[kept] for name in (*names, "expected_agreement")}
        return replace(self, **columns)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Responses of all pairs, before any model: ``counts[i, a, j, b]`` items for i < j.

    ``annotators`` and ``n_responses`` are as in :class:`Pairs`.
    """

    annotators: Codes
    n_responses: Floats
    counts: NDArray[np.int32]

    @cached_property
    def chance_corrected_agreement(self) -> tuple[Floats, Floats]:
        """Cohen's κ ``[i, j]`` of the counted annotators, and their numbers of common items.

        κ is NaN on the diagonal and for pairs that share fewer than MIN_COMMON_ITEMS items.
        """
        counts, symbols = self.counts, range(self.counts.shape[1])
        # Sums of slices, because NumPy's sums over short axes take five times as long.
        of_first = _sum(counts[:, :, :, b] for b in symbols)
        of_second = _sum(counts[:, a] for a in symbols)
        n = _sum(of_first[:, a] for a in symbols)
        agreed = _sum(counts[:, a, :, a] for a in symbols)
        chance = _sum(of_first[:, a] * of_second[:, :, a] for a in symbols)
        n, agreed, chance = n + n.T, agreed + agreed.T, chance + chance.T
        enough = n >= MIN_COMMON_ITEMS
        np.fill_diagonal(enough, False)
        kappa = np.full(n.shape, np.nan)
        by_chance = chance[enough] / n[enough] ** 2
        kappa[enough] = (agreed[enough] / n[enough] - by_chance) / np.maximum(1 - by_chance, 1e-9)
        return kappa, n

    def compare_with(self, model: Model, min_common: int = 1) -> Pairs:
        """Compare pairs that share ``min_common`` items with a model of the same annotators."""
        R, confusions = self.counts.shape[1], model.confusions[self.annotators]
        found = _compare(self.counts, confusions, model.prior, min_common)
        return Pairs(self.annotators, R, self.n_responses, *found)


def count_pairs(responses: Responses) -> PairCounts:
    """Count pairs of the annotators with most responses, on at most ``MAX_ITEMS`` items."""
    table, R = responses, responses.n_symbols
    if responses.n_items > MAX_ITEMS:
        table = table.select_items(evenly_spaced(responses.n_items, MAX_ITEMS))
    busiest = np.argsort(-table.responses_per_annotator, kind="stable")[: max(2, MAX_COLUMNS // R)]
    chosen = np.sort(busiest)
    if len(chosen) < table.n_annotators:
        table = table.select_annotators(chosen)
    M = table.n_annotators
    if table.n_responses < MIN_COMPILED:
        matrix = incidence(table)
        counts = np.triu((matrix.T @ matrix).toarray().astype(np.int32), 1)
    else:
        counts = np.zeros((M * R, M * R), dtype=np.int32)
        count = add_pair_counts_by_bits if _bits_are_cheaper(table) else add_pair_counts
        count(*table.by_item, R, counts)
    # Of all items, not only those counted: the model fitted the first moments of all of them.
    n_responses = responses.responses_per_annotator[chosen].astype(float)
    return PairCounts(chosen, n_responses, counts.reshape(M, R, M, R))


def _bits_are_cheaper(responses: Responses) -> bool:
    """Whether bits of all annotators and symbols cost less than the pairs of every item."""
    pairs = float(np.sum(responses.responses_per_item.astype(float) ** 2)) / 2
    all_pairs = (responses.n_annotators * responses.n_symbols) ** 2 / 2
    return responses.n_items / 64 * all_pairs < pairs


def _compare(
    counts: NDArray[np.int32], confusions: Floats, prior: Floats, min_common: int
) -> tuple[Array, ...]:
    """Return the columns of :class:`Pairs` from ``i`` on."""
    n_common = counts.sum(axis=(1, 3))
    i, j = np.nonzero(np.triu(n_common >= max(min_common, 1), 1))
    n = n_common[i, j].astype(float)
    shares = counts[i, :, j, :] / n[:, None, None]
    joint = (confusions * prior)[i] @ confusions[j].swapaxes(1, 2)
    return (
        *(i, j, n),
        n * ((shares - joint) ** 2).sum(axis=(1, 2)),
        (joint**2).sum(axis=(1, 2)),
        np.trace(shares, axis1=1, axis2=2),
        np.trace(joint, axis1=1, axis2=2),
    )


def _sum(tables: Iterable[Array]) -> Floats:
    return np.asarray(reduce(add, tables), dtype=float)
