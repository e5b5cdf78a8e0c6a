"""Patterns: items that are alike are swept as one.

Items with the same answers by the same annotators have one *pattern*. Gram matrices depend on
who answered, not on what was said, so items given to the same set of annotators share one *panel*.
Complete answers are one panel, and crowds that work in batches have few of either.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows


@dataclass(frozen=True)
class Patterns:
    """Distinct items: their answers by pattern and by annotator, and how many items are alike.

    They come in an order that depends on their content only, not on the order of the items.
    """

    by_pattern: Rows
    by_annotator: Rows
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)


def response_patterns(responses: Responses) -> Patterns:
    """Items grouped by who answered and what."""
    return _group(responses)


def panels(responses: Responses) -> Patterns:
    """Items grouped by who answered; all labels are taken as zero."""
    starts, annotators, labels = responses.by_item
    zeros = np.zeros_like(labels)
    unlabelled = Responses(
        responses.items, responses.annotators, responses.classes, Rows(starts, annotators, zeros)
    )
    return _group(unlabelled)


def _group(responses: Responses) -> Patterns:
    distinct, which = group_identical_items(responses)
    return Patterns(distinct.by_item, distinct.by_annotator, np.bincount(which))


def group_identical_items(responses: Responses) -> tuple[Responses, NDArray[np.intp]]:
    """One item of each pattern, and which of them every item is like."""
    starts, annotators, labels = responses.by_item
    # Two patterns get the same sum of random 64-bit keys with a chance of N²/2⁶⁵: for ten million
    # different patterns one in four hundred thousand, and then one item is taken for another.
    shape = (responses.n_annotators, responses.n_classes)
    keys = np.random.default_rng(0).integers(2**64, size=shape, dtype=np.uint64)
    running = np.zeros(len(labels) + 1, dtype=np.uint64)
    np.cumsum(keys[annotators, labels], out=running[1:])
    sums = running[starts[1:]] - running[starts[:-1]]
    _, example, which = np.unique(sums, return_index=True, return_inverse=True)
    return responses.select_items(example), which
