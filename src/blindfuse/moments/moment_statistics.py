"""Counted: all that the paper's method needs to know of answers, as counts that add up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.model.posteriors import ExpectedCounts, count_vote_units, votes_from_units
from blindfuse.moments.counts import MomentCounts
from blindfuse.responses.coding import positions, union
from blindfuse.responses.responses import Responses


@dataclass(frozen=True, eq=False)
class MomentStatistics:
    """Votes and moments of some items, with the names of annotators and classes.

    Those of other items can be added, whoever labelled them and with whichever classes: what came
    in pieces, in any order, equals what came at once. ``parts`` are those of majority votes. All
    counts are whole, until they are scaled.
    """

    annotators: NDArray[Any]
    classes: NDArray[Any]
    parts: ExpectedCounts
    moments: MomentCounts

    @classmethod
    def of(cls, responses: Responses, threads: int | None = None) -> "MomentStatistics":
        """Count these answers."""
        return cls(
            responses.annotators,
            responses.classes,
            count_vote_units(responses, threads),
            MomentCounts.count(responses, threads),
        )

    @property
    def votes(self) -> ExpectedCounts:
        """What the majority vote says of annotators and classes."""
        return votes_from_units(self.parts)

    @property
    def n_responses(self) -> float:
        return float(self.moments.singles.sum())

    def __add__(self, other: "MomentStatistics") -> "MomentStatistics":
        names = (
            union(self.annotators, other.annotators, "annotators"),
            union(self.classes, other.classes, "classes"),
        )
        one, two = self.for_names(*names), other.for_names(*names)
        return MomentStatistics(*names, one.parts + two.parts, one.moments + two.moments)

    def for_names(self, annotators: NDArray[Any], classes: NDArray[Any]) -> "MomentStatistics":
        """The same counts for these annotators and classes, zero for those that are new."""
        annotator_at = positions(annotators, self.annotators)
        class_at = positions(classes, self.classes)
        spread = np.zeros((len(annotators), len(classes), len(classes)))
        old, new = annotator_at[annotator_at >= 0], np.flatnonzero(annotator_at >= 0)
        known, place = class_at[class_at >= 0], np.flatnonzero(class_at >= 0)
        spread[np.ix_(new, place, place)] = self.parts.counts[np.ix_(old, known, known)]
        totals = np.zeros(len(classes))
        totals[place] = self.parts.totals[known]
        return MomentStatistics(
            annotators,
            classes,
            ExpectedCounts(spread, totals),
            self.moments.spread(annotator_at, class_at),
        )

    def scaled(self, factor: float) -> "MomentStatistics":
        """Every count times this factor: what is older counts less."""
        parts = ExpectedCounts(self.parts.counts * factor, self.parts.totals * factor)
        return MomentStatistics(self.annotators, self.classes, parts, self.moments.scaled(factor))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file needs to keep, beside the names."""
        return {
            "vote_counts": self.parts.counts,
            "vote_totals": self.parts.totals,
            "n_items": np.array(self.moments.n_items),
            "singles": self.moments.singles,
            "pairs": self.moments.pairs,
            "triples": self.moments.triples,
        }

    @classmethod
    def from_arrays(
        cls, annotators: NDArray[Any], classes: NDArray[Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "MomentStatistics":
        """What :meth:`arrays` gave."""
        return cls(
            annotators,
            classes,
            ExpectedCounts(arrays["vote_counts"], arrays["vote_totals"]),
            MomentCounts(
                arrays["n_items"].item(), arrays["singles"], arrays["pairs"], arrays["triples"]
            ),
        )
