"""Bias, scale and noise of annotators, given the truth of the items, shrunk towards the crowd.

Annotator m rates item i by x_im = b_m + a_m z_i + e_im with noise of variance s_m². The crowd is a
normal prior of b and of a, and a scaled inverse χ² prior of s², whose parameters are learned from
all annotators (empirical Bayes). An annotator with few ratings is therefore rated much like the
others, and one with many by its own ratings.

| symbol | variable | shape |
|---|---|---|
| b_m, a_m, s_m² | ``bias``, ``scale``, ``noise`` | ``[annotator]`` |
| Var(a), Cov(a, b), Var(b) | ``uncertainty`` | ``[annotator, 3]`` |
| Σ over the ratings of an annotator | ``sums`` | ``[annotator, 7]``, see ``kernels.ratings`` |
"""

from dataclasses import dataclass, replace

import numpy as np

from blindfuse.kernels.ratings import rating_sums
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Codes, Floats

MIN_VARIANCE = 1e-6
"""Lower bound of variances, relative to the variance of all ratings, so that nothing is divided by
zero where annotators agree exactly."""
NOISE_COUNT = 8.0
"""Pseudo-count of the noise prior: the typical noise counts as much as this many ratings."""


@dataclass(frozen=True)
class CrowdPrior:
    """The distribution of annotators: means and variances of b and a, and the typical s²."""

    bias: float = 0.0
    bias_variance: float = 1.0
    scale: float = 0.7
    scale_variance: float = 1.0
    noise: float = 0.5


@dataclass(frozen=True, eq=False)
class AnnotatorFit:
    """Posterior means of b, a and s² per annotator, the uncertainty of b and a, and the prior."""

    bias: Floats
    scale: Floats
    noise: Floats
    uncertainty: Floats
    prior: CrowdPrior

    def reversed(self) -> "AnnotatorFit":
        """Return the same fit for −z."""
        signs = np.array([1.0, -1.0, 1.0])
        return replace(
            self,
            scale=-self.scale,
            uncertainty=self.uncertainty * signs,
            prior=replace(self.prior, scale=-self.prior.scale),
        )

    def at(self, places: Codes) -> "AnnotatorFit":
        """Return the fit of annotators at these positions; −1 is one like the prior."""
        known, prior = places >= 0, self.prior
        return AnnotatorFit(
            np.where(known, self.bias[places], prior.bias),
            np.where(known, self.scale[places], prior.scale),
            np.where(known, self.noise[places], prior.noise),
            np.where(known[:, None], self.uncertainty[places], 0.0),
            prior,
        )


def initial_fit(n_annotators: int) -> AnnotatorFit:
    """Return annotators that are all like the prior."""
    prior, ones = CrowdPrior(), np.ones(n_annotators)
    parameters = prior.bias * ones, prior.scale * ones, prior.noise * ones
    return AnnotatorFit(*parameters, np.zeros((n_annotators, 3)), prior)


def fit_step(sums: Floats, last: AnnotatorFit) -> AnnotatorFit:
    """Return the posterior of b and a given the last noise, then noise and prior given b and a."""
    n, u, x, xx, z, zz, xz = sums.T
    prior, noise = last.prior, last.noise
    p_bb = 1 / prior.bias_variance + u / noise
    p_ab = z / noise
    p_aa = 1 / prior.scale_variance + zz / noise
    r_b = prior.bias / prior.bias_variance + x / noise
    r_a = prior.scale / prior.scale_variance + xz / noise
    determinant = p_bb * p_aa - p_ab**2
    b = (p_aa * r_b - p_ab * r_a) / determinant
    a = (p_bb * r_a - p_ab * r_b) / determinant
    var_a, cov, var_b = p_bb / determinant, -p_ab / determinant, p_aa / determinant
    squares = (
        xx - 2 * (b * x + a * xz) + (b**2 + var_b) * u + 2 * (a * b + cov) * z + (a**2 + var_a) * zz
    )
    squares = np.maximum(squares, MIN_VARIANCE * n)
    typical = _typical_noise(n, squares, prior.noise)
    noise = (NOISE_COUNT * typical + squares) / (NOISE_COUNT + n)
    learned = CrowdPrior(
        float(b.mean()),
        float((np.square(b - b.mean()) + var_b).mean()) + MIN_VARIANCE,
        float(a.mean()),
        float((np.square(a - a.mean()) + var_a).mean()) + MIN_VARIANCE,
        typical,
    )
    return AnnotatorFit(b, a, noise, np.column_stack([var_a, cov, var_b]), learned)


def regress(table: Numbers, z: Floats, v: Floats, iterations: int = 10) -> AnnotatorFit:
    """Return bias, scale and noise of the annotators given the truth of the items.

    ``z[item]`` and ``v[item]`` are the means and variances of its posterior, to which the
    annotator's own rating belongs.
    """

    def work(first: int, last: int) -> Floats:
        sums = np.zeros((table.n_annotators, 7))
        rating_sums(*table.by_item, z, v, first, last, sums)
        return sums

    first, *others = table.map_items(work)
    sums = sum(others, start=first)
    sums[:, :4] = table.power_sums
    fit = initial_fit(table.n_annotators)
    for _ in range(iterations):
        fit = fit_step(sums, fit)
    return fit


def _typical_noise(n: Floats, squares: Floats, last: float) -> float:
    """Return a step towards the s̄² with the largest marginal likelihood of squared residuals.

    With s_m² ~ scaled inverse χ²(ν, s̄²) and S_m squared residuals of n_m ratings, it satisfies
    M / s̄² = Σ_m (ν + n_m) / (ν s̄² + S_m) over the M annotators with ratings.
    """
    rated = n > 0
    if not rated.any():
        return last
    weights = (NOISE_COUNT + n[rated]) / (NOISE_COUNT * max(last, MIN_VARIANCE) + squares[rated])
    return float(1 / weights.mean())
