"""Sample moments of the responses: integer counts that add up, and their averages."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels
from blindfuse.kernels.counting import WORDS, count_together
from blindfuse.responses import Responses
from blindfuse.threads import in_pieces
from blindfuse.tuples import all_tuples, rank, tables_of

Counts = NDArray[Any]
Floats = NDArray[np.float64]


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

        total = reduce(add, in_pieces(count_piece, responses.n_items, threads, 64 * WORDS))
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


@dataclass(frozen=True, eq=False)
class Moments:
    """Sample moments (25) and the number of items that each is an average over.

    Attributes
    ----------
    means ``[annotator, label]``, cross ``[pair, label, label]``, third ``[triple, label, …]``
        μ_m, S_mm' and T_mm'm''; zero where nothing was seen.
    seen ``[annotator]``, seen_pairs ``[pair]``, seen_triples ``[triple]``
        items labelled by all of them.
    """

    n_items: float
    means: Floats
    cross: Floats
    third: Floats
    seen: Counts
    seen_pairs: Counts
    seen_triples: Counts

    def reordered(self, annotators: NDArray[np.intp], classes: NDArray[np.intp]) -> "Moments":
        """The moments of these annotators with these classes, in this order."""
        M = len(self.means)
        pairs = annotators[all_tuples(len(annotators), 2)]
        triples = annotators[all_tuples(len(annotators), 3)]
        cross, third = tables_of(self.cross, pairs, M), tables_of(self.third, triples, M)
        return Moments(
            self.n_items,
            self.means[annotators][:, classes],
            cross[:, classes][:, :, classes],
            third[:, classes][:, :, classes][:, :, :, classes],
            self.seen[annotators],
            self.seen_pairs[rank(pairs, M)],
            self.seen_triples[rank(triples, M)],
        )

    def weights(self, kind: str) -> tuple[Floats, Floats, Floats]:
        """The weight of each moment in h_N: its share of the items, or 1 if it was seen at all."""
        counts = (self.seen, self.seen_pairs, self.seen_triples)
        if kind == "equal":
            first, second, third = ((count > 0).astype(float) for count in counts)
        else:
            first, second, third = (count / (self.n_items or 1) for count in counts)
        return first, second, third

    def objective(self, confusions: Floats, prior: Floats, weights: str = "counts") -> float:
        """h_N of (21), each moment weighted, straight from its definition."""
        M = len(confusions)
        scaled = confusions * prior
        pair, triple = all_tuples(M, 2).T, all_tuples(M, 3).T
        models: tuple[NDArray[Any], ...] = (
            confusions @ prior,
            np.einsum("pak,pbk->pab", scaled[pair[0]], confusions[pair[1]]),
            np.einsum(
                "tak,tbk,tck->tabc",
                scaled[triple[0]],
                confusions[triple[1]],
                confusions[triple[2]],
                optimize=True,
            ),
        )
        return 0.5 * sum(
            float(weight @ ((sample - model) ** 2).reshape(len(weight), -1).sum(axis=1))
            for weight, sample, model in zip(
                self.weights(weights), (self.means, self.cross, self.third), models, strict=True
            )
        )


def _append_rest(table: Counts, margin: Counts, axis: int) -> Counts:
    """Append along ``axis`` what is left of the margin after the counts there."""
    rest = np.expand_dims(margin - table.sum(axis=axis), axis)
    return np.concatenate([table, rest], axis=axis)
