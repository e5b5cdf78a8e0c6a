"""An order of items and annotators that depends on the ratings only.

Sums of floating-point numbers depend on the order of their terms, and folds on the positions of the
ratings. Ratings in canonical order give the same result however the rows of the input were sorted
and whatever its items and annotators are called.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.ratings import hash_annotators, hash_items
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
        share = max(MIN_SAMPLED_RATINGS / table.n_ratings, MIN_SAMPLED_ITEMS / table.n_items)
        if share >= 1:
            return table
        order = np.argsort(self.item_hashes, kind="stable")
        places = np.arange(0, len(order), 1 / share).astype(np.intp)
        return table.select_items(np.sort(order[places]))


def canonicalize(numbers: Numbers) -> CanonicalNumbers:
    """Return the ratings in canonical order, by colour refinement.

    Annotators begin with their numbers of ratings, and then depend on the items that they rated.
    Only items or annotators that could be exchanged without any change of the table keep the order
    of the input, and so do all in a table of more than MAX_REORDERED ratings.
    """
    annotator_hashes = numbers.ratings_per_annotator.astype(np.uint64)
    item_hashes = _hash_items(numbers, annotator_hashes)
    if numbers.n_ratings > MAX_REORDERED:
        order = np.arange(numbers.n_items), np.arange(numbers.n_annotators)
        return CanonicalNumbers(numbers, *order, item_hashes)
    annotator_hashes = _refine(numbers, item_hashes, annotator_hashes)
    item_hashes = _hash_items(numbers, annotator_hashes)
    annotator_hashes = _refine(numbers, item_hashes, annotator_hashes)
    items = np.argsort(item_hashes, kind="stable")
    annotators = np.lexsort((annotator_hashes, -numbers.ratings_per_annotator))
    table = numbers.rearranged(
        numbers.items[items],
        np.argsort(items),
        numbers.annotators[annotators],
        np.argsort(annotators),
    )
    return CanonicalNumbers(table, items, annotators, item_hashes[items])


def _hash_items(numbers: Numbers, annotator_hashes: Hashes) -> Hashes:
    """Hashes of the items, from their ratings and the hashes of the annotators."""
    hashes = np.empty(numbers.n_items, np.uint64)
    numbers.map_items(lambda *block: hash_items(*numbers.by_item, annotator_hashes, *block, hashes))
    return hashes


def _refine(numbers: Numbers, item_hashes: Hashes, annotator_hashes: Hashes) -> Hashes:
    """Hashes of the annotators that also depend on the items that they rated."""
    refined = annotator_hashes.copy()
    hash_annotators(*numbers.by_item, item_hashes, refined)
    return refined
