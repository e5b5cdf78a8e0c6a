"""An order of items and annotators that depends on the ratings only.

Sums of floating-point numbers depend on the order of their terms, and folds on the positions of the
ratings. Ratings in canonical order give the same result however the rows of the input were sorted
and whatever its items and annotators are called.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.numbers.table import Numbers
from blindfuse.typing import Codes

Hashes = NDArray[np.uint64]

MAX_REORDERED = 500_000
"""Ratings up to which a table is reordered. Reordering a larger one would take as long as fusing
it, and its sums depend on the order in their last digits only."""

MIN_SAMPLED_RATINGS, MIN_SAMPLED_ITEMS = 20_000, 1000
"""Ratings and items on which methods are compared, so that it takes no longer than the fusion."""


@dataclass(frozen=True, eq=False)
class CanonicalNumbers:
    """Ratings in canonical order; ``items`` and ``annotators`` are the positions they had before.

    ``item_hashes[item]`` are hashes of the ratings of each item, in the new order.
    """

    numbers: Numbers
    items: Codes
    annotators: Codes
    item_hashes: Hashes

    def sample(self) -> Numbers:
        """Return all ratings, or those of a share of the items, and the same share of equal ones.

        About MIN_SAMPLED_RATINGS are drawn, and about MIN_SAMPLED_ITEMS at least.
        """
        table = self.numbers
        share = max(MIN_SAMPLED_RATINGS / table.n_responses, MIN_SAMPLED_ITEMS / table.n_items)
        if share >= 1:
            return table
        order = np.argsort(self.item_hashes, kind="stable")
        places = np.arange(0, len(order), 1 / share).astype(np.intp)
        return table.select_items(np.sort(order[places[places < len(order)]]))


def canonicalize(numbers: Numbers) -> CanonicalNumbers:
    """Return the ratings in canonical order, by colour refinement.

    Annotators begin with their numbers of ratings, and then depend on the items that they rated.
    Only items or annotators that could be exchanged without any change of the table keep the order
    of the input, and so do all in a table of more than MAX_REORDERED ratings.
    """
    counts, item, codes = numbers.responses_per_annotator, numbers.item_of_response(), numbers.codes
    bits = (numbers.values + 0.0).view(np.uint64)  # −0 becomes 0
    annotator_hashes = counts.astype(np.uint64)
    is_large = numbers.n_responses > MAX_REORDERED
    for _ in range(1 if is_large else 2):
        # Sums of integers that wrap around do not depend on the order of their terms.
        item_hashes = np.zeros(numbers.n_items, np.uint64)
        np.add.at(item_hashes, item, _mix(bits + _mix(annotator_hashes + np.uint64(1))[codes]))
        np.add.at(annotator_hashes, codes, _mix(bits + _mix(item_hashes + np.uint64(2))[item]))
    if is_large:
        order = np.arange(numbers.n_items), np.arange(numbers.n_annotators)
        return CanonicalNumbers(numbers, *order, item_hashes)
    items = np.argsort(item_hashes, kind="stable")
    annotators = np.lexsort((annotator_hashes, -counts))
    names = numbers.items[items], numbers.annotators[annotators]
    table = numbers.rearranged(names[0], np.argsort(items), names[1], np.argsort(annotators))
    return CanonicalNumbers(table, items, annotators, item_hashes[items])


def _mix(words: Hashes) -> Hashes:
    """Return 64-bit integers in which every bit depends on all bits of another (SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
