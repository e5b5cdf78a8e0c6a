"""The items whose true class is known, and which of their labels are correct."""

from reprlib import repr as short

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, list_names
from blindfuse.typing import Floats, Integers


def select_known(posteriors: Floats, truth: Integers) -> tuple[Floats, Integers]:
    """Return posteriors ``[item, class]`` and truth ``[item]`` of the items with known truth."""
    truth = check_codes(truth)
    if len(posteriors) != len(truth):
        raise BadLabels(
            f"There are posteriors of {len(posteriors):,} items, but the truth of {len(truth):,}. "
            "Pass one code per item, −1 where the truth is unknown."
        )
    known = truth >= 0
    if not known.any():
        raise BadLabels("The truth of all items is unknown (−1). Pass at least one true label.")
    selected, true = posteriors[known], truth[known]
    outside = np.unique(true[true >= selected.shape[1]])
    if outside.size:
        raise BadLabels(
            f"The truth has the codes {list_names(outside)}, but there are {selected.shape[1]} "
            "classes. Pass the positions of the true labels in classes, counted from zero."
        )
    return selected, true


def check_codes(values: ArrayLike) -> Integers:
    """Return class codes ``[item]`` as an array; refuse anything but integers."""
    codes = np.asarray(values)
    if codes.size and codes.dtype.kind not in "iub":
        raise BadLabels(
            f"{short(values)} does not contain class codes. Pass one integer per item: the "
            "position of its label in classes, −1 where there is none."
        )
    return codes.astype(np.int64)


def correctness(posteriors: Floats, truth: Integers) -> Floats:
    """Return 1/c per item if the true class is among the c classes with the largest posterior."""
    largest = posteriors == posteriors.max(axis=1, keepdims=True)
    return np.asarray(largest[np.arange(len(truth)), truth] / largest.sum(axis=1))
