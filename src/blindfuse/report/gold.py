"""What known labels say of a fusion that did not see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import vote_shares
from blindfuse.errors import BadLabels
from blindfuse.estimators.gold import gold_codes
from blindfuse.fusing import Fusion
from blindfuse.metrics import calibration_error, error_rate, reliability, share_interval
from blindfuse.responses import Responses

Floats = NDArray[np.float64]

BINS = 10
"""Points of the reliability diagram."""


@dataclass(frozen=True, eq=False)
class Gold:
    """Known labels beside the beliefs of a fusion that was not told them.

    ``items[gold]`` are positions among the items, ``codes[gold]`` the true classes, and
    ``posteriors[gold, class]`` what the fusion believed of those items.
    """

    items: NDArray[np.intp]
    codes: NDArray[np.intp]
    posteriors: Floats

    def __post_init__(self) -> None:
        if not len(self.items) or not len(self.items) == len(self.codes) == len(self.posteriors):
            raise BadLabels(
                f"There are {len(self.items):,} gold items, {len(self.codes):,} codes and beliefs "
                f"about {len(self.posteriors):,}. Pass one of each for every gold item, and at "
                "least one item."
            )

    @classmethod
    def beside(cls, blind: Fusion, gold: Mapping[Any, Any]) -> "Gold":
        """Of ``gold``, ``{item: label}``, and a fusion that was made without it."""
        items, codes = gold_codes(blind.responses, gold)
        return cls(items, codes, blind.posteriors[items])


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
class Checked:
    """On ``items`` gold items: errors, how large an error was ``expected``, and calibration."""

    items: int
    error: Interval
    vote: Interval
    expected: float
    calibration: float
    bins: tuple[Bin, ...]


def check(responses: Responses, gold: Gold) -> Checked:
    """Errors of the fusion and of the vote, and whether certainties are right as often as said."""
    votes, n = vote_shares(responses.select_items(gold.items)), len(gold.items)
    found = reliability(gold.posteriors, gold.codes, BINS)
    return Checked(
        items=n,
        error=_interval(error_rate(gold.posteriors, gold.codes), n),
        vote=_interval(error_rate(votes, gold.codes), n),
        expected=float(1 - gold.posteriors.max(axis=1).mean()),
        calibration=calibration_error(gold.posteriors, gold.codes),
        bins=tuple(
            Bin(int(items), float(sure), _interval(right, int(items)))
            for items, sure, right in zip(*found, strict=True)
        ),
    )


def _interval(share: float, count: int) -> Interval:
    inside = float(np.clip(share, 0, 1))
    return Interval(inside, *share_interval(inside, count))
