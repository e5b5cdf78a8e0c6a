"""Errors of labels, confusion matrices and priors against a known truth."""

import numpy as np
from scipy.special import ndtri

from blindfuse.errors import BadParameter
from blindfuse.metrics.truth import correctness, select_known
from blindfuse.model.model import Model
from blindfuse.typing import Floats, Integers

_MIN_POSTERIOR = float(np.finfo(np.float64).eps)


def error_rate(posteriors: Floats, truth: Integers) -> float:
    """Return the share of items with a wrong label.

    If c classes tie for the largest posterior of an item and the true class is one of them, the
    item counts as 1/c correct: the expected result of breaking ties at random.

    Parameters
    ----------
    posteriors ``[item, class]``
        posteriors, vote shares or votes: the class with the largest is the label.
    truth ``[item]``
        class codes, −1 where the truth is unknown; such items are left out.
    """
    return float(1 - correctness(*select_known(posteriors, truth)).mean())


def log_loss(posteriors: Floats, truth: Integers) -> float:
    """Return the mean of −log p, where p is the posterior of the true class.

    Posteriors are bounded below by 2⁻⁵², so that a certain and wrong label costs 36, not infinity.

    Parameters
    ----------
    posteriors ``[item, class]``
    truth ``[item]``
        class codes, −1 where the truth is unknown; such items are left out.
    """
    known, true = select_known(posteriors, truth)
    of_true_class = known[np.arange(len(true)), true]
    return float(-np.log(np.maximum(of_true_class, _MIN_POSTERIOR)).mean())


def wilson_interval(share: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share p̂ observed among n = ``count`` items.

    (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n), where z is the normal quantile.

    Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    if not 0 <= share <= 1 or count < 1 or not 0 < confidence < 1:
        raise BadParameter(
            f"share={share!r} and confidence={confidence!r} must be between 0 and 1, and "
            f"count={count!r} at least 1."
        )
    z = ndtri(0.5 + confidence / 2)
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    width = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2) / (1 + z**2 / count)
    low, high = float(middle - width), float(middle + width)
    # The interval contains the share and lies in [0, 1]; rounding must not change that.
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def confusion_error(estimate: Model, truth: Model) -> float:
    """Return ε_CM of Section V: the mean of ‖Γ_m − Γ̂_m‖₁ (largest column sum) over annotators."""
    distances = np.abs(estimate.confusions - truth.confusions).sum(axis=1).max(axis=1)
    return float(distances.mean())


def prior_error(estimate: Model, truth: Model) -> float:
    """Return ε_π of Section V: ‖π − π̂‖₁."""
    return float(np.abs(estimate.prior - truth.prior).sum())
