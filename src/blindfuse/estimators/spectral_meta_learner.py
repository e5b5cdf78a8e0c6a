"""Spectral meta-learner (Parisi et al. 2014) with per-class accuracies (Jaffe et al. 2015)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from blindfuse.estimators.base import CombinationRule, ModelEstimator
from blindfuse.estimators.signs import (
    binary_signs,
    leading_eigenpair,
    mean_pair_products,
    require_three_overlapping,
)
from blindfuse.model.model import Model
from blindfuse.typing import Floats

MAX_ITERATIONS = 100
"""Iterations of the rank-one fit of the covariances."""
MIN_EIGENVALUE = 1e-12
"""Below this, the covariances count as zero."""
MAX_ACCURACY = 0.999
"""Largest sensitivity, specificity and |imbalance|, so that no single response decides."""


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralMetaLearner(ModelEstimator):
    """Two-class confusion matrices from covariances, and the prior from third moments.

    With classes as ±1, covariances Q_ij = λ v_i v_j for i ≠ j give v. The third central moments are
    τ v_i v_j v_k, and with β = τ/λ and s = ½√(β² + 4λ) the class imbalance is b = −β/(2s). An
    annotator with mean response μ has sensitivity ½(1 + μ + s v (1 − b)) and specificity
    ½(1 − μ + s v (1 + b)). With missing responses, moments are over common items and each triple is
    weighted by their number. References: Parisi, Strino, Nadler and Kluger (2014), "Ranking and
    Combining Multiple Predictors Without Labeled Data"; Jaffe, Nadler and Kluger (2015),
    "Estimating the Accuracies of Multiple Classifiers Without Labeled Data".

    Parameters
    ----------
    rule
        ``"ml"``, as in the references, ignores the class prior; or ``"map"``.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    imbalance_
        b, the prior of the second class minus that of the first.
    """

    rule: CombinationRule = "ml"

    def fit(self, responses: Any) -> Self:
        table = self._check_input(responses)
        signs = binary_signs(table, "SpectralMetaLearner")
        means, common = mean_pair_products(signs)
        require_three_overlapping(common, "SpectralMetaLearner")
        counts = np.maximum(table.responses_per_annotator, 1)
        mu = np.asarray(signs.sum(axis=0)) / counts
        covariance = np.where(common > 0, means - np.outer(mu, mu), 0.0)
        size, direction = _fit_rank_one(covariance)
        beta = _third_moment(signs, mu, direction) / size
        scale = 0.5 * np.sqrt(beta**2 + 4 * size)
        self.imbalance_ = float(np.clip(-beta / (2 * scale), -MAX_ACCURACY, MAX_ACCURACY))
        sensitivity = 0.5 * (1 + mu + scale * direction * (1 - self.imbalance_))
        specificity = 0.5 * (1 - mu + scale * direction * (1 + self.imbalance_))
        accuracies = np.clip(
            np.column_stack([specificity, sensitivity]), 1 - MAX_ACCURACY, MAX_ACCURACY
        )
        if size <= MIN_EIGENVALUE:  # all responses agree and count as correct
            accuracies[:] = MAX_ACCURACY
        confusions = np.array([[[tn, 1 - tp], [1 - tn, tp]] for tn, tp in accuracies])
        prior = np.array([1 - self.imbalance_, 1 + self.imbalance_]) / 2
        return self._store(Model(confusions, prior, table.annotators, table.classes), table)


def _fit_rank_one(covariance: Floats) -> tuple[float, Floats]:
    """Return λ and v with Q_ij ≈ λ v_i v_j off the diagonal, most of v positive."""
    size, direction = 0.0, np.zeros(len(covariance))
    off_diagonal = covariance - np.diag(np.diag(covariance))
    for _ in range(MAX_ITERATIONS):
        last = size
        size, direction = leading_eigenpair(off_diagonal + np.diag(size * direction**2))
        if abs(size - last) <= 1e-9 * abs(size):
            break
    mostly_negative = np.sum(direction > 0) * 2 < len(direction)
    return max(size, MIN_EIGENVALUE), -direction if mostly_negative else direction


def _third_moment(signs: csr_array, mu: Floats, direction: Floats) -> float:
    """Return τ by least squares over all triples, each weighted by its common items.

    No triple is formed: Σ_{i<j<k} y_i y_j y_k of an item is (p₁³ − 3 p₁ p₂ + 2 p₃)/6, where p are
    the power sums of its y.
    """
    centred = signs.copy()
    centred.data = direction[signs.indices] * (signs.data - mu[signs.indices])
    squares = signs.copy()
    squares.data = direction[signs.indices] ** 2
    weight = _sum_triple_products(squares)
    return _sum_triple_products(centred) / weight if weight > MIN_EIGENVALUE else 0.0


def _sum_triple_products(table: csr_array) -> float:
    p1, p2, p3 = (np.asarray((table**power).sum(axis=1)) for power in (1, 2, 3))
    return float(np.sum(p1**3 - 3 * p1 * p2 + 2 * p3) / 6)
