"""Detection of annotators that rate on another scale, such as 0 to 1 among 0 to 100."""

import numpy as np

from blindfuse.errors import list_names
from blindfuse.numbers.table import Numbers

MIN_RATINGS = 5
"""Ratings from which on the range of an annotator is compared with others."""
SCALE_RATIO = 10.0
"""Ratio of the largest ratings on two scales; 0 to 1 and 0 to 100 differ by 100, 0 to 5 and 0 to
10 by 2."""


def scale_note(table: Numbers) -> str | None:
    """Return a note if annotators fall into two groups with very different ranges, else None."""
    low, high = table.ranges
    compared = np.flatnonzero((table.ratings_per_annotator >= MIN_RATINGS) & (high > low))
    if len(compared) < 2:
        return None
    largest = np.maximum(np.abs(low), np.abs(high))[compared]
    order = np.argsort(largest, kind="stable")
    ratios = largest[order][1:] / largest[order][:-1]
    cut = int(np.argmax(ratios)) + 1
    small, large = compared[order[:cut]], compared[order[cut:]]
    if ratios[cut - 1] < SCALE_RATIO or (high - low)[large].min() < 2 * largest[order][cut - 1]:
        return None
    fewer, others = sorted((small, large), key=len)
    return (
        f"The annotators use different scales: {list_names(table.annotators[np.sort(fewer)])} "
        f"rated from {low[fewer].min():g} to {high[fewer].max():g}, the others from "
        f"{low[others].min():g} to {high[others].max():g}. Convert the ratings to one scale if "
        "this is a mistake."
    )
