"""Spectral meta-learner (Parisi et al. 2014) with per-class accuracies (Jaffe et al. 2015)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from blindfuse.estimators.base import ModelEstimator
from blindfuse.estimators.signs import leading, pair_means, require_three, to_fit_signs
from blindfuse.model.model import Model, Rule

Floats = NDArray[np.float64]

ROUNDS = 100
NOTHING = 1e-12
"""Least eigenvalue of covariances: below this there are none."""
SURE = 0.999
"""Largest sensitivity or specificity, so that no annotator has a veto."""


class SpectralMetaLearner(ModelEstimator):
    """Two classes: skill from covariances, class imbalance from third moments.

    Q_ij = λ v_i v_j for i ≠ j gives v. The third central moments are τ v_i v_j v_k, and with
    β = τ/λ the class imbalance is b = −β/(2s) and skills are s v, s = ½√(β² + 4λ). From these
    follow every annotator's sensitivity ½(1 + μ + s v (1 − b)) and specificity
    ½(1 − μ + s v (1 + b)). ``rule="ml"``, the authors' choice, labels without the class shares.

    With missing answers, moments are over common items, and triples weigh by how many they have.
    """

    imbalance_: float

    def __init__(self, *, rule: Rule = "ml", threads: int | None = None) -> None:
        self.rule: Rule = rule
        self.threads = threads

    def fit(self, responses: Any) -> Self:
        table, answers = to_fit_signs(responses, "SpectralMetaLearner")
        means, together = pair_means(answers)
        require_three(together, "SpectralMetaLearner")
        counts = np.maximum(table.responses_per_annotator, 1)
        mu = np.asarray(answers.sum(axis=0)) / counts
        covariance = np.where(together > 0, means - np.outer(mu, mu), 0.0)
        size, direction = _rank_one(covariance)
        beta = _third_moment(answers, mu, direction) / size
        skill = 0.5 * np.sqrt(beta**2 + 4 * size)
        self.imbalance_ = float(np.clip(-beta / (2 * skill), -SURE, SURE))
        sensitivity = 0.5 * (1 + mu + skill * direction * (1 - self.imbalance_))
        specificity = 0.5 * (1 - mu + skill * direction * (1 + self.imbalance_))
        right = np.clip(np.column_stack([specificity, sensitivity]), 1 - SURE, SURE)
        if size <= NOTHING:  # no answer varies: all agree, and are taken at their word
            right[:] = SURE
        confusions = np.array([[[low, 1 - high], [1 - low, high]] for low, high in right])
        prior = np.array([1 - self.imbalance_, 1 + self.imbalance_]) / 2
        return self._keep(Model(confusions, prior, table.annotators, table.classes), table)


def _rank_one(covariance: Floats) -> tuple[float, Floats]:
    """λ and v with Q_ij ≈ λ v_i v_j off the diagonal, most of v positive."""
    size, direction = 0.0, np.zeros(len(covariance))
    off_diagonal = covariance - np.diag(np.diag(covariance))
    for _ in range(ROUNDS):
        before = size
        size, direction = leading(off_diagonal + np.diag(size * direction**2))
        if abs(size - before) <= 1e-9 * abs(size):
            break
    return max(size, NOTHING), -direction if np.sum(direction > 0) * 2 < len(
        direction
    ) else direction


def _third_moment(answers: csr_array, mu: Floats, direction: Floats) -> float:
    """τ by least squares over all triples, each weighted by its common items, without forming any.

    Σ_{i<j<k} y_i y_j y_k of an item is (p₁³ − 3 p₁ p₂ + 2 p₃)/6 of its power sums.
    """
    centred = answers.copy()
    centred.data = direction[answers.indices] * (answers.data - mu[answers.indices])
    squares = answers.copy()
    squares.data = direction[answers.indices] ** 2
    weight = _triples(squares)
    return _triples(centred) / weight if weight > NOTHING else 0.0


def _triples(table: csr_array) -> float:
    one, two, three = (np.asarray((table**power).sum(axis=1)) for power in (1, 2, 3))
    return float(np.sum(one**3 - 3 * one * two + 2 * three) / 6)
