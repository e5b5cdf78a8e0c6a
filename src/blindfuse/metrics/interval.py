"""``Interval``: an estimate with its limits, and bootstrap intervals over items."""

from collections.abc import Callable
from typing import NamedTuple, TypedDict

import numpy as np

from blindfuse.errors import BadParameter
from blindfuse.typing import Integers


class Interval(NamedTuple):
    """An estimate with its interval, ``low`` to ``high``; of 95 % unless said otherwise."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def __neg__(self) -> "Interval":
        return Interval(-self.value, -self.high, -self.low)

    def percent(self, unit: str = "%") -> str:
        """As ``5.1 % (2.0 to 8.2 %)``, or ``5.1 points (2.0 to 8.2)``."""
        value, low, high = (f"{100 * x:.1f}" for x in self)
        return f"{value} {unit} ({low} to {high}{' %' if unit == '%' else ''})"


class Bootstrap(TypedDict, total=False):
    """Options of bootstrap intervals over items.

    ``resamples`` of the items are drawn (1000 unless given otherwise); the interval contains the
    middle share ``confidence`` (0.95) of their coefficients. ``seed`` is 0; None for another result
    in each call.
    """

    resamples: int
    confidence: float
    seed: int | None


def bootstrap_interval(
    coefficient: Callable[[Integers], float],
    repeats: Integers,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Interval:
    """Return the coefficient of ``repeats[row]`` items per row, with its percentile interval.

    Resamples are drawn one at a time, because there may be as many rows as items.
    """
    if resamples < 1:
        raise BadParameter(f"resamples={resamples!r} must be at least 1.")
    if not 0 < confidence < 1:
        raise BadParameter(f"confidence={confidence!r} must be between 0 and 1.")
    rng = np.random.default_rng(seed)
    N = repeats.sum()
    shares = repeats / N
    resampled = [coefficient(rng.multinomial(N, shares)) for _ in range(resamples)]
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(coefficient(repeats), float(low), float(high))


def chance_corrected(observed: float, by_chance: float) -> float:
    """Return 1 − observed / by_chance disagreement; 1 if there is no disagreement by chance."""
    return float(1 - observed / by_chance) if by_chance > 0 else 1.0
