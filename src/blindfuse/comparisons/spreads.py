"""How much items and judges differ: variances learned from the comparisons (empirical Bayes)."""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from blindfuse.comparisons.fitting import Fit, SlopeErrors, fit
from blindfuse.comparisons.likelihood import SLOPE, Cells, Parameters
from blindfuse.typing import Flags, Floats

MAX_VARIANCES = np.array([0.25, 1e6, 1e6])
"""With this variance of the slopes, one that is negative is two standard deviations from the
common one, so that only evidence makes a judge an adversary."""


def fit_with_spreads(cells: Cells, effects: Flags, plain: Fit | None = None) -> Fit:
    """Fit with variances that maximise the Laplace approximation of the marginal likelihood.

    Given a fit, the data of each parameter are an estimate with a standard error, and the variance
    of all of them has its maximum likelihood; a variance without evidence is exactly zero. Fit and
    variances alternate until they settle. The variance of the strengths is 1 / ridge. ``effects``
    says which effects judges may have, ``plain`` is the fit to start from.
    """
    variances = np.array([0.25, 0.1, 0.25]) * effects * (np.count_nonzero(cells.per_judge) > 1)
    ridge, start, errors = 1.0, None, None
    if plain is not None:
        no_effects = np.zeros((cells.n_judges, 3))
        ridge, start = plain.ridge, plain.parameters.with_effects(no_effects)
    for _ in range(50):
        fitted = fit(cells, ridge, variances, start, errors, max_steps=2)
        before = np.array([1 / ridge, *variances, 1.0])
        ridge, variances = _learned_ridge(fitted), _learned_variances(fitted)
        start, unit = _with_typical_slope(fitted, variances > 0)
        errors = SlopeErrors.of(fitted) if variances[SLOPE] else None
        if np.allclose([1 / ridge, *variances, unit], before, rtol=1e-3, atol=1e-9):
            break
    return fit(cells, ridge, variances, start, errors)


def _with_typical_slope(fitted: Fit, active: Flags) -> tuple[Parameters, float]:
    """Return strengths and slopes in units in which the typical slope is 1, and the old unit."""
    effects, (typical, _) = fitted.parameters.effects * active, typical_slope(fitted)
    unit = typical if typical > 0.1 else 1.0  # judges have no direction in common
    effects[:, SLOPE] = (1 + effects[:, SLOPE]) / unit - 1
    strengths = fitted.parameters.strengths * unit
    return replace(fitted.parameters, strengths=strengths, effects=effects), unit


def typical_slope(fitted: Fit) -> tuple[float, float]:
    """Return the mean slope of judges with at least half of the median, and its standard error."""
    slopes, weights = 1 + fitted.parameters.effects[:, SLOPE], fitted.cells.per_judge
    order = np.argsort(slopes)
    middle = np.searchsorted(weights[order].cumsum(), weights.sum() / 2)
    weights = weights * (slopes >= slopes[order][middle] / 2)
    weights = weights / weights.sum()
    mean = float(weights @ slopes)
    return mean, float(np.sqrt(weights**2 @ (slopes - mean) ** 2))


def _learned_ridge(fitted: Fit) -> float:
    means, posterior = fitted.parameters.strengths, fitted.curvature.variances
    variance = likeliest_variance(means, posterior, 1 / fitted.ridge, prior_power=0.5)
    return 1 / float(np.clip(variance, 0.01, 100))


def _learned_variances(fitted: Fit) -> Floats:
    judges = np.flatnonzero(fitted.cells.per_judge)
    if not fitted.active.any():
        return fitted.variances
    posterior, effects = fitted.curvature.effect_variances()[judges], fitted.parameters.effects
    learned = [
        likeliest_variance(effects[judges, at], posterior[:, at], prior) if prior else 0.0
        for at, prior in enumerate(fitted.variances.tolist())
    ]
    return np.asarray(np.minimum(learned, MAX_VARIANCES))


def likeliest_variance(
    means: Floats, posterior: Floats, prior: float, prior_power: float = 0.0
) -> float:
    """Return the variance of parameters with these posterior means and variances.

    ``prior`` is the variance that the posterior assumed. Without it, parameter k has the estimate
    x_k = m_k (1 + s_k / σ²) with the variance s_k = 1 / (1/v_k − 1/σ²), and x_k ~ N(0, s_k + σ²).
    The likelihood is multiplied by σ² to the ``prior_power``: ½ keeps the variance of few
    parameters from zero (Chung et al. 2013, "A nondegenerate penalized likelihood estimator for
    variance parameters in multilevel models").
    """
    own = 1 / np.maximum(posterior, 1e-300) - 1 / prior
    informed = own > 1e-9 / prior
    noise = 1 / own[informed]
    squares = (means[informed] * (1 + noise / prior)) ** 2

    def slope(variance: float) -> float:
        total = noise + variance
        likelihood = ((squares - total) / total**2).sum()
        return float(likelihood + 2 * prior_power / max(variance, 1e-12))

    if not informed.any() or slope(0.0) <= 0:
        return 0.0
    high = float(squares.max() + noise.max())
    while slope(high) >= 0:
        high *= 2
    return float(brentq(slope, 0.0, high))
