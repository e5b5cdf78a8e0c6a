"""Triangular estimation: skill from three annotators at a time (Bonald and Combes 2017)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.signs import pair_means, require_three, to_fit_signs
from blindfuse.estimators.voting import VotingEstimator

Floats = NDArray[np.float64]

MOST_SKILL = 0.999
"""Largest |θ|: a perfect annotator would weigh infinitely much."""


class TriangularEstimation(VotingEstimator):
    """Two classes: θ_k = E[answer × truth] of each annotator from the best triangle it is in.

    |θ_k| = √|C_ik C_jk / C_ij| for the pair (i, j) with the largest |C_ij| that both share items
    with k, where C are mean products of answers. Signs follow the annotator with the clearest one.
    Weights are log((1 + θ)/(1 − θ)).
    """

    skills_: Floats

    def fit(self, responses: Any) -> Self:
        table, answers = to_fit_signs(responses, "TriangularEstimation")
        means, together = pair_means(answers)
        require_three(together, "TriangularEstimation")
        np.fill_diagonal(means, 0.0)
        np.fill_diagonal(together, 0.0)
        sizes = np.array([_size(k, means, together) for k in range(table.n_annotators)])
        self.skills_ = np.clip(sizes * _directions(sizes, means), -MOST_SKILL, MOST_SKILL)
        return self._keep(table, np.log((1 + self.skills_) / (1 - self.skills_)))


def _size(k: int, means: Floats, together: Floats) -> float:
    """|θ_k| from the strongest pair that overlaps k; zero where there is none."""
    partners = np.flatnonzero(together[k])
    strength = np.abs(means[np.ix_(partners, partners)])
    if not strength.size or strength.max() == 0:
        return 0.0
    i, j = partners[list(np.unravel_index(strength.argmax(), strength.shape))]
    return float(np.sqrt(np.abs(means[i, k] * means[j, k] / means[i, j])))


def _directions(sizes: Floats, means: Floats) -> Floats:
    """Signs of θ: most annotators are better than random, and pairs tell who agrees with whom."""
    evidence = sizes**2 + means.sum(axis=0)
    clearest = np.abs(evidence).argmax()
    signs = np.sign(means[clearest] * np.sign(evidence[clearest]))
    signs[clearest] = np.sign(evidence[clearest])
    return np.asarray(signs)
