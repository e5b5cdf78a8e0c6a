"""The one-factor model of ratings, fitted by EM with priors that are learned from the crowd.

Annotator m rates item i by x_im = b_m + a_m z_i + e_im with normal noise of variance s_m², where z
has mean 0 and variance 1 over the items. The crowd is a normal prior of b and of a, and a scaled
inverse χ² prior of s², whose parameters are learned from all annotators (empirical Bayes). An
annotator with few ratings is therefore rated much like the others, and one with many by its own
ratings.

| symbol | variable | shape |
|---|---|---|
| b_m, a_m, s_m² | ``bias``, ``scale``, ``noise`` | ``[annotator]`` |
| Var(a), Cov(a, b), Var(b) | ``uncertainty`` | ``[annotator, 3]`` |
| posterior mean and variance of z_i | ``z``, ``v`` | ``[item]`` |
| n, Σx, Σx², Σz, Σ(z² + v), Σxz over the ratings of an annotator | ``sums`` | ``[annotator, 6]`` |
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from blindfuse.kernels.ratings import add_products, normal_posteriors
from blindfuse.numbers.scales import Standardizer
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats, Integers

MIN_VARIANCE = 1e-6
"""Lower bound of variances, relative to the variance of all ratings, so that nothing is divided by
zero where annotators agree exactly."""
NOISE_COUNT = 8.0
"""Pseudo-count of the noise prior: the typical noise counts as much as this many ratings."""
TOLERANCE = 0.01
"""EM stops where an iteration changes the estimates by less than this share of their standard
error: further iterations change less than what sampling noise leaves open."""


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
        return replace(
            self,
            scale=-self.scale,
            uncertainty=self.uncertainty * [1.0, -1.0, 1.0],
            prior=replace(self.prior, scale=-self.prior.scale),
        )


class FactorFit(NamedTuple):
    """The fitted annotators, and posterior means and variances of z ``[item]``."""

    annotators: AnnotatorFit
    z: Floats
    v: Floats


def fit_factor(table: Numbers, tolerance: float = TOLERANCE) -> FactorFit:
    """Fit the model by EM from the mean of standardised ratings.

    The sign of z is such that annotators with positive scales have most of the information.
    """
    z, v, change = standardized_start(table), np.zeros(table.n_items), np.inf
    fit = regress(table, z, v, iterations=3)
    for _ in range(500):
        if change < tolerance**2 * v.mean():
            break
        last = z
        z, v = posteriors(table, fit)
        fit = m_step(rating_sums(table, *standardize(z, v)), fit)
        change = float(np.square(z - last).mean())
    if information(fit, table.responses_per_annotator)[fit.scale < 0].sum() > 0.5:
        fit = fit.reversed()
    return FactorFit(fit, *posteriors(table, fit))


def standardized_start(table: Numbers) -> Floats:
    """Return the mean of standardised ratings ``[item]``, with mean 0 and variance 1."""
    ratings = Standardizer.of(table).apply(table)
    values = ratings.item_means(float(ratings.values.mean()))
    deviation = values.std()
    return np.asarray((values - values.mean()) / (deviation if deviation > 0 else 1.0))


def standardize(z: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return posteriors of z with mean 0 and variance 1 over all items.

    This is the parameter expansion of Liu, Rubin and Wu (1998), "Parameter expansion to accelerate
    EM", by which EM needs far fewer iterations.
    """
    mean = z.mean()
    variance = float((z**2 + v).mean() - mean**2)
    d = np.sqrt(variance) if variance > 0 else 1.0
    return (z - mean) / d, v / d**2


def regress(table: Numbers, z: Floats, v: Floats, iterations: int = 10) -> AnnotatorFit:
    """Return bias, scale and noise of the annotators given the truth of the items.

    The annotator's own rating belongs to the posterior ``z[item]``, ``v[item]`` of the truth.
    """
    sums, fit = rating_sums(table, z, v), like_prior(table.n_annotators)
    for _ in range(iterations):
        fit = m_step(sums, fit)
    return fit


