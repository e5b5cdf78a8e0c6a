"""How a fusion that was not told the known labels does on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.fusion.fuse import Fusion
from blindfuse.metrics import calibration_error, error_rate, reliability, share_interval
from blindfuse.model.posteriors import vote_shares
from blindfuse.responses.gold import gold_codes

BINS = 10
"""Points of the reliability diagram."""


@dataclass(frozen=True)
class Interval:
    """A share of items, between ``low`` and ``high`` with 95 % confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Bin:
    """Items whose labels are about equally sure: how sure, and how many are right."""

    items: int
    sure: float
    right: Interval


@dataclass(frozen=True)
class GoldCheck:
    """On ``items`` items of known label, by a fusion that was not told them.

    Attributes
    ----------
    error, vote
        the share that the fusion labels wrongly, and the majority vote; ties share the credit.
    expected
        the share that the fusion expected to label wrongly.
    calibration, bins
        the expected calibration error, and how often labels are right that are about as sure.
    """

    items: int
    error: Interval
    vote: Interval
    expected: float
    calibration: float
    bins: tuple[Bin, ...]

    def summary(self) -> str:
        """In words."""
        return (
            f"On {self.items:,} gold items, fused without them: {100 * self.error.value:.1f} % "
            f"wrong, majority vote {100 * self.vote.value:.1f} %. "
            f"Confidences are off by {100 * self.calibration:.1f} points on average."
        )


def check_on_gold(blind: Fusion, gold: Mapping[Any, Any]) -> GoldCheck:
    """Compare a fusion, made without them, with known labels ``{item: label}``."""
    items, codes = gold_codes(blind.responses, gold)
    if not len(items):
        raise BadLabels("There are no gold labels to check against. Name at least one.")
    posteriors = blind.posteriors[items]
    votes = vote_shares(blind.responses.select_items(items))
    return GoldCheck(
        items=len(items),
        error=_interval(error_rate(posteriors, codes), len(items)),
        vote=_interval(error_rate(votes, codes), len(items)),
        expected=float(1 - posteriors.max(axis=1).mean()),
        calibration=calibration_error(posteriors, codes),
        bins=tuple(
            Bin(int(count), float(sure), _interval(right, int(count)))
            for count, sure, right in zip(*reliability(posteriors, codes, BINS), strict=True)
        ),
    )


def _interval(share: float, count: int) -> Interval:
    inside = float(np.clip(share, 0, 1))
    return Interval(inside, *share_interval(inside, count))
