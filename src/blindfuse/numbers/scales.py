"""Scales of ratings: annotators on other scales, such as 0 to 1 among 0 to 100, and gold values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.numbers.table import Numbers
from blindfuse.responses.scalars import MAX_MAGNITUDE
from blindfuse.responses.table import check_gold, gold_positions
from blindfuse.typing import Codes, Flags, Floats

SCALE_RATIO = 5.0
"""Ratio of ratings of the same items on two scales: 0 to 1 and 0 to 100 differ by 100, 0 to 5 and
0 to 10 by 2."""

MIN_FOR_SLOPE = 3
"""Minimum number of gold values for a slope: two leave no residual to judge it by."""


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

        They are shrunk with two ratings like those of the median annotator, the smallest number
        from which a deviation can be computed; deviations by their logarithms, and means in units
        of the annotator's deviation, so that an annotator on any other scale has the same
        standardised ratings.
        """
        n, x, xx = table.power_sums.T
        safe = np.maximum(n, 1)
        means = x / safe
        deviations = np.sqrt(np.maximum(xx / safe - means**2, 0.0))
        varied = deviations > 1e-7 * np.abs(means)  # less is due to rounding
        location = float(np.median(means[n > 0])) if n.any() else 0.0
        unit = float(np.median(deviations[varied])) if varied.any() else 1.0
        kept = n / (n + 2.0)
        shrunk = unit * (np.where(varied, deviations, unit) / unit) ** kept
        # A mean further away is on another scale and says nothing about the items.
        offsets = np.clip((means - location) / unit, -2, 2)
        return cls(means - (1 - kept) * shrunk * offsets, shrunk, location, unit)

    def restricted_to(self, distant: Flags) -> "Standardizer":
        """Return the same for ``distant[annotator]``; the others keep their ratings."""
        means = np.where(distant, self.means, self.location)
        deviations = np.where(distant, self.deviations, self.unit)
        return replace(self, means=means, deviations=deviations)

    def apply(self, table: Numbers) -> Numbers:
        """Return the ratings location + unit (x − mean_m) / sd_m."""
        z = (table.values - self.means[table.codes]) / self.deviations[table.codes]
        return table.with_values(self.location + self.unit * z)


def scale_ratios(table: Numbers, values: Floats, rest: Floats) -> Floats:
    """Return how much larger the ratings of each annotator on another scale are; 1 for others.

    The ratio is the median of |x|/|rest|, where ``rest[rating]`` is the median of the other ratings
    of the item. Three quarters of the ratings must be SCALE_RATIO times as large, or as small.
    Constant annotators, zeros and fewer than 10 ratings say nothing about the scale.
    """
    low, high = table.ranges
    x, y = np.abs(values), np.abs(rest)
    informative = (
        (x > 0)
        & (y > 0)
        & (high > low)[table.codes]
        & (table.responses_per_item > 1)[table.item_of_response()]
    )
    codes, logarithms = table.codes[informative], np.log(x[informative]) - np.log(y[informative])
    ordered = logarithms[np.lexsort((logarithms, codes))]
    count = np.bincount(codes, minlength=table.n_annotators)
    start, compared = np.cumsum(count) - count, np.flatnonzero(count >= 10)
    lower, middle, upper = (
        ordered[(start + share * (count - 1)).astype(np.intp)[compared]]
        for share in (0.25, 0.5, 0.75)
    )
    distant = (lower >= np.log(SCALE_RATIO)) | (upper <= -np.log(SCALE_RATIO))
    ratios = np.ones(table.n_annotators)
    ratios[compared[distant]] = np.exp(middle[distant])
    return ratios


def scale_notes(table: Numbers, ratios: Floats) -> list[str]:
    """Return a note that names the annotators on other scales, if there are any."""
    distant = np.flatnonzero(ratios != 1)
    if not len(distant):
        return []
    extreme = distant[np.argmax(np.abs(np.log(ratios[distant])))]
    low, high = table.ranges
    return [
        f"{len(distant):,} of {table.n_annotators:,} annotators rate on another scale: "
        f"{list_names(table.annotators[distant])}. Ratings by "
        f"{list_names(table.annotators[[extreme]])} ({low[extreme]:g} to {high[extreme]:g}) are "
        f"{ratios[extreme]:.3g} times those of the others of the same items. Their ratings were "
        "standardised; convert them to one scale if this is a mistake"
    ]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The linear map from estimates to gold values: gold = location + slope (estimate − centre).

    Attributes
    ----------
    covariance ``[2, 2]``
        uncertainty of location and slope.
    extra_variance
        variance of the gold values around the line beyond that of the estimates: what the
        intervals of the estimates leave out.
    """

    centre: float
    location: float
    slope: float
    covariance: Floats
    extra_variance: float

    @property
    def has_slope(self) -> bool:
        """Whether there were enough gold values to fit a slope and measure the distance."""
        return bool(self.covariance[1, 1] > 0)

    def apply(self, values: Floats) -> Floats:
        """Return calibrated estimates."""
        return self.location + self.slope * (values - self.centre)

    def variances(self, values: Floats, variances: Floats) -> Floats:
        """Return the variances of calibrated estimates."""
        offset, covariance = values - self.centre, self.covariance
        line = covariance[0, 0] + 2 * offset * covariance[0, 1] + offset**2 * covariance[1, 1]
        return np.asarray(self.slope**2 * variances + line + self.extra_variance)


def gold_values(table: Numbers, gold: Mapping[Any, Any] | None) -> tuple[Codes, Floats]:
    """Return the positions of the gold items and their values."""
    check_gold(gold, "gold values")
    places, values = gold_positions(table, gold or {}), []
    for item, value in (gold or {}).items():
        try:
            values.append(float(value))
        except (TypeError, ValueError) as error:
            raise BadLabels(f"A gold value is not a number: {error}. Correct it.") from None
        if not abs(values[-1]) <= MAX_MAGNITUDE:
            raise BadLabels(f"The gold value of {item!r} is not a finite number. Leave it out.")
    return places, np.array(values)


def calibrate(estimates: Floats, variances: Floats, gold: Floats) -> Calibration:
    """Fit the line through gold values by weighted least squares.

    Fewer than MIN_FOR_SLOPE gold values move the location only. The weight of a gold value is the
    inverse of the variance of its estimate plus the extra variance, which is found by iteration.
    """
    centre = float(estimates.mean())
    has_slope = len(gold) >= MIN_FOR_SLOPE and float(np.ptp(estimates)) > 0
    design = np.column_stack([np.ones(len(gold)), estimates - centre])[:, : 1 + has_slope]
    target = gold if has_slope else gold - (estimates - centre)
    covariance, size = np.zeros((2, 2)), design.shape[1]
    extra, slope = float(np.var(target)), 1.0
    for _ in range(20):
        total = slope**2 * variances + extra
        weights = 1 / np.maximum(total, max(1e-9 * float(total.max()), 1e-209))
        covariance[:size, :size] = np.linalg.inv((design.T * weights) @ design)
        line = covariance[:size, :size] @ (design.T @ (weights * target))
        slope = float(line[1]) if has_slope else 1.0
        excess = np.square(target - design @ line).sum() / max(len(gold) - size, 1)
        extra = max(float(excess - slope**2 * variances.mean()), 0.0)
    return Calibration(centre, float(line[0]), slope, covariance, extra)
