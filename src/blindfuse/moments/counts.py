"""Counts of responses alone, in pairs and in triples: exact integers that add up."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels
from blindfuse.kernels.moment_counts import WORDS, count_together
from blindfuse.kernels.threads import map_threads
from blindfuse.moments.moments import Moments
from blindfuse.moments.tuples import all_tuples, rank, tables_of
from blindfuse.responses.responses import Responses

Counts = NDArray[Any]


@dataclass(frozen=True, eq=False)
class MomentCounts:
    """How often labels came alone, in pairs and in triples: exact integers, until scaled.

    Attributes
    ----------
    n_items
        items counted, answered or not.
    singles ``[annotator, label]``
    pairs ``[pair, label, label]``
        of annotators m < m', in lexicographic order.
    triples ``[triple, label, label, label]``
        of annotators m < m' < m'', likewise.
    """

    n_items: float
    singles: Counts
    pairs: Counts
    triples: Counts

    @classmethod
    def count(cls, responses: Responses, threads: int | None = None) -> "MomentCounts":
        """The sums of (17)–(19) and (25), before division."""
        M, K = responses.n_annotators, responses.n_classes
        counted = K - 1 if responses.is_complete else K

        def count_piece(begin: int, end: int) -> MomentCounts:
            counts = count_together(*responses.by_item, begin, end, M, counted)
            return cls(end - begin, *counts)

        total = reduce(add, map_threads(count_piece, responses.n_items, threads, 64 * WORDS))
        return total._with_last_class() if responses.is_complete else total

    def __add__(self, other: "MomentCounts") -> "MomentCounts":
        """The counts of both sets of items, which must have the same annotators and classes."""
        if self.singles.shape != other.singles.shape:
            raise BadLabels(
                "Counts of {} annotators × {} classes and of {} × {} do not add up. "
                "Count both with the same annotators and classes.".format(
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

    def spread(self, annotator_at: NDArray[np.intp], class_at: NDArray[np.intp]) -> "MomentCounts":
        """The counts of annotators and classes at these positions, zero where it is −1."""
        M = len(self.singles)
        known, place = class_at[class_at >= 0], np.flatnonzero(class_at >= 0)

        def spread_tables(tables: Counts, size: int) -> Counts:
            groups = annotator_at[all_tuples(len(annotator_at), size)]
            there = np.all(groups >= 0, axis=1)
            old = tables_of(tables, groups[there], M)
            new = np.zeros((len(groups), *[len(class_at)] * size), dtype=tables.dtype)
            cells = np.flatnonzero(there), *[place] * size
            new[np.ix_(*cells)] = old[np.ix_(np.arange(len(old)), *[known] * size)]
            return new

        return MomentCounts(
            self.n_items,
            spread_tables(self.singles, 1),
            spread_tables(self.pairs, 2),
            spread_tables(self.triples, 3),
        )

    def scaled(self, factor: float) -> "MomentCounts":
        """Every count times this factor, no longer whole."""
        tables = (self.singles, self.pairs, self.triples)
        return MomentCounts(self.n_items * factor, *(table * factor for table in tables))

    def moments(self) -> "Moments":
        """The averages (25), which are (17)–(19) when every annotator answered every item."""
        seen = [
            table.sum(axis=tuple(range(1, table.ndim)))
            for table in (self.singles, self.pairs, self.triples)
        ]
        averages = [
            table / np.where(total > 0, total, 1).reshape(-1, *[1] * (table.ndim - 1))
            for table, total in zip((self.singles, self.pairs, self.triples), seen, strict=True)
        ]
        return Moments(self.n_items, *averages, *seen)

    def _with_last_class(self) -> "MomentCounts":
        """Add the class that was left out of complete answers: what remains of each margin."""
        M = len(self.singles)
        singles = _append_rest(self.singles, np.full(M, self.n_items), axis=1)
        pair = all_tuples(M, 2)
        pairs = _append_rest(self.pairs, self.singles[pair[:, 0]], axis=2)
        pairs = _append_rest(pairs, singles[pair[:, 1]], axis=1)
        triple = all_tuples(M, 3)
        first, outer, last = (pairs[rank(triple[:, two], M)] for two in ([0, 1], [0, 2], [1, 2]))
        L = self.singles.shape[1]
        triples = _append_rest(self.triples, first[:, :L, :L], axis=3)
        triples = _append_rest(triples, outer[:, :L], axis=2)
        triples = _append_rest(triples, last, axis=1)
        return MomentCounts(self.n_items, singles, pairs, triples)


def _append_rest(table: Counts, margin: Counts, axis: int) -> Counts:
    """Append along ``axis`` what is left of the margin after the counts there."""
    rest = np.expand_dims(margin - table.sum(axis=axis), axis)
    return np.concatenate([table, rest], axis=axis)
