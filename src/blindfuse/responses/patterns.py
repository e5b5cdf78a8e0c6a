"""Response patterns: items with the same responses are processed as one.

Items with the same responses by the same annotators share one *pattern*. Gram matrices depend on
which annotators responded, not on what they reported, so items with the same set of annotators
share one *panel*. Complete responses have a single panel, and crowds that work in batches have few
panels and patterns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.typing import Codes


@dataclass(frozen=True)
class Patterns:
    """Distinct patterns: responses by pattern and by annotator, and ``sizes``, the items of each.

    The order of the patterns depends only on their content, not on the order of the items.
    """

    by_pattern: Rows
    by_annotator: Rows
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)


def response_patterns(responses: Responses) -> Patterns:
    """Group items by their annotators and responses."""
    return _group(responses)


def panels(responses: Responses) -> Patterns:
    """Group items by their annotators; all symbols are set to zero."""
    starts, annotators, symbols = responses.by_item
    zeros = np.zeros_like(symbols)
    return _group(responses.with_rows(responses.items, Rows(starts, annotators, zeros)))


def _group(responses: Responses) -> Patterns:
    distinct, pattern_of = group_identical_items(responses)
    return Patterns(distinct.by_item, distinct.by_annotator, np.bincount(pattern_of))


def group_identical_items(responses: Responses) -> tuple[Responses, Codes]:
    """Return one item per pattern, and the position of each item's pattern among them."""
    starts, annotators, symbols = responses.by_item
    # Patterns are compared by sums of random 64-bit keys. Two of N different patterns have the same
    # sum with probability N²/2⁶⁵ (1 in 400,000 for ten million); one item is then mistaken.
    shape = (responses.n_annotators, responses.n_symbols)
    keys = np.random.default_rng(0).integers(2**64, size=shape, dtype=np.uint64)
    running = np.zeros(len(symbols) + 1, dtype=np.uint64)
    np.cumsum(keys[annotators, symbols], out=running[1:])
    sums = running[starts[1:]] - running[starts[:-1]]
    _, examples, pattern_of = np.unique(sums, return_index=True, return_inverse=True)
    return responses.select_items(examples), pattern_of
