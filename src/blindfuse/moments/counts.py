"""Counts of symbols per annotator, pair and triple: exact integers that can be added."""

import math
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.kernels.counts import BLOCK_WORDS, count_tuples
from blindfuse.kernels.threads import map_threads
from blindfuse.model.arrays import check_shape, matrix_shape
from blindfuse.moments.moments import Moments, all_tuples, gather_tables, tuple_rank
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes

Counts = Array


@dataclass(frozen=True, eq=False)
class MomentCounts:
    """How often annotators, pairs and triples of annotators reported each combination of symbols.

    The counts are integers, so the counts of disjoint sets of items add up exactly;
    :meth:`discounted` makes them floats.

    Attributes
    ----------
    n_items
        number of items, including those without responses.
    singles ``[annotator, symbol]``
    pairs ``[pair, symbol, symbol]``
        for annotators m < m', in lexicographic order.
    triples ``[triple, symbol, symbol, symbol]``
        for annotators m < m' < m'', in lexicographic order.
    """

    n_items: float
    singles: Counts
    pairs: Counts
    triples: Counts

    def __post_init__(self) -> None:
        M, K = matrix_shape(self.singles, "singles")
        check_shape(self.pairs, "pairs", (math.comb(M, 2), K, K))
        check_shape(self.triples, "triples", (math.comb(M, 3), K, K, K))

    @classmethod
    def count(cls, responses: Responses, threads: int | None = None) -> "MomentCounts":
        """Count the responses: the sums of (17)–(19) and (25) before division.

        If every annotator labelled every item, the last symbol is not counted but follows from
        the margins.
        """
        M, R = responses.n_annotators, responses.n_symbols
        n_counted = R - 1 if responses.is_complete else R

        def count_block(begin: int, end: int) -> MomentCounts:
            counts = count_tuples(*responses.by_item, begin, end, M, n_counted)
            return cls(end - begin, *counts)

        blocks = map_threads(count_block, responses.n_items, threads, 64 * BLOCK_WORDS)
        total = reduce(add, blocks)
        return total._with_last_symbol() if responses.is_complete else total

    def __add__(self, other: "MomentCounts") -> "MomentCounts":
        """Return the counts of both sets of items together."""
        if self.singles.shape != other.singles.shape:
            raise BadLabels(
                "Counts of {} annotators × {} symbols and of {} × {} cannot be added. "
                "Count both with the same annotators and symbols.".format(
                    *self.singles.shape, *other.singles.shape
                )
            )
        return MomentCounts(
            self.n_items + other.n_items,
            self.singles + other.singles,
            self.pairs + other.pairs,
            self.triples + other.triples,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MomentCounts)
            and self.n_items == other.n_items
            and np.array_equal(self.singles, other.singles)
            and np.array_equal(self.pairs, other.pairs)
            and np.array_equal(self.triples, other.triples)
        )

    __hash__ = None  # type: ignore[assignment]

    def reindexed(self, annotator_at: Codes, symbol_at: Codes) -> "MomentCounts":
        """Return the counts of the annotators and symbols at these positions.

        Position −1 stands for a new annotator or symbol, whose counts are zero.
        """
        M = len(self.singles)
        old_symbols, new_symbols = symbol_at[symbol_at >= 0], np.flatnonzero(symbol_at >= 0)

        def reindex(tables: Counts, size: int) -> Counts:
            groups = annotator_at[all_tuples(len(annotator_at), size)]
            is_known = np.all(groups >= 0, axis=1)
            old = gather_tables(tables, groups[is_known], M)
            new = np.zeros((len(groups), *[len(symbol_at)] * size), dtype=tables.dtype)
            cells = np.ix_(np.flatnonzero(is_known), *[new_symbols] * size)
            new[cells] = old[np.ix_(np.arange(len(old)), *[old_symbols] * size)]
            return new

        return MomentCounts(
            self.n_items, reindex(self.singles, 1), reindex(self.pairs, 2), reindex(self.triples, 3)
        )

    def discounted(self, factor: float) -> "MomentCounts":
        """Return every count times this factor, as floats."""
        tables = (self.singles, self.pairs, self.triples)
        return MomentCounts(self.n_items * factor, *(table * factor for table in tables))

    def moments(self) -> "Moments":
        """Return the averages (25); for complete responses these are (17)–(19)."""
        tables = self.singles, self.pairs, self.triples
        n_items = [table.sum(axis=tuple(range(1, table.ndim))) for table in tables]
        averages = [
            table / np.where(total > 0, total, 1).reshape(-1, *[1] * (table.ndim - 1))
            for table, total in zip(tables, n_items, strict=True)
        ]
        return Moments(self.n_items, *averages, *n_items)

    def _with_last_symbol(self) -> "MomentCounts":
        """Add the last symbol, which was not counted: its counts are the margins less the rest."""
        M = len(self.singles)
        singles = _append_remainder(self.singles, np.full(M, self.n_items), axis=1)
        pair = all_tuples(M, 2)
        pairs = _append_remainder(self.pairs, self.singles[pair[:, 0]], axis=2)
        pairs = _append_remainder(pairs, singles[pair[:, 1]], axis=1)
        triple = all_tuples(M, 3)
        first, outer, last = (
            pairs[tuple_rank(triple[:, two], M)] for two in ([0, 1], [0, 2], [1, 2])
        )
        L = self.singles.shape[1]
        triples = _append_remainder(self.triples, first[:, :L, :L], axis=3)
        triples = _append_remainder(triples, outer[:, :L], axis=2)
        triples = _append_remainder(triples, last, axis=1)
        return MomentCounts(self.n_items, singles, pairs, triples)


def _append_remainder(table: Counts, margin: Counts, axis: int) -> Counts:
    """Append the margin less the sum of the table along ``axis``, as one more entry."""
    remainder = np.expand_dims(margin - table.sum(axis=axis), axis)
    return np.concatenate([table, remainder], axis=axis)
