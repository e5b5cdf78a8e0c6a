"""Families of simulated ratings that could mislead a fusion of numbers."""

from collections.abc import Callable

import numpy as np

from blindfuse.typing import Floats

Ratings = tuple[Floats, Floats]
"""The truth ``[item]``, and ratings ``[item, annotator]`` with NaN where there is none."""


def _rate(
    rng: np.random.Generator,
    shape: tuple[int, int] = (300, 8),
    noise: float | Floats = 0.8,
    missing: float = 0.4,
) -> Ratings:
    """Annotators with a bias, a scale and a noise of their own."""
    n_items, n_annotators = shape
    truth = rng.normal(size=n_items)
    scale, bias = rng.uniform(0.6, 1.4, n_annotators), rng.normal(0, 0.4, n_annotators)
    ratings = bias + scale * truth[:, None] + noise * rng.normal(size=shape)
    return truth, _without(rng, ratings, missing)


def _without(rng: np.random.Generator, ratings: Floats, missing: float) -> Floats:
    return np.where(rng.random(ratings.shape) < missing, np.nan, ratings)


def heavy_tails(rng: np.random.Generator) -> Ratings:
    truth, ratings = _rate(rng, noise=0.4)
    return truth, ratings + 0.5 * rng.standard_t(1.5, ratings.shape)


def coarse_grades(rng: np.random.Generator) -> Ratings:
    truth, ratings = _rate(rng)
    return truth, np.clip(np.rint(3 + ratings), 1, 5)


def one_noisy(rng: np.random.Generator) -> Ratings:
    return _rate(rng, noise=np.array([6.0, *[0.3] * 7]))


def two_clusters(rng: np.random.Generator) -> Ratings:
    """Five raters follow the truth, three another quality of the items."""
    truth, ratings = _rate(rng, noise=0.5)
    other = rng.normal(size=(len(truth), 1))
    ratings[:, 5:] = np.where(
        np.isnan(ratings[:, 5:]), np.nan, other + 0.5 * rng.normal(size=(len(truth), 3))
    )
    return truth, ratings


def constant_annotators(rng: np.random.Generator) -> Ratings:
    truth, ratings = _rate(rng)
    ratings[:, :3] = np.where(np.isnan(ratings[:, :3]), np.nan, [5.0, -2.0, 0.0])
    return truth, ratings


def scale_flips(rng: np.random.Generator) -> Ratings:
    """Two of eight annotators rate in reverse."""
    truth, ratings = _rate(rng, noise=0.5)
    ratings[:, :2] *= -1
    return truth, ratings


def few_items(rng: np.random.Generator) -> Ratings:
    return _rate(rng, (12, 5), missing=0.2)


def two_annotators(rng: np.random.Generator) -> Ratings:
    return _rate(rng, (300, 2), noise=np.array([0.4, 1.2]), missing=0.1)


def very_sparse(rng: np.random.Generator) -> Ratings:
    return _rate(rng, (400, 200), missing=0.99)


def outliers(rng: np.random.Generator) -> Ratings:
    """One rating in twenty has a misplaced decimal point."""
    truth, ratings = _rate(rng, noise=0.5)
    ratings = 5 + ratings
    return truth, np.where(rng.random(ratings.shape) < 0.05, 10 * ratings, ratings)


def multiplicative_noise(rng: np.random.Generator) -> Ratings:
    """Values that differ by orders of magnitude, with errors that grow with them."""
    truth = np.exp(rng.normal(3, 1.5, 300))
    bias, noise = rng.normal(0, 0.2, 8), 0.4 * rng.normal(size=(300, 8))
    return truth, _without(rng, truth[:, None] * np.exp(bias + noise), 0.4)


def unlike_scales(rng: np.random.Generator) -> Ratings:
    truth, ratings = _rate(rng)
    return truth, ratings * np.exp(rng.normal(0, 2, 8)) + rng.normal(0, 10, 8)


def tenfold_scale(rng: np.random.Generator) -> Ratings:
    """One of eight annotators rates from 0 to 100 instead of 0 to 10."""
    truth, ratings = _rate(rng)
    return truth, (5 + ratings) * np.where(np.arange(8) == 0, 10.0, 1.0)


def copies(rng: np.random.Generator) -> Ratings:
    """Three annotators repeat what another one says."""
    truth, ratings = _rate(rng, (300, 6))
    return truth, np.column_stack([ratings, ratings[:, [0] * 3] + 0.05 * rng.normal(size=(300, 3))])


FAMILIES: dict[str, Callable[[np.random.Generator], Ratings]] = {
    family.__name__: family
    for family in (
        *(heavy_tails, coarse_grades, one_noisy, two_clusters, constant_annotators),
        *(scale_flips, few_items, two_annotators, very_sparse, outliers),
        *(multiplicative_noise, unlike_scales, tenfold_scale, copies),
    )
}


def correlation(estimates: Floats, truth: Floats, ratings: Floats) -> float:
    """Correlation with the truth over the items that have a rating."""
    rated = ~np.isnan(ratings).all(axis=1)
    if np.ptp(estimates[rated]) == 0:
        return 0.0
    return float(np.corrcoef(estimates[rated], truth[rated])[0, 1])
