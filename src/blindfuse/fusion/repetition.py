"""Annotators who repeat each other and give half of the responses.

EM takes what most annotators agree on for the truth. If half of them copy from each other, EM
follows the copies, and those who do not copy look like annotators who share errors. Agreement alone
cannot tell copies from experts, but it shows that both sides do not report the same thing: if they
did, agreement beyond chance would be κ_cc κ_oo = κ_co², with c for one side and o for the other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from blindfuse.diagnostics.pairs import PairCounts
from blindfuse.errors import list_names
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MIN_REPEATED = 0.8
"""κ at or above which two annotators repeat each other."""
MIN_TIGHT = 0.5
"""Minimum mean κ of a dependent group that repeats itself and gives half of the responses."""
MIN_MAJORITY = 0.5
"""Share of the responses that those who repeat each other must give."""
MIN_MINORITY = 1 / 3
"""Share of the responses above which the others are more than a few deviating annotators."""
MIN_RATIO = 2.0
"""How many times as large as what both sides would share κ_cc κ_oo must be, and as the others' κ
that of a majority which repeats itself."""
SIGNIFICANT_Z = 2.0
"""Standard errors by which the others must agree with each other beyond chance."""


@dataclass(frozen=True, eq=False)
class Repetition:
    """One side of annotators repeats itself, ``repeating[annotator]``, and the other does not."""

    responses: Responses
    repeating: Mask
    inside: float
    outside: float

    def describe(self) -> str:
        """Who repeats each other, and what follows, in sentences."""
        names = self.responses.annotators[self.repeating]
        return (
            f"{self.repeating.sum():,} annotators ({list_names(names)}) repeat each other "
            f"(κ {self.inside:.2f}, the others {self.outside:.2f}). The responses cannot tell "
            "whether they are right or share errors, so the majority vote is used."
        )


def find_repetition(responses: Responses, pairs: PairCounts) -> Repetition | None:
    """The annotators linked by pairs that repeat each other, if they give half of the responses.

    The others must agree with each other, and κ_cc κ_oo must exceed κ_co² by MIN_RATIO.
    """
    sides = Sides.compare(responses, pairs)
    with np.errstate(invalid="ignore"):
        _, cluster = connected_components(sides.kappa >= MIN_REPEATED, directed=False)
    sizes = np.bincount(cluster, sides.share)
    repeating = cluster == sizes.argmax() if len(sizes) else np.zeros(0, dtype=bool)
    if sizes.max(initial=0) < MIN_MAJORITY or not 1 < repeating.sum() < len(repeating) - 1:
        return None
    inside, outside, across = sides.means(repeating)
    if outside * np.sqrt(sides.common_items(~repeating)) < SIGNIFICANT_Z:
        return None
    if inside * outside <= MIN_RATIO * across**2:
        return None
    return sides.repetition(repeating)


def explain_by_repetition(
    responses: Responses, pairs: PairCounts, group: tuple[int, ...], fits: bool
) -> Repetition | None:
    """Whether a group that deviates from EM does so because others, or itself, repeat each other.

    The others may if they agree more than the group does. The group itself may be the majority that
    repeats each other; ``fits`` says that EM explains pairwise agreement, which excludes that.
    """
    sides = Sides.compare(responses, pairs)
    in_group = np.isin(pairs.annotators, group)
    inside, outside, _ = sides.means(in_group)
    share = float(sides.share[in_group].sum())
    if MIN_MINORITY < share <= 1 - MIN_MAJORITY and outside > inside:
        return sides.repetition(~in_group)
    copied = inside > max(MIN_TIGHT, MIN_RATIO * outside)
    if MIN_MAJORITY <= share < 1 - MIN_MINORITY and copied and not fits:
        return sides.repetition(in_group)
    return None


def is_clearly_a_group(responses: Responses, pairs: PairCounts, group: tuple[int, ...]) -> bool:
    """Whether a dependent group is small, or agrees far more than the others do, as copiers do."""
    sides = Sides.compare(responses, pairs)
    in_group = np.isin(pairs.annotators, group)
    inside, outside, _ = sides.means(in_group)
    return bool(sides.share[in_group].sum() <= MIN_MINORITY or inside > MIN_RATIO * outside)


@dataclass(frozen=True, eq=False)
class Sides:
    """Agreement beyond chance of the counted annotators, and their ``share`` of the responses."""

    responses: Responses
    annotators: NDArray[np.intp]
    kappa: Floats
    n_common: Floats
    share: Floats

    @classmethod
    def compare(cls, responses: Responses, pairs: PairCounts) -> "Sides":
        kappa, n_common = pairs.chance_corrected_agreement
        share = pairs.n_responses / max(responses.n_responses, 1)
        return cls(responses, pairs.annotators, kappa, n_common, share)

    def means(self, side: Mask) -> tuple[float, float, float]:
        """Mean κ inside one side, inside the other, and across; 0 without pairs."""
        inside, outside = np.outer(side, side), np.outer(~side, ~side)
        inner, outer, across = map(self._mean, (inside, outside, ~inside & ~outside))
        return inner, outer, across

    def _mean(self, chosen: Mask) -> float:
        chosen = chosen & ~np.isnan(self.kappa)
        if not chosen.any():
            return 0.0
        return float(np.average(self.kappa[chosen], weights=self.n_common[chosen]))

    def common_items(self, side: Mask) -> float:
        """Median number of common items of the pairs on one side."""
        return float(np.median(self.n_common[np.ix_(side, side)]))

    def repetition(self, repeating: Mask) -> Repetition:
        inside, outside, _ = self.means(repeating)
        members = np.zeros(self.responses.n_annotators, dtype=bool)
        members[self.annotators[repeating]] = True
        return Repetition(self.responses, members, inside, outside)
