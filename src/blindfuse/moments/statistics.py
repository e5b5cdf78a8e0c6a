"""Sufficient statistics of EM and of Algorithm 1, which add up over batches."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blindfuse.model.anchored_votes import ScoreRule
from blindfuse.model.arrays import check_numbers
from blindfuse.model.posteriors import ExpectedCounts, count_vote_units, votes_from_units
from blindfuse.moments.counts import MomentCounts
from blindfuse.responses.alphabet import Alphabet
from blindfuse.responses.canonical import group_identical_items
from blindfuse.responses.coding import positions, union
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.typing import Array, Floats

MIN_PATTERN_SIZE = 1e-6
"""A discounted pattern with fewer items than this is dropped."""


@dataclass(frozen=True, eq=False)
class EMStatistics:
    """Sufficient statistics of EM: distinct response patterns and their numbers of items.

    Items with the same responses by the same annotators have the same posterior, so EM needs each
    pattern only once. The statistics of disjoint sets of items can be added, in any order. Memory
    grows with the number of distinct patterns, unless old ones are discounted.

    Attributes
    ----------
    patterns
        one item per distinct pattern.
    sizes ``[pattern]``
        number of items with each pattern.
    """

    patterns: Responses
    sizes: Floats

    @classmethod
    def from_responses(cls, responses: Responses, threads: int | None = None) -> "EMStatistics":
        """Return the statistics of these responses."""
        return cls._merge(responses, np.ones(responses.n_items))

    @classmethod
    def _merge(cls, responses: Responses, sizes: Floats) -> "EMStatistics":
        """Merge items with the same pattern and add up their sizes."""
        distinct, pattern_of_item = group_identical_items(responses)
        merged = np.bincount(pattern_of_item, sizes, minlength=distinct.n_items)
        return cls(distinct, merged.astype(np.float64))

    @property
    def annotators(self) -> Array:
        return self.patterns.annotators

    @property
    def alphabet(self) -> Alphabet:
        return self.patterns.alphabet

    @property
    def n_responses(self) -> float:
        return float(self.sizes @ self.patterns.responses_per_item)

    def __add__(self, other: "EMStatistics") -> "EMStatistics":
        both = self.patterns.concatenated(other.patterns)
        return self._merge(both, np.concatenate([self.sizes, other.sizes]))

    def to_responses(self) -> Responses:
        """Return one row per item again, in the order of the patterns; discounted ones round up."""
        numbers = np.ceil(np.round(self.sizes, 6)).astype(np.intp)
        pattern_of_item = np.repeat(np.arange(len(numbers)), numbers)
        return self.patterns.select_items(pattern_of_item)

    def discounted(self, factor: float) -> "EMStatistics":
        """Return every size times this factor, without the patterns that become negligible."""
        sizes = self.sizes * factor
        kept = sizes > MIN_PATTERN_SIZE
        return EMStatistics(self.patterns.select_items(kept), sizes[kept])

    def arrays(self) -> dict[str, Array]:
        """Return the arrays to save; the names of annotators and classes are saved separately."""
        return {**self.patterns.by_item._asdict(), "sizes": self.sizes}

    @classmethod
    def from_arrays(
        cls, annotators: Array, alphabet: Alphabet, arrays: Mapping[str, Array]
    ) -> "EMStatistics":
        """Return the statistics that :meth:`arrays` was called on."""
        n_patterns = np.size(arrays["sizes"])
        sizes = check_numbers(arrays["sizes"], "sizes", (n_patterns,), minimum=0)
        rows = Rows(*(arrays[name] for name in Rows._fields))
        patterns = Responses(
            np.arange(n_patterns),
            annotators,
            rows,
            **alphabet._asdict(),
        )
        return cls(patterns, sizes.astype(np.float64))


@dataclass(frozen=True, eq=False)
class MomentStatistics:
    """Sufficient statistics of Algorithm 1 for a set of items.

    The statistics of disjoint sets of items can be added, in any order, even if they have other
    annotators or classes. All counts are integers, so sums are exact; :meth:`discounted` makes
    them floats.

    Attributes
    ----------
    annotators, alphabet
        names of the annotators, and of the classes and symbols, in the order of the axes.
    vote_units
        expected counts under the majority vote, in the units of
        :func:`~blindfuse.model.posteriors.count_vote_units`. The solver starts from them.
    moments
        counts of symbols per annotator, pair and triple.
    """

    annotators: Array
    alphabet: Alphabet
    vote_units: ExpectedCounts
    moments: MomentCounts

    @classmethod
    def from_responses(
        cls, responses: Responses, threads: int | None = None, rule: ScoreRule | None = None
    ) -> "MomentStatistics":
        """Return the statistics of these responses.

        A partition of scores needs the ``rule`` of the whole table.
        """
        return cls(
            responses.annotators,
            responses.alphabet,
            count_vote_units(responses, threads, rule),
            MomentCounts.count(responses, threads),
        )

    @property
    def votes(self) -> ExpectedCounts:
        """Expected counts under the majority vote."""
        return votes_from_units(self.vote_units)

    @property
    def n_responses(self) -> float:
        return float(self.moments.singles.sum())

    def __add__(self, other: "MomentStatistics") -> "MomentStatistics":
        names = (
            union(self.annotators, other.annotators, "annotators"),
            self.alphabet.joined(other.alphabet),
        )
        left, right = self.reindexed(*names), other.reindexed(*names)
        return MomentStatistics(
            *names, left.vote_units + right.vote_units, left.moments + right.moments
        )

    def reindexed(self, annotators: Array, alphabet: Alphabet) -> "MomentStatistics":
        """Return the counts for these annotators, classes and symbols, with zeros for new ones."""
        annotator_at = positions(annotators, self.annotators)
        class_at = positions(alphabet.classes, self.alphabet.classes)
        symbol_at = positions(alphabet.symbols, self.alphabet.symbols)
        places = annotator_at, symbol_at, class_at
        old = [at[at >= 0] for at in places]
        new = [np.flatnonzero(at >= 0) for at in places]
        counts, totals = np.zeros([len(at) for at in places]), np.zeros(len(class_at))
        counts[np.ix_(*new)] = self.vote_units.counts[np.ix_(*old)]
        totals[new[2]] = self.vote_units.totals[old[2]]
        return MomentStatistics(
            annotators,
            alphabet,
            ExpectedCounts(counts, totals),
            self.moments.reindexed(annotator_at, symbol_at),
        )

    def discounted(self, factor: float) -> "MomentStatistics":
        """Return every count times this factor, so that older items count less."""
        vote_units = ExpectedCounts(
            self.vote_units.counts * factor, self.vote_units.totals * factor
        )
        moments = self.moments.discounted(factor)
        return MomentStatistics(self.annotators, self.alphabet, vote_units, moments)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays to save; the names of annotators and classes are saved separately."""
        return {
            "vote_counts": self.vote_units.counts,
            "vote_totals": self.vote_units.totals,
            "n_items": np.array(self.moments.n_items),
            "singles": self.moments.singles,
            "pairs": self.moments.pairs,
            "triples": self.moments.triples,
        }

    @classmethod
    def from_arrays(
        cls, annotators: Array, alphabet: Alphabet, arrays: Mapping[str, Array]
    ) -> "MomentStatistics":
        """Return the statistics that :meth:`arrays` was called on."""
        M, R, K = len(annotators), len(alphabet.symbols), len(alphabet.classes)
        shapes = {
            "vote_counts": (M, R, K),
            "vote_totals": (K,),
            "n_items": (),
            "singles": (M, R),
            "pairs": (math.comb(M, 2), R, R),
            "triples": (math.comb(M, 3), R, R, R),
        }
        vote_counts, vote_totals, n_items, *tables = (
            check_numbers(arrays[name], name, shape, minimum=0) for name, shape in shapes.items()
        )
        votes = ExpectedCounts(vote_counts.astype(float), vote_totals.astype(float))
        return cls(annotators, alphabet, votes, MomentCounts(n_items.item(), *tables))
