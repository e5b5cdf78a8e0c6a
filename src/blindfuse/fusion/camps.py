"""Two camps: annotators who agree among themselves, against each other, on many items.

A majority that shares a bias looks like a majority that is right. Where two camps each agree far
more often than the model explains and would label many items differently, the responses cannot tell
which camp is right; a few gold labels can.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from blindfuse.diagnostics.pairs import MIN_COMMON_ITEMS, Pairs
from blindfuse.errors import list_names
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.fusion.choice import FuseContext
from blindfuse.responses.gold import gold_codes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ONE_CAMP = "DawidSkene of one camp"
"""The name of the method if gold labels decide for a camp."""
MIN_EXCESS = 0.1
"""Mean excess agreement within the smaller camp: ten points beyond what the model explains. A
model follows the larger camp, whose agreement it then explains."""
MIN_RESPONSES = 0.25
"""Share of the responses that the smaller camp must give; fewer are a group that copies."""
MIN_CAMP = 3
"""Annotators in the smaller camp."""
MIN_DIFFERENT = 0.1
"""Share of the items that both camps cover and label differently."""
ITEMS_TO_CHECK = 20
"""Items that are proposed for checking."""
NAMED = 1
"""Members of a camp that a sentence names."""


@dataclass(frozen=True, eq=False)
class CampPosteriors:
    """Posteriors of new items by the annotators of one camp; ``members[annotator]`` are in it."""

    members: Mask
    fit: DawidSkene

    def __call__(self, responses: Responses) -> Floats:
        return self.fit.predict_proba(responses.select_annotators(self.members))


@dataclass(frozen=True, eq=False)
class Camps:
    """Two camps of annotators with the Dawid–Skene fit of each, the larger camp first.

    ``different`` are the positions of the items that both camps cover and label differently, those
    in which both are most confident first.
    """

    responses: Responses
    members: tuple[Mask, Mask]
    fits: tuple[DawidSkene, DawidSkene]
    different: NDArray[np.intp]

    def describe(self) -> str:
        """Who is in which camp, and on how many items they differ."""
        (one, other), names = self.members, self.responses.annotators
        return (
            f"Annotators form two camps, of {one.sum():,} ({list_names(names[one], NAMED)}) and "
            f"{other.sum():,} ({list_names(names[other], NAMED)}), that label "
            f"{len(self.different):,} of {self.responses.n_items:,} items differently."
        )

    def possible_errors(self, labels: NDArray[np.intp]) -> tuple[float, ...]:
        """Shares of the ``labels[item]`` that would be wrong if one camp, or the other, is right.

        Only items with responses of the camp count.
        """
        shares = []
        for members, fit in zip(self.members, self.fits, strict=True):
            covered = self.responses.select_annotators(members).responses_per_item > 0
            differs = fit.posteriors_.argmax(axis=1) != labels
            shares.append(float(np.mean(differs[covered])))
        return tuple(shares)

    def advise(self) -> str:
        """What decides between the camps."""
        return (
            "To decide, check the items that `blindfuse next` lists and pass them as gold labels."
        )

    def settled_by(self, context: FuseContext) -> int | None:
        """The camp that agrees with more of the gold labels; None if they do not decide."""
        items, truth = gold_codes(self.responses, context.gold)
        hits = [
            int(np.count_nonzero(fit.posteriors_[items].argmax(axis=1) == truth))
            for fit in self.fits
        ]
        lead, deciding = hits[0] - hits[1], int(np.isin(items, self.different).sum())
        return None if abs(lead) < np.sqrt(max(deciding, 1)) else int(lead < 0)


def find_camps(responses: Responses, pairs: Pairs, threads: int | None) -> Camps | None:
    """Split annotators by the leading eigenvector of excess agreement; None if there are no camps.

    ``pairs`` compares all annotators with a model of conditional independence.
    """
    shared = pairs.with_common_items(MIN_COMMON_ITEMS)
    M = len(shared.annotators)
    excess = np.full((M, M), np.nan)
    excess[shared.i, shared.j] = shared.agreement - shared.expected_agreement
    excess = np.fmax(excess, excess.T)
    _, vectors = eigh(np.nan_to_num(excess), subset_by_index=(M - 1, M - 1))
    leading = vectors[:, 0] * np.sign(vectors[np.abs(vectors[:, 0]).argmax(), 0])
    in_camp = leading > leading.max() / 2
    sides = [in_camp, ~in_camp]
    if min(map(np.count_nonzero, sides)) < MIN_CAMP:
        return None
    sides.sort(key=np.count_nonzero, reverse=True)
    given = responses.responses_per_annotator[shared.annotators[sides[1]]].sum()
    if given < MIN_RESPONSES * responses.n_responses:
        return None
    if _mean_inside(excess, sides[1]) < MIN_EXCESS:
        return None
    members = [
        np.isin(np.arange(responses.n_annotators), shared.annotators[side]) for side in sides
    ]
    tables = [responses.select_annotators(side) for side in members]
    fits = [DawidSkene(threads=threads).fit(table) for table in tables]
    covered = np.logical_and(*(table.responses_per_item > 0 for table in tables))
    one, other = (fit.posteriors_ for fit in fits)
    different = np.flatnonzero(covered & (one.argmax(axis=1) != other.argmax(axis=1)))
    if len(different) < MIN_DIFFERENT * responses.n_items:
        return None
    confidence = np.minimum(one[different].max(axis=1), other[different].max(axis=1))
    different = different[np.argsort(-confidence, kind="stable")]
    return Camps(responses, (members[0], members[1]), (fits[0], fits[1]), different)


def _mean_inside(excess: Floats, side: Mask) -> float:
    """The mean excess agreement of the pairs on one side; zero without pairs."""
    inside = excess[np.ix_(side, side)]
    inside = inside[~np.isnan(inside)]
    return float(inside.mean()) if inside.size else 0.0