def like_prior(n_annotators: int) -> AnnotatorFit:
    """Return annotators that are all like the prior."""
    prior, ones = CrowdPrior(), np.ones(n_annotators)
    parameters = prior.bias * ones, prior.scale * ones, prior.noise * ones
    return AnnotatorFit(*parameters, np.zeros((n_annotators, 3)), prior)


def posteriors(table: Numbers, fit: AnnotatorFit) -> tuple[Floats, Floats]:
    """Return posterior means and variances of z ``[item]`` given the annotators: the E-step."""
    z, v = np.empty((2, table.n_items))
    a, b, uncertainty = fit.scale, fit.bias, fit.uncertainty
    products = a**2 + uncertainty[:, 0], a, a * b + uncertainty[:, 1]
    weights = np.column_stack(products) / fit.noise[:, None]
    normal_posteriors(*table.by_item, weights, z, v)
    return z, v


def rating_sums(table: Numbers, z: Floats, v: Floats) -> Floats:
    """Return the ``sums[annotator]`` over ratings that the M-step needs."""
    sums = np.zeros((table.n_annotators, 3))
    add_products(*table.by_item, z, v, sums)
    return np.hstack([table.power_sums, sums])


def m_step(sums: Floats, last: AnnotatorFit) -> AnnotatorFit:
    """Return the posterior of b and a given the last noise, then noise and prior given b and a."""
    n, x, xx, z, zz, xz = sums.T
    prior, noise = last.prior, last.noise
    p_bb = 1 / prior.bias_variance + n / noise
    p_ab = z / noise
    p_aa = 1 / prior.scale_variance + zz / noise
    r_b = prior.bias / prior.bias_variance + x / noise
    r_a = prior.scale / prior.scale_variance + xz / noise
    determinant = p_bb * p_aa - p_ab**2
    b = (p_aa * r_b - p_ab * r_a) / determinant
    a = (p_bb * r_a - p_ab * r_b) / determinant
    var_a, cov, var_b = p_bb / determinant, -p_ab / determinant, p_aa / determinant
    squares = (
        xx - 2 * (b * x + a * xz) + (b**2 + var_b) * n + 2 * (a * b + cov) * z + (a**2 + var_a) * zz
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


def information(fit: AnnotatorFit, n_ratings: Integers) -> Floats:
    """Return the share ``[annotator]`` of the information about z: n_m a_m²/(a_m² + s_m²)."""
    reliability = n_ratings * fit.scale**2 / (fit.scale**2 + fit.noise)
    total = reliability.sum()
    return np.asarray(reliability / total if total > 0 else np.zeros(len(reliability)))


def crowd_scale(fit: AnnotatorFit, n_ratings: Integers) -> tuple[float, float]:
    """Return B and A of the estimates B + A z, on the scale that the annotators share.

    They are the means of b and a of annotators with positive scales, weighted by their information.
    """
    weights = information(fit, n_ratings) * (fit.scale > 0)
    if not weights.sum() > 0:
        return fit.prior.bias, max(fit.prior.scale, 0.0)
    location, scale = (np.average(each, weights=weights) for each in (fit.bias, fit.scale))
    return float(location), float(scale)


def error_variances(table: Numbers, fitted: FactorFit) -> Floats:
    """Return the variance ``[item]`` of the error of z, with the uncertainty of b and a.

    A rating has the noise s² + Var(b) + 2 z Cov(a, b) + z² Var(a), of which the weights a/s² know
    only s²: the variance is (1 + Σ (a/s²)² (noise of the rating)) / (1 + Σ a²/s²)².
    """
    fit, item, m = fitted.annotators, table.item_of_response(), table.codes
    z, (var_a, covariance, var_b) = fitted.z[item], fit.uncertainty.T
    noise = (fit.noise + var_b)[m] + z * (2 * covariance[m] + z * var_a[m])
    spread = (fit.scale / fit.noise)[m] ** 2 * noise
    precision = np.bincount(item, (fit.scale**2 / fit.noise)[m], table.n_items)
    return (1 + np.bincount(item, spread, table.n_items)) / (1 + precision) ** 2
