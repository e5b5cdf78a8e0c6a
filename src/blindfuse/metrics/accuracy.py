"""Errors of labels, confidences, confusion matrices and priors against a known truth.

``posteriors[item, class]`` may also be votes or vote shares; ``truth[item]`` are class codes, −1
where the truth is unknown. Such items are left out.
"""

from reprlib import repr as short
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.model.model import Model
from blindfuse.typing import Codes, Floats, Integers


def error_rate(posteriors: Floats, truth: Integers) -> float:
    """Return the share of items with a wrong label.

    If c classes tie for the largest posterior of an item and the true class is one of them, the
    item counts as 1/c correct: the expected result of breaking ties at random.
    """
    return float(1 - _correctness(*_select_known(posteriors, truth)).mean())


def log_loss(posteriors: Floats, truth: Integers) -> float:
    """Return the mean of −log p, where p is the posterior of the true class.

    Posteriors are bounded below by 2⁻⁵², so that a certain and wrong label costs 36, not infinity.
    """
    known, true = _select_known(posteriors, truth)
    of_true_class = known[np.arange(len(true)), true]
    return float(-np.log(np.maximum(of_true_class, 2.0**-52)).mean())


class Reliability(NamedTuple):
    """Items grouped by the confidence of their label, in the non-empty bins.

    ``items[bin]`` is the number of items, ``confidence[bin]`` the mean of their largest posteriors
    and ``accuracy[bin]`` the share of correct labels.
    """

    items: Codes
    confidence: Floats
    accuracy: Floats


def calibration_error(posteriors: Floats, truth: Integers, bins: int = 15) -> float:
    """Return the expected calibration error of the labels.

    ECE = Σ_b n_b/n · |accuracy of bin b − mean confidence of bin b|, where the confidence of an
    item is its largest posterior and bin b contains the items with a confidence in
    ((b − 1)/bins, b/bins]. Ties count as in :func:`error_rate`.

    Guo et al. (2017), "On Calibration of Modern Neural Networks", Section 2.
    """
    items, confidence, accuracy = reliability(posteriors, truth, bins)
    return float(np.average(np.abs(accuracy - confidence), weights=items))


def reliability(posteriors: Floats, truth: Integers, bins: int = 15) -> Reliability:
    """Return the bins of :func:`calibration_error`, as reliability diagrams show them."""
    if bins < 1:
        raise BadParameter(f"bins={bins!r} must be at least 1.")
    known, true = _select_known(posteriors, truth)
    confidence = known.max(axis=1)
    bin_of = np.digitize(confidence, np.linspace(0, 1, bins + 1)[1:-1], right=True)
    items = np.bincount(bin_of)
    filled = items > 0
    sums = (np.bincount(bin_of, values) for values in (confidence, _correctness(known, true)))
    return Reliability(items[filled], *(total[filled] / items[filled] for total in sums))


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


def check_codes(values: ArrayLike) -> Integers:
    """Return class codes ``[item]`` as an array; refuse anything but integers."""
    codes = np.asarray(values)
    if codes.size and codes.dtype.kind not in "iub":
        raise BadLabels(
            f"{short(values)} does not contain class codes. Pass one integer per item: the "
            "position of its label in classes, −1 where there is none."
        )
    return codes.astype(np.int64)


def _select_known(posteriors: Floats, truth: Integers) -> tuple[Floats, Integers]:
    """Return posteriors ``[item, class]`` and truth ``[item]`` of the items with known truth."""
    codes = check_codes(truth)
    if len(posteriors) != len(codes):
        raise BadLabels(
            f"There are posteriors of {len(posteriors):,} items, but the truth of {len(codes):,}. "
            "Pass one code per item, −1 where the truth is unknown."
        )
    known = codes >= 0
    if not known.any():
        raise BadLabels("The truth of all items is unknown (−1). Pass at least one true label.")
    n_classes = posteriors.shape[1]
    if codes.max() >= n_classes:
        raise BadLabels(
            f"The truth has the codes {list_names(np.unique(codes[codes >= n_classes]))}, but "
            f"there are {n_classes} classes. Pass the positions of the true labels in classes, "
            "counted from zero."
        )
    return posteriors[known], codes[known]


def _correctness(posteriors: Floats, truth: Integers) -> Floats:
    """Return 1/c per item if the true class is among the c classes with the largest posterior."""
    largest = posteriors == posteriors.max(axis=1, keepdims=True)
    return np.asarray(largest[np.arange(len(truth)), truth] / largest.sum(axis=1))
