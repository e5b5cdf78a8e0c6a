"""Calibration of the estimates with gold values of some items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.numbers.table import Numbers
from blindfuse.responses.gold import check_gold, gold_positions
from blindfuse.responses.scalars import MAX_MAGNITUDE
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
