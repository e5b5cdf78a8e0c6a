"""Triangular estimation: skill from three annotators at a time (Bonald and Combes 2017)."""

from typing import Any, Self

import numpy as np

from blindfuse.estimators.signs import (
    binary_signs,
    mean_pair_products,
    require_three_overlapping,
)
from blindfuse.estimators.voting import VotingEstimator
from blindfuse.typing import Floats

MAX_SKILL = 0.999
"""Largest |θ|: the weight of a perfect annotator would be infinite."""


class TriangularEstimation(VotingEstimator):
    """A two-class vote with each annotator's skill estimated from three annotators at a time.

    The skill is θ_k = E[response × truth], with classes as ±1. |θ_k| = √|C_ik C_jk / C_ij| for the
    pair (i, j) with the largest |C_ij| of which both share items with k, where C are mean products
    of responses. Signs follow the annotator whose own sign is clearest. Votes are weighted by
    log((1 + θ)/(1 − θ)). Reference: Bonald and Combes (2017), "A Minimax Optimal Algorithm for
    Crowdsourcing".

    Attributes
    ----------
    skills_ ``[annotator]``
        θ: 1 for always correct, 0 for guessing, below 0 for an adversary.
    """

    skills_: Floats

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        signs = binary_signs(table, "TriangularEstimation")
        means, common = mean_pair_products(signs)
        require_three_overlapping(common, "TriangularEstimation")
        np.fill_diagonal(means, 0.0)
        np.fill_diagonal(common, 0.0)
        sizes = np.array([_skill_size(k, means, common) for k in range(table.n_annotators)])
        self.skills_ = np.clip(sizes * _skill_signs(sizes, means), -MAX_SKILL, MAX_SKILL)
        return self._store(table, np.log((1 + self.skills_) / (1 - self.skills_)))


def _skill_size(k: int, means: Floats, common: Floats) -> float:
    """Return |θ_k| from the pair with the largest |C_ij| that overlaps k; zero without one."""
    partners = np.flatnonzero(common[k])
    strength = np.abs(means[np.ix_(partners, partners)])
    if not strength.size or strength.max() == 0:
        return 0.0
    i, j = partners[list(np.unravel_index(strength.argmax(), strength.shape))]
    return float(np.sqrt(np.abs(means[i, k] * means[j, k] / means[i, j])))


def _skill_signs(sizes: Floats, means: Floats) -> Floats:
    """Return the signs of θ from agreement with the annotator whose sign is clearest.

    Its own sign follows from the assumption that annotators are better than random on average.
    """
    evidence = sizes**2 + means.sum(axis=0)
    clearest = np.abs(evidence).argmax()
    signs = np.sign(means[clearest] * np.sign(evidence[clearest]))
    signs[clearest] = np.sign(evidence[clearest])
    return np.asarray(signs)
