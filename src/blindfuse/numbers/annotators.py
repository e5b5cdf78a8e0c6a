"""``RatedAnnotators``: bias, scale and noise of the annotators, relative to the fused estimates."""

from dataclasses import dataclass

import numpy as np

from blindfuse.errors import list_names
from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.factor_model import regress
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Array, Codes, Floats, Integers

USELESS_RELIABILITY = 0.05
"""Share of the variance of an annotator's ratings that the estimates explain, below which its
ratings say next to nothing."""

FLAGS = {
    "constant": "gives every item the same rating",
    "reversed": "rates in reverse",
    "unreliable": "ratings unrelated to the estimates",
}
"""Reasons to check an annotator."""


@dataclass(frozen=True, eq=False)
class RatedAnnotators:
    """Annotators in the order of ``Numbers.annotators``; all numbers are shrunk towards the crowd.

    Attributes
    ----------
    bias ``[annotator]``
        how much higher than the estimate the annotator rates an average item.
    scale ``[annotator]``
        how much the rating rises per unit of the estimate: 1 as the crowd, 0 if unrelated, negative
        if in reverse.
    noise ``[annotator]``
        standard deviation of the ratings around bias and scale.
    reliability ``[annotator]``
        share of the variance of the ratings that the estimates explain, between 0 and 1.
    flags ``[annotator]``
        keys of ``FLAGS``; empty where there is no reason to check the annotator.
    """

    names: Array
    n_ratings: Integers
    bias: Floats
    scale: Floats
    noise: Floats
    reliability: Floats
    flags: tuple[str, ...]

    def summary(self) -> str:
        """The usual bias and noise, and the annotators to check."""
        rated = self.n_ratings > 0
        low, high = np.quantile(self.bias[rated], [0.25, 0.75])
        quiet, noisy = np.quantile(self.noise[rated], [0.25, 0.75])
        text = (
            f"Bias between {low:+.3g} and {high:+.3g}, and noise between {quiet:.3g} and "
            f"{noisy:.3g}, for half of the annotators (interquartile range)."
        )
        for flag, meaning in FLAGS.items():
            if flag in self.flags:
                text += f" {list_names(self.names[np.array(self.flags) == flag])}: {meaning}."
        return text


def rate_annotators(
    table: Numbers, working: Numbers, estimate: Estimate, unit: float, order: Codes
) -> RatedAnnotators:
    """Return bias, scale and noise relative to the estimates, on the user's scale and order.

    They are the regression of each annotator's ratings on the posterior of the truth.
    ``working`` holds the ratings in canonical order and in this ``unit``; ``order`` are the
    positions of its annotators in ``table``.
    """
    fit = regress(working, estimate.z, estimate.v)
    location, spread = estimate.location, estimate.unit
    # An annotator with bias b and scale a rates an item at the location by b, and one unit of z
    # above it by b + a, where the estimate is higher by the spread.
    columns = np.empty((4, table.n_annotators))
    explained = fit.scale**2 * (spread > 0)
    columns[:, order] = (
        unit * (fit.bias - location),
        fit.scale / (spread if spread > 0 else 1.0),
        unit * np.sqrt(fit.noise),
        explained / (explained + fit.noise),
    )
    bias, scale, noise, reliability = columns
    flags = _flags(table, scale, reliability)
    n_ratings = table.responses_per_annotator
    return RatedAnnotators(table.annotators, n_ratings, bias, scale, noise, reliability, flags)


def _flags(table: Numbers, scale: Floats, reliability: Floats) -> tuple[str, ...]:
    low, high = table.ranges
    several = table.responses_per_annotator > 1
    conditions = {
        "constant": several & (low == high) & (np.ptp(table.values) > 0),
        "unreliable": several & (reliability < USELESS_RELIABILITY),
        "reversed": scale < 0,
    }
    return tuple(np.select(list(conditions.values()), list(conditions), "").tolist())
