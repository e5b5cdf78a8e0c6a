"""U-PCR: unsupervised principal component regression on the covariance of annotators."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter
from blindfuse.numbers.estimate import Estimate, error_variances, overall_mean
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]

MAX_ANNOTATORS = 2000
"""More annotators would need a covariance matrix of more than 32 MB."""
MIN_WEIGHT = 1e-9
"""Share of w·w below which the ratings of an item say nothing about it."""


def upcr(table: Numbers) -> Estimate:
    """Estimate each item by the first principal component of the annotators.

    If errors of annotators are uncorrelated, the covariance of two annotators is
    C_ml = ρ_m + ρ_l − θ, where ρ_m is the covariance of annotator m with the truth and θ the
    variance of the truth. ρ is the least-squares solution over all pairs, and the estimate
    is μ + (ρᵀv/λ) vᵀ(x − μ) with the leading eigenvector v of C and its eigenvalue λ.

    Dror, Nadler, Bilal and Kluger (2017), "Unsupervised Ensemble Regression". There the mean and
    the variance θ of the truth are known. Here the mean is that of the ratings, and θ the mean
    covariance of two annotators, which equals it if all scales are 1. With missing ratings, C has
    the covariances of common items, and vᵀ(x − μ) is divided by v·v of the annotators who rated
    the item.
    """
    if table.n_annotators > MAX_ANNOTATORS:
        raise BadParameter(
            f"U-PCR supports at most {MAX_ANNOTATORS:,} annotators, but there are "
            f"{table.n_annotators:,}. Use 'one factor', which needs no covariance matrix."
        )
    n = np.maximum(table.ratings_per_annotator, 1)
    means = np.bincount(table.codes, table.values, minlength=table.n_annotators) / n
    weights, location = _component_weights(table, means), overall_mean(table.values)
    predict = partial(_predict, location=location, means=means, weights=weights)
    values = predict(table)
    return Estimate(values, error_variances(table, values), predict)


def _predict(new: Numbers, location: float, means: Floats, weights: Floats) -> Floats:
    return np.asarray(location + _coefficients(new, means, weights))


def _component_weights(table: Numbers, means: Floats) -> Floats:
    """(ρᵀv/λ) v ``[annotator]``, zero if no two annotators have a common item."""
    matrix = table.matrix() - means
    present = (~np.isnan(matrix)).astype(np.float64)
    filled = np.nan_to_num(matrix)
    counts = present.T @ present
    covariance = filled.T @ filled / np.maximum(counts, 1)
    pairs = counts - np.diag(np.diag(counts))
    if not pairs.sum():
        return np.zeros(table.n_annotators)
    theta = max(float((pairs * covariance).sum() / pairs.sum()), 0.0)
    rho = _covariance_with_truth(covariance, pairs, theta)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    leading, largest = vectors[:, -1], float(eigenvalues[-1])
    return np.asarray(leading * (rho @ leading) / largest if largest > 0 else np.zeros_like(rho))


def _coefficients(table: Numbers, means: Floats, weights: Floats) -> Floats:
    """wᵀ(x − μ) ``[item]``; with missing ratings, times w·w of all over w·w of the present ones."""
    item = table.item_of_rating()
    products = weights[table.codes] * (table.values - means[table.codes])
    sums = np.bincount(item, products, minlength=table.n_items)
    length = np.bincount(item, np.square(weights)[table.codes], minlength=table.n_items)
    total = np.square(weights).sum()
    known = length > MIN_WEIGHT * total
    return np.asarray(np.divide(sums * total, length, out=np.zeros(len(sums)), where=known))


def _covariance_with_truth(covariance: Floats, pairs: Floats, theta: float) -> Floats:
    """ρ that minimises Σ_{m≠l} n_ml (C_ml − ρ_m − ρ_l + θ)²."""
    totals = pairs.sum(axis=1)
    system = pairs + np.diag(np.where(totals > 0, totals, 1.0))
    right = (pairs * (covariance + theta)).sum(axis=1)
    return np.asarray(np.linalg.lstsq(system, right, rcond=1e-10)[0])
