"""The share of each class among the items; for two classes, the pass rate."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.expected_error import ExpectedError, Z, as_percent
from blindfuse.diagnostics.pairs import evenly_spaced
from blindfuse.errors import counted
from blindfuse.model.fused_model import UNCHANGED, Recalibration
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Floats

ONE_DIRECTION = 1 / 3
"""Share of the expected error that may go in one direction, as one standard deviation of a share:
errors between two classes partly cancel."""


@dataclass(frozen=True, eq=False)
class ClassShares:
    """Shares ``[class]`` of the items, with 80 % intervals, and the raw shares of votes.

    ``low`` and ``high`` are NaN if the expected error is not stated.
    """

    classes: Array
    share: Floats
    low: Floats
    high: Floats
    votes: Floats

    def summary(self) -> str:
        """The most common classes with their votes, or their votes alone if nothing is known."""
        order = np.argsort(-self.share, kind="stable")[:3]
        texts = ", ".join(self._describe(int(k)) for k in order)
        hidden = len(self.classes) - len(order)
        more = f" and {counted(hidden, 'more class')}" if hidden else ""
        return f"{texts}{more}."

    def _describe(self, k: int) -> str:
        name, votes = self.classes[k], f"{as_percent(self.votes[k])} %"
        if np.isnan(self.low[k]):
            return f"{name} {votes} of the votes"
        interval = f"{as_percent(self.low[k])} to {as_percent(self.high[k])}"
        return f"{name} {as_percent(self.share[k])} % ({interval}; votes {votes})"


def estimate_class_shares(
    responses: Responses,
    posteriors: Floats,
    expected: ExpectedError | None,
    recalibration: Recalibration = UNCHANGED,
) -> ClassShares:
    """Estimate the share of each class as the mean of its posteriors ``[item, class]``.

    The variance of a share is Σ_n p_n (1 − p_n)/N², what the posteriors leave open, plus that of
    errors which go in one direction, plus the square of what the ``recalibration`` moved: making
    labels less certain moves items from common classes to rare ones. Of large tables, a sample of
    the items says how much that is.
    """
    votes = np.asarray(responses.responses_per_symbol, dtype=float)
    if not responses.is_plain:
        votes = weighted_votes(responses).sum(axis=0)
    N, share = len(posteriors), np.asarray(posteriors.mean(axis=0))
    low = high = np.full(len(share), np.nan)
    if expected is not None:
        sample = posteriors[evenly_spaced(N)]
        noise = (sample * (1 - sample)).mean(axis=0) / N
        moved = (sample - recalibration.undone(sample)).mean(axis=0)
        # No more labels of a class can be wrong than there are, on either side.
        shifted = ONE_DIRECTION * np.minimum(expected.value, np.minimum(share, 1 - share))
        half = Z * np.sqrt(noise + shifted**2 + moved**2)
        low, high = np.maximum(share - half, 0.0), np.minimum(share + half, 1.0)
    return ClassShares(responses.classes, share, low, high, votes / max(votes.sum(), 1e-12))
