"""Measure a fusion on gold labels that it was not given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.fusion.fuse import Fusion
from blindfuse.metrics import calibration_error, error_rate, reliability, wilson_interval
from blindfuse.metrics.interval import Interval
from blindfuse.model.posteriors import vote_posteriors
from blindfuse.responses.gold import gold_codes


@dataclass(frozen=True)
class Bin:
    """Items of similar confidence: their mean confidence and the share of correct labels."""

    items: int
    confidence: float
    accuracy: Interval


@dataclass(frozen=True)
class GoldCheck:
    """The error of a fusion on ``items`` gold items that it was not given.

    Attributes
    ----------
    error, vote_error
        share of wrong labels of the fusion and of the majority vote; a tie counts in proportion.
    expected_error
        share of wrong labels that the fusion itself expected.
    calibration_error, bins
        the expected calibration error, and the reliability diagram that it summarises.
    """

    items: int
    error: Interval
    vote_error: Interval
    expected_error: float
    calibration_error: float
    bins: tuple[Bin, ...]

    def summary(self) -> str:
        """Return the figures as sentences."""
        return (
            f"{100 * self.error.value:.1f} % of the labels are wrong on {self.items:,} gold items "
            f"({100 * self.error.low:.1f} to {100 * self.error.high:.1f} %), fused without them; "
            f"majority vote: {100 * self.vote_error.value:.1f} %. Confidences are off by "
            f"{100 * self.calibration_error:.1f} points on average.{self._advice}"
        )

    @property
    def _advice(self) -> str:
        if self.expected_error >= self.error.low:
            return ""
        return " The expected error below is too low: trust the measured one."


def check_on_gold(blind: Fusion, gold: Mapping[Any, Any]) -> GoldCheck:
    """Measure a fusion on gold labels ``{item: label}`` that it was not given."""
    items, codes = gold_codes(blind.responses, gold)
    if not len(items):
        raise BadLabels("There are no gold labels to check against. Give at least one.")
    posteriors = blind.posteriors[items]
    votes = vote_posteriors(blind.responses.select_items(items))
    return GoldCheck(
        items=len(items),
        error=_interval(error_rate(posteriors, codes), len(items)),
        vote_error=_interval(error_rate(votes, codes), len(items)),
        expected_error=float(1 - posteriors.max(axis=1).mean()),
        calibration_error=calibration_error(posteriors, codes),
        bins=tuple(
            Bin(int(count), float(confidence), _interval(accuracy, int(count)))
            for count, confidence, accuracy in zip(*reliability(posteriors, codes, 10), strict=True)
        ),
    )


def _interval(share: float, count: int) -> Interval:
    inside = float(np.clip(share, 0, 1))
    return Interval(inside, *wilson_interval(inside, count))
