"""Prediction of held-out ratings: which method comes closest to ratings that it did not see."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.annotator_fit import regress
from blindfuse.numbers.canonical import CanonicalNumbers, canonicalize
from blindfuse.numbers.estimate import Estimate, annotator_moments, standardize_estimates
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]
Method = Callable[[Numbers], Estimate]

FOLDS = 5
MAX_PREDICTED = 50_000
"""Folds end once this many ratings were predicted."""
MAX_RATINGS = FOLDS * MAX_PREDICTED
"""Ratings up to which methods are compared on the whole table: as many as one fold needs."""
SAMPLED_RATINGS = 20_000
"""Ratings of the sample of items on which methods are compared otherwise, in one fold, so that the
comparison takes no longer than the fusion. Where that is too few, MAX_RATINGS are sampled."""
OUTLIER_Z = 10.0
"""Robust standard deviations beyond which a residual counts as one at this distance. Only gross
errors are that far away, so skewed ratings are compared by squared error."""
ROUNDING = 1e-9
"""Relative difference of two losses that is due to rounding."""
NORMAL_MAD = 1.4826
"""Standard deviation divided by the median absolute deviation of normal residuals."""


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Losses of methods for the same held-out ratings.

    ``losses[method][rating]`` is the squared residual, bounded, in units of the annotator's
    variance; ``items[rating]`` is the item, because errors on one item are not independent.
    """

    losses: Mapping[str, Floats]
    items: NDArray[np.intp]

    @property
    def n_predicted(self) -> int:
        return len(self.items)

    def mean(self, method: str) -> float:
        """Return the mean loss of a method; 1 is as good as the mean of each annotator."""
        return float(self.losses[method].mean())

    @property
    def best(self) -> str:
        """The method with the smallest mean loss; ties go to the first."""
        return min(self.losses, key=self.mean)

    def z_score(self, method: str, other: str) -> float:
        """Return by how many standard errors a method is worse than another one."""
        difference = self.losses[method] - self.losses[other]
        per_item = np.bincount(self.items, difference)
        counts = np.bincount(self.items)
        error = float(np.sqrt(np.square(per_item - counts * difference.mean()).sum()))
        total = float(difference.sum())
        if abs(total) <= ROUNDING * float(self.losses[other].sum()):
            return 0.0
        return total / error if error > 0 else np.sign(total) * np.inf


def held_out_errors(
    canonical: CanonicalNumbers, methods: Mapping[str, Method], n_sampled: int = SAMPLED_RATINGS
) -> HeldOutErrors:
    """Predict held-out ratings from the estimates of each method without them.

    Ratings of the remaining annotators are fused; the prediction for annotator m is the regression
    of its other ratings on the estimates, shrunk towards the crowd.
    """
    table = sample_items(canonical, n_sampled)
    fold = np.random.default_rng(0).permutation(table.n_ratings) % FOLDS
    item = table.item_of_rating()
    residuals: dict[str, list[Floats]] = {name: [] for name in methods}
    places: list[NDArray[np.intp]] = []
    for number in range(FOLDS):
        training = table.select_ratings(fold != number)
        held_out = (fold == number) & (training.ratings_per_item > 0)[item]
        clipped = training.values.clip(-OUTLIER_Z, OUTLIER_Z)
        moments = annotator_moments(training.with_values(clipped))
        deviations = np.sqrt(moments[1])
        safe = np.where(deviations > 0, deviations, 1.0)[table.codes[held_out]]
        for name, method in methods.items():
            predicted = _predict(training, method(training), table, item, held_out)
            residuals[name].append((table.values[held_out] - predicted) / safe)
        places.append(item[held_out])
        if sum(map(len, places)) >= MAX_PREDICTED or table is not canonical.numbers:
            break
    joined = {name: np.concatenate(parts) for name, parts in residuals.items()}
    bound = _outlier_bound(next(iter(joined.values())))
    losses = {
        name: np.square(np.minimum(np.abs(residual), bound)) for name, residual in joined.items()
    }
    return HeldOutErrors(losses, np.concatenate(places))


def sample_items(canonical: CanonicalNumbers, n_sampled: int = SAMPLED_RATINGS) -> Numbers:
    """Return all ratings, or about ``n_sampled`` of items drawn by a hash of their ratings."""
    table = canonical.numbers
    if canonical.sample is not None and n_sampled == SAMPLED_RATINGS:
        return canonical.sample
    if table.n_ratings <= MAX_RATINGS:
        return table
    share = n_sampled / table.n_ratings
    drawn = (canonical.item_hashes >> np.uint64(11)) < share * 2.0**53
    return canonicalize(table.select_items(np.flatnonzero(drawn))).numbers


def _predict(
    training: Numbers,
    estimate: Estimate,
    table: Numbers,
    item: NDArray[np.intp],
    held_out: NDArray[np.bool_],
) -> Floats:
    values, m = estimate.values, table.codes[held_out]
    if estimate.annotators is not None:
        fit, unit = estimate.annotators, estimate.unit
        z = (values - estimate.location) / unit if unit > 0 else np.zeros_like(values)
        return np.asarray(fit.bias[m] + fit.scale[m] * z[item[held_out]])
    z, v, _, _ = standardize_estimates(values, estimate.variances)
    fit = regress(training, z, v)
    return np.asarray(fit.bias[m] + fit.scale[m] * z[item[held_out]])


def _outlier_bound(residuals: Floats) -> float:
    bound = OUTLIER_Z * NORMAL_MAD * float(np.median(np.abs(residuals))) if len(residuals) else 0.0
    return bound if bound > 0 else np.inf
