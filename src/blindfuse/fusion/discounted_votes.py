"""A vote that discounts annotators who repeat each other: a second opinion on EM's corrections.

EM follows annotators who agree with each other, be it because they are right or because they share
errors. This vote fails differently. The skill of an annotator is judged by those with whom it
agrees least, and the excess agreement with the others lowers its weight.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.pairs import PairCounts
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

QUANTILE = 1 / 3
"""Quantile of the skills that the pairs of one annotator imply. Pairs that share errors imply a
higher skill, so up to two thirds of the pairs may."""
ROUNDS = 15
"""Times that skills are estimated again, given the skills of the others."""
MIN_SKILL, MAX_SKILL = 0.01, 0.98
SIGNIFICANT_Z = 2.0
"""Standard errors by which agreement must exceed what skills explain to be discounted."""


@dataclass(frozen=True, eq=False)
class DiscountedVotes:
    """Votes with the weight of each annotator, ``weights[annotator]``."""

    weights: Floats

    def __call__(self, responses: Responses) -> Floats:
        """Weighted votes ``[item, class]``."""
        return weighted_votes(responses, self.weights)


def discount_votes(pairs: PairCounts, responses: Responses) -> DiscountedVotes:
    """Weights log((1 + (K − 1) r) / (1 − r)) / (1 + Σ_j e_j c_j) of the annotators.

    r is the skill of an annotator: its agreement with j beyond chance, κ_j, is r r_j if errors are
    independent. e_j = (κ_j − r r_j)/(1 − r r_j) is the excess, where it is significant, and c_j the
    share of the annotator's items that j labels too.
    """
    kappa, n_common = pairs.chance_corrected_agreement
    skills = _skills(kappa)
    K = responses.n_classes
    expected = np.outer(skills, skills)
    with np.errstate(invalid="ignore"):
        significant = (kappa - expected) * np.sqrt(n_common) > SIGNIFICANT_Z
    excess = np.where(significant, (kappa - expected) / (1 - expected), 0.0)
    repeated = np.sum(excess * n_common, axis=1) / np.maximum(pairs.n_responses, 1)
    counted = np.log((1 + (K - 1) * skills) / (1 - skills)) / (1 + repeated)
    weights = np.full(responses.n_annotators, np.median(counted) if len(counted) else 1.0)
    weights[pairs.annotators] = counted
    return DiscountedVotes(weights)


def _skills(kappa: Floats) -> Floats:
    """Skills r ``[annotator]`` such that κ_ij ≈ r_i r_j; the median for those without pairs."""
    has_pairs = np.count_nonzero(~np.isnan(kappa), axis=1) >= 2
    if not has_pairs.any():
        return np.full(len(kappa), 0.5)
    known = kappa[np.ix_(has_pairs, has_pairs)]
    skills = np.sqrt(np.clip(_quantiles(known), MIN_SKILL**2, MAX_SKILL))
    for _ in range(ROUNDS):
        implied = np.clip(_quantiles(known / skills), MIN_SKILL, MAX_SKILL)
        skills = np.sqrt(skills * implied)
    found = np.full(len(kappa), np.median(skills))
    found[has_pairs] = skills
    return found


def _quantiles(values: Floats) -> Floats:
    """The QUANTILE of each row, or the next lower value, without NaN; 0 for a row of NaN."""
    count = np.count_nonzero(~np.isnan(values), axis=1)
    at = np.floor(QUANTILE * np.maximum(count - 1, 0)).astype(int)
    ascending = np.sort(values, axis=1)  # NaN last
    return np.where(count > 0, ascending[np.arange(len(values)), at], 0.0)
