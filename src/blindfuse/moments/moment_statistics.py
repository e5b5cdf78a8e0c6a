"""Sufficient statistics of Algorithm 1: counts of moments and of majority votes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blindfuse.model.anchored_votes import ScoreRule
from blindfuse.model.checks import check_numbers
from blindfuse.model.posteriors import ExpectedCounts, count_vote_units, votes_from_units
from blindfuse.moments.counts import MomentCounts
from blindfuse.responses.alphabet import Alphabet
from blindfuse.responses.coding import positions, union
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array


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
