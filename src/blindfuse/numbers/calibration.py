"""Calibration of the estimates with gold values of some items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.numbers.table import Numbers
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.numerals import MAX_MAGNITUDE
from blindfuse.typing import Codes, Floats

MIN_FOR_SLOPE = 3
"""Minimum number of gold values for a slope: two leave no residual to judge it by."""


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
        offset, (of_location, both, of_slope) = (
            values - self.centre,
            self.covariance[[0, 0, 1], [0, 1, 1]],
        )
        line = of_location + 2 * offset * both + offset**2 * of_slope
        return np.asarray(self.slope**2 * variances + line + self.extra_variance)


def gold_values(table: Numbers, gold: Mapping[Any, Any]) -> tuple[Codes, Floats]:
    """Return the positions of the gold items and their values."""
    if not gold:
        return np.empty(0, dtype=np.intp), np.empty(0)
    names = as_names(list(gold))
    places = positions(names, table.items)
    if np.any(places < 0):
        raise BadLabels(
            f"Gold items {list_names(names[places < 0])} are not among the items. Leave them out."
        )
    try:
        values = np.array([float(value) for value in gold.values()])
    except (TypeError, ValueError) as error:
        raise BadLabels(f"A gold value is not a number: {error}. Correct it.") from None
    invalid = ~(np.abs(values) <= MAX_MAGNITUDE)
    if invalid.any():
        raise BadLabels(
            f"The gold values of {list_names(names[invalid])} are not finite numbers. Leave them "
            "out."
        )
    return places, values


def calibrate(estimates: Floats, variances: Floats, gold: Floats) -> Calibration:
    """Fit the line through gold values by weighted least squares.

    Fewer than MIN_FOR_SLOPE gold values move the location only. The weight of a gold value is the
    inverse of the variance of its estimate plus the extra variance, which is found by iteration.
    """
    centre = float(estimates.mean())
    design = np.column_stack([np.ones(len(gold)), estimates - centre])
    has_slope = len(gold) >= MIN_FOR_SLOPE and float(np.ptp(estimates)) > 0
    used = design if has_slope else design[:, :1]
    target = gold if has_slope else gold - (estimates - centre)
    coefficients, covariance = np.array([float(target.mean()), 1.0]), np.zeros((2, 2))
    extra, slope = float(np.var(target)), 1.0
    size = used.shape[1]
    for _ in range(20):
        total = slope**2 * variances + extra
        weights = 1 / np.maximum(total, max(1e-9 * float(total.max()), 1e-209))
        covariance[:size, :size] = np.linalg.inv((used.T * weights) @ used)
        coefficients[:size] = covariance[:size, :size] @ (used.T @ (weights * target))
        slope = float(coefficients[1])
        residuals = target - used @ coefficients[:size]
        excess = np.square(residuals).sum() / max(len(gold) - size, 1)
        extra = max(float(excess - slope**2 * variances.mean()), 0.0)
    return Calibration(centre, float(coefficients[0]), slope, covariance, extra)
