"""How far labels and models are from a known truth, for evaluation only."""

import numpy as np
from numpy.typing import NDArray

from blindfuse.model import Model

Floats = NDArray[np.float64]


def error_rate(beliefs: Floats, truth: NDArray[np.integer]) -> float:
    """The share of items labelled wrongly; classes that tie for an item share its credit.

    Parameters
    ----------
    beliefs ``[item, class]``
        votes, shares or posteriors: the largest wins.
    truth ``[item]``
        class codes; items of code −1 have no known truth and are left out.
    """
    known = truth >= 0
    chosen, true = beliefs[known], truth[known]
    winners = chosen == chosen.max(axis=1, keepdims=True)
    credit = winners[np.arange(len(true)), true] / winners.sum(axis=1)
    return float(1 - credit.mean())


def confusion_error(estimate: Model, truth: Model) -> float:
    """ε_CM of Section V: the mean over annotators of ‖Γ_m − Γ̂_m‖₁, the largest column sum."""
    distance = np.abs(estimate.confusions - truth.confusions).sum(axis=1).max(axis=1)
    return float(distance.mean())


def prior_error(estimate: Model, truth: Model) -> float:
    """ε_π of Section V: ‖π − π̂‖₁."""
    return float(np.abs(estimate.prior - truth.prior).sum())
