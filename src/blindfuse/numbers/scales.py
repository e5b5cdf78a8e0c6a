"""Detection of annotators that rate on another scale, such as 0 to 1 among 0 to 100."""

import numpy as np

from blindfuse.errors import list_names
from blindfuse.numbers.table import Numbers

MIN_RATINGS = 5
"""Minimum number of ratings for the range of an annotator to be compared with others."""
SCALE_RATIO = 10.0
"""Ratio of the largest ratings on two scales; 0 to 1 and 0 to 100 differ by 100, 0 to 5 and 0 to
10 by 2."""


MIN_MIXED = 0.05
"""Share of the ratings that each of two scales in one column must have."""
MAX_BETWEEN = 0.01
"""Share of the ratings that may lie between the two scales."""


def mixed_scale_note(table: Numbers) -> str | None:
    """Return a note if fractions from 0 to 1 are mixed with ratings from 5 to 100, else None.

    Percentages and skewed ratings have values in between as well.
    """
    values = table.values
    fractions = (values > 0) & (values < 1)
    large, between = (values >= 5) & (values <= 100), (values > 1) & (values < 5)
    others = (values < 0) | (values > 100)
    enough = min(fractions.mean(), large.mean()) >= MIN_MIXED
    if not enough or others.any() or between.mean() > MAX_BETWEEN:
        return None
    item = int(table.item_of_rating()[np.argmax(fractions)])
    return (
        f"The ratings mix two scales: {np.count_nonzero(fractions):,} lie between 0 and 1 (first "
        f"for item {list_names(table.items[[item]])}), {np.count_nonzero(large):,} between 5 and "
        "100. Convert the ratings to one scale if this is a mistake."
    )


def scale_notes(table: Numbers) -> list[str]:
    """Return notes about annotators on other scales, or about two scales in one column."""
    note = scale_note(table) or mixed_scale_note(table)
    return [] if note is None else [note]


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
