"""Detection of annotators that rate on another scale, such as 0 to 1 among 0 to 100."""

import numpy as np

from blindfuse.errors import list_names
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats

MIN_RATINGS = 10
"""Minimum number of ratings for the scale of an annotator to be compared with others."""
SCALE_RATIO = 5.0
"""Ratio of ratings of the same items on two scales: 0 to 1 and 0 to 100 differ by 100, 0 to 5 and
0 to 10 by 2."""


def scale_ratios(table: Numbers, values: Floats, rest: Floats) -> Floats:
    """Return how much larger the ratings of each annotator on another scale are; 1 for others.

    The ratio is the median of |x|/|rest|, where ``rest[rating]`` is the median of the other ratings
    of the item. Three quarters of the ratings must be SCALE_RATIO times as large, or as small.
    Constant annotators, and zeros, say nothing about the scale.
    """
    low, high = table.ranges
    x, y = np.abs(values), np.abs(rest)
    known = (
        (x > 0)
        & (y > 0)
        & (high > low)[table.codes]
        & (table.ratings_per_item > 1)[table.item_of_rating()]
    )
    codes, logarithms = table.codes[known], np.log(x[known]) - np.log(y[known])
    ordered = logarithms[np.lexsort((logarithms, codes))]
    count = np.bincount(codes, minlength=table.n_annotators)
    start, compared = np.cumsum(count) - count, np.flatnonzero(count >= MIN_RATINGS)
    lower, middle, upper = (
        ordered[(start + share * (count - 1)).astype(np.intp)[compared]]
        for share in (0.25, 0.5, 0.75)
    )
    distant = (lower >= np.log(SCALE_RATIO)) | (upper <= -np.log(SCALE_RATIO))
    ratios = np.ones(table.n_annotators)
    ratios[compared[distant]] = np.exp(middle[distant])
    return ratios


def scale_notes(table: Numbers, ratios: Floats) -> list[str]:
    """Return a note that names the annotators on other scales, if there are any."""
    distant = np.flatnonzero(ratios != 1)
    if not len(distant):
        return []
    extreme = distant[np.argmax(np.abs(np.log(ratios[distant])))]
    low, high = table.ranges
    return [
        f"{len(distant):,} of {table.n_annotators:,} annotators rate on another scale: "
        f"{list_names(table.annotators[distant])}. Ratings by "
        f"{list_names(table.annotators[[extreme]])} ({low[extreme]:g} to {high[extreme]:g}) are "
        f"{ratios[extreme]:.3g} times those of the others of the same items. Their ratings were "
        "standardised; convert them to one scale if this is a mistake"
    ]
