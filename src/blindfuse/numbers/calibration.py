"""Calibration of the estimates with gold values of some items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, list_names
from blindfuse.numbers.table import MAX_MAGNITUDE, Numbers
from blindfuse.responses.coding import as_names, positions

Floats = NDArray[np.float64]

ITERATIONS = 20


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

    def apply(self, values: Floats) -> Floats:
        """Return calibrated estimates."""
        return self.location + self.slope * (values - self.centre)

    def variances(self, values: Floats, variances: Floats) -> Floats:
        """Return the variances of calibrated estimates."""
        offset = values - self.centre
        line = (
            self.covariance[0, 0]
            + 2 * offset * self.covariance[0, 1]
            + offset**2 * self.covariance[1, 1]
        )
        return np.asarray(self.slope**2 * variances + line + self.extra_variance)


def gold_values(table: Numbers, gold: Mapping[Any, Any]) -> tuple[NDArray[np.intp], Floats]:
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


def calibrate(estimates: Floats, variances: Floats, gold: Floats, spread: float) -> Calibration:
    """Fit the line through gold values by weighted least squares.

    The slope has the prior N(1, 1), and the location the prior N(mean of the estimates, spread²),
    where ``spread`` is the standard deviation of all ratings: one gold value moves the location,
    and only several of them change the slope.
    """
    centre = float(estimates.mean())
    design = np.column_stack([np.ones(len(gold)), estimates - centre])
    prior = np.diag([1 / max(spread, 1e-150) ** 2, 1.0])
    target = prior @ np.array([centre, 1.0])
    extra = float(np.var(gold - estimates))
    for _ in range(ITERATIONS):
        weights = 1 / np.maximum(variances + extra, 1e-12 * max(spread, 1e-140) ** 2)
        covariance = np.linalg.inv(prior + (design.T * weights) @ design)
        coefficients = covariance @ (target + design.T @ (weights * gold))
        residuals = gold - design @ coefficients
        freedom = max(len(gold) - 2, 1)
        extra = max(float((np.square(residuals) - variances).sum()) / freedom, 0.0)
    return Calibration(
        centre,
        float(coefficients[0]),
        float(coefficients[1]),
        np.asarray(covariance, np.float64),
        extra,
    )
