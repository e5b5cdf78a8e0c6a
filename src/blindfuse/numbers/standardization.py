"""Ratings standardised per annotator, and put back on the scale of the median annotator."""

from dataclasses import dataclass, replace

import numpy as np

from blindfuse.numbers.table import Numbers
from blindfuse.typing import Flags, Floats

PRIOR_RATINGS = 2.0
"""Ratings like those of the median annotator with which each mean and deviation is shrunk. Two is
the smallest number from which a deviation can be computed."""
ROUNDING = 1e-7
"""Standard deviation, relative to the mean, that is due to rounding."""
MAX_OFFSET = 2.0
"""Standard deviations up to which a mean counts as different from that of the median annotator;
beyond them the annotator is on another scale, and its offset says nothing about its items."""


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Means and standard deviations ``[annotator]``, and those of the median annotator."""

    means: Floats
    deviations: Floats
    location: float
    unit: float

    @classmethod
    def of(cls, table: Numbers) -> "Standardizer":
        """Return means and standard deviations, shrunk towards the median annotator.

        Deviations are shrunk by their logarithms and means in units of the own deviation, so that
        an annotator on any other scale has the same standardised ratings.
        """
        n, _, x, xx = table.power_sums.T
        safe = np.maximum(n, 1)
        means = x / safe
        deviations = np.sqrt(np.maximum(xx / safe - means**2, 0.0))
        varied = deviations > ROUNDING * np.abs(means)
        location = float(np.median(means[n > 0])) if n.any() else 0.0
        unit = float(np.median(deviations[varied])) if varied.any() else 1.0
        kept = n / (n + PRIOR_RATINGS)
        shrunk = unit * (np.where(varied, deviations, unit) / unit) ** kept
        offsets = np.clip((means - location) / unit, -MAX_OFFSET, MAX_OFFSET)
        return cls(means - (1 - kept) * shrunk * offsets, shrunk, location, unit)

    def restricted_to(self, chosen: Flags) -> "Standardizer":
        """Return the same for the chosen annotators ``[annotator]``; others keep their ratings."""
        means = np.where(chosen, self.means, self.location)
        deviations = np.where(chosen, self.deviations, self.unit)
        return replace(self, means=means, deviations=deviations)

    def apply(self, table: Numbers) -> Numbers:
        """Return the ratings location + unit (x − mean_m) / sd_m."""
        z = (table.values - self.means[table.codes]) / self.deviations[table.codes]
        return table.with_values(self.location + self.unit * z)
