"""Orders and groups of items, annotators, symbols and classes that depend on the responses only.

Sums of floating-point numbers depend on the order of their terms, folds on the positions of the
responses, and ties on the order of the classes. Responses in canonical order give the same result
however the rows of the input were sorted and whatever its annotators and classes are called.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.tables import add_hashes, hash_items
from blindfuse.kernels.threads import map_threads
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.typing import Codes

Hashes = NDArray[np.uint64]
Order = Codes

_REFINEMENTS = 2
"""Times that hashes of annotators and classes are refined by those of the items they are in. One
refinement separates annotators unless their items have equally many responses per class."""
_MIN_ITEMS_PER_THREAD = 20_000
"""With fewer items per thread, starting the thread costs more than it saves."""
MAX_REORDERED = 2_000_000
"""Responses up to which a table is reordered. Reordering a larger one would take as long as fusing
it, and its sums depend on the order in their last digits only."""


@dataclass(frozen=True, eq=False)
class CanonicalResponses:
    """Responses in canonical order.

    ``items``, ``annotators`` and ``classes`` are the positions that each of them had before.
    Annotators are sorted by their number of responses, classes by the number of responses that
    report them, most first; items, and whatever is equal, by a hash of the responses. Where symbols
    are not classes, both keep their order.
    """

    responses: Responses
    items: Order
    annotators: Order
    classes: Order


def canonicalize(
    responses: Responses, *, keep_classes: bool = False, threads: int | None = None
) -> CanonicalResponses:
    """Return the responses in canonical order; ``keep_classes`` leaves the classes as they are.

    Only annotators, items and classes that could be exchanged without any change of the table keep
    the order of the input, and so do all in a table of more than MAX_REORDERED responses.
    """
    keep_classes = keep_classes or not responses.is_plain
    if responses.n_responses > MAX_REORDERED:
        sizes = responses.n_items, responses.n_annotators, responses.n_classes
        return CanonicalResponses(responses, *map(np.arange, sizes))
    item_hashes, annotator_hashes, class_hashes = _hash_content(responses, keep_classes, threads)
    items = np.argsort(item_hashes, kind="stable")
    annotators = np.lexsort((annotator_hashes, -responses.responses_per_annotator))
    classes = np.arange(responses.n_classes)
    if not keep_classes:
        classes = np.lexsort((class_hashes, -responses.responses_per_symbol))
    table = _permute(responses, items, annotators, classes)
    return CanonicalResponses(table, items, annotators, classes)


def sample_by_content(responses: Responses, share: float, seed: int) -> Responses:
    """Return this share of the items, in canonical order.

    Which ones depends on the responses and the seed, but not on the order of the input. Of equal
    items, the same share is taken: all or none of them would make annotators look dependent.
    """
    item_hashes, _, _ = _hash_content(responses, not responses.is_plain, None)
    rng = np.random.default_rng(seed)
    factor = rng.integers(2**63, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    order = np.argsort(item_hashes * factor, kind="stable")
    places = np.arange(rng.random() / share, len(order), 1 / share).astype(np.intp)
    return canonicalize(responses.select_items(np.sort(order[places]))).responses


def _hash_content(
    responses: Responses, keep_classes: bool, threads: int | None
) -> tuple[Hashes, Hashes, Hashes]:
    """Hashes of the items, annotators and symbols, by colour refinement.

    Annotators and symbols begin with their numbers of responses. The hash of an item depends on
    those of its annotators and of what they report, and the other way round.
    """
    rows = responses.by_item
    annotators = responses.responses_per_annotator.astype(np.uint64)
    symbols = responses.responses_per_symbol.astype(np.uint64)
    if keep_classes:
        symbols = np.arange(responses.n_symbols, dtype=np.uint64)
    items = np.empty(responses.n_items, np.uint64)
    for refinement in range(_REFINEMENTS + 1):
        if refinement:
            refined = annotators.copy(), symbols.copy()
            add_hashes(*rows, items, annotators, symbols, *refined)
            annotators, symbols = refined
        hash_rows = partial(_hash_rows, rows, annotators, symbols, items)
        map_threads(hash_rows, len(items), threads, _MIN_ITEMS_PER_THREAD)
    return items, annotators, symbols


def _hash_rows(
    rows: Rows, annotators: Hashes, symbols: Hashes, items: Hashes, first: int, last: int
) -> None:
    hash_items(*rows, first, last, annotators, symbols, items)


def _permute(responses: Responses, items: Order, annotators: Order, classes: Order) -> Responses:
    """The responses with items, annotators and classes in these orders.

    Symbols are in the order of the classes for plain labels, and keep theirs otherwise.
    """
    table = responses.rearranged(
        responses.items[items],
        np.argsort(items),
        responses.annotators[annotators],
        np.argsort(annotators),
    )
    changes: dict[str, Any] = {"repeated": responses.repeated}
    if not np.array_equal(classes, np.arange(len(classes))):
        starts, codes, symbols = table.by_item
        rows = Rows(starts, codes, np.argsort(classes).astype(symbols.dtype)[symbols])
        changes |= {"by_item": rows, "classes": responses.classes[classes], "symbols": None}
        if table.probabilities is not None:
            changes["probabilities"] = table.probabilities[:, classes]
    return replace(table, **changes)


# Items with the same responses are processed once


def panels(responses: Responses) -> tuple[Responses, Codes]:
    """As :func:`group_identical_items`, of items with the same annotators, whatever they report.

    Gram matrices depend on which annotators responded, not on what they reported. Complete
    responses have one panel, and crowds that work in batches have few.
    """
    zeros = np.zeros_like(responses.by_item.symbols)
    rows = responses.by_item._replace(symbols=zeros)
    return group_identical_items(responses.with_rows(responses.items, rows))


def group_identical_items(responses: Responses) -> tuple[Responses, Codes]:
    """Return one item per pattern, and the position of each item's pattern among them.

    Items with the same responses by the same annotators have one pattern. The order of the patterns
    depends only on their content, not on the order of the items.
    """
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
