"""Whether the confidence of labels is the share of them that is correct."""

from typing import NamedTuple

import numpy as np

from blindfuse.errors import BadParameter
from blindfuse.metrics.truth import correctness, select_known
from blindfuse.typing import Codes, Floats, Integers


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

    Parameters
    ----------
    posteriors ``[item, class]``
    truth ``[item]``
        class codes, −1 where the truth is unknown; such items are left out.
    bins
        number of bins of equal width.
    """
    items, confidence, accuracy = reliability(posteriors, truth, bins)
    return float(np.average(np.abs(accuracy - confidence), weights=items))


def reliability(posteriors: Floats, truth: Integers, bins: int = 15) -> Reliability:
    """Return the bins of :func:`calibration_error`, as reliability diagrams show them."""
    if bins < 1:
        raise BadParameter(f"bins={bins!r} must be at least 1.")
    known, true = select_known(posteriors, truth)
    confidence = known.max(axis=1)
    bin_of = np.digitize(confidence, np.linspace(0, 1, bins + 1)[1:-1], right=True)
    items = np.bincount(bin_of)
    filled = items > 0
    sums = [
        np.bincount(bin_of, values)[filled] for values in (confidence, correctness(known, true))
    ]
    return Reliability(items[filled], *(total / items[filled] for total in sums))
