"""How a fusion that has not seen the known labels does on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import vote_shares
from blindfuse.estimators.gold import gold_codes
from blindfuse.fusing import Fusion
from blindfuse.metrics import calibration_error, error_rate

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GoldCheck:
    """Errors on items of known label, by a fusion that was not told them.

    Attributes
    ----------
    items, codes ``[gold item]``
        where the items stand among all, and the codes of their classes.
    posteriors ``[gold item, class]``
        what the fusion believed of them.
    error, vote_error
        the share that the fusion labels wrongly, and the majority vote; ties share the credit.
    calibration
        the expected calibration error of the posteriors.
    """

    items: NDArray[np.intp]
    codes: NDArray[np.intp]
    posteriors: Floats
    error: float
    vote_error: float
    calibration: float

    def summary(self) -> str:
        """In words."""
        return (
            f"On {len(self.codes):,} gold items, fused without them: {100 * self.error:.1f} % "
            f"wrong, majority vote {100 * self.vote_error:.1f} %. "
            f"Confidences are off by {100 * self.calibration:.1f} points on average."
        )


def check_on_gold(blind: Fusion, gold: Mapping[Any, Any]) -> GoldCheck:
    """Compare a fusion, made without them, with known labels ``{item: label}``."""
    items, codes = gold_codes(blind.responses, gold)
    posteriors = blind.posteriors[items]
    votes = vote_shares(blind.responses.select_items(items))
    return GoldCheck(
        items,
        codes,
        posteriors,
        error_rate(posteriors, codes),
        error_rate(votes, codes),
        calibration_error(posteriors, codes),
    )
