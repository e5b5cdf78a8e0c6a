"""The mean of the ratings after those of each annotator were standardised."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.estimate import (
    Estimate,
    annotator_moments,
    error_variances,
    item_means,
    overall_mean,
)
from blindfuse.numbers.table import Numbers

Floats = NDArray[np.float64]


def standardized_mean(table: Numbers) -> Estimate:
    """Estimate each item by the mean of (x_im − mean_m) / sd_m, on the scale of the crowd.

    Means and variances of annotators are shrunk towards those of all ratings. The result is
    multiplied by the mean standard deviation of annotators and shifted to the mean of all ratings.
    """
    standardizer = Standardizer.of(table)
    corrected = standardizer.ratings(table)
    values, unrated = item_means(table, corrected), overall_mean(corrected)
    return Estimate(
        values,
        error_variances(table, values, corrected),
        partial(_predict, standardizer=standardizer, unrated=unrated),
    )


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Means and standard deviations of annotators, and of the crowd."""

    means: Floats
    deviations: Floats
    overall: float
    typical: float

    @classmethod
    def of(cls, table: Numbers) -> "Standardizer":
        """Return the shrunk means and standard deviations of a table."""
        means, variances = annotator_moments(table)
        deviations = np.sqrt(variances)
        n = table.ratings_per_annotator
        typical = float(n @ deviations) / max(float(n.sum()), 1.0)
        safe = np.where(deviations > 0, deviations, 1.0)
        return cls(means, safe, overall_mean(table.values), typical)

    def ratings(self, table: Numbers) -> Floats:
        """Return the standardised ratings ``[rating]``, on the scale of the crowd."""
        z = (table.values - self.means[table.codes]) / self.deviations[table.codes]
        return np.asarray(self.overall + self.typical * z)


def _predict(new: Numbers, standardizer: Standardizer, unrated: float) -> Floats:
    return item_means(new, standardizer.ratings(new), unrated)
