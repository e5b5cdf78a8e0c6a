"""`fuse_stream`: fuse more than fits into memory. Learn from a sample, then label all items."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.model.posteriors import most_likely
from blindfuse.parameters import integer_at_least, optional
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.responses.table import check_gold
from blindfuse.typing import Array, Floats

Chunks = Callable[[], Iterable[Any]] | Iterable[Any]


@dataclass(frozen=True, eq=False)
class FusedChunk:
    """The labels ``[item]`` and posteriors ``[item, class]`` of one chunk, in item order."""

    responses: Responses
    labels: Array
    posteriors: Floats


@dataclass(frozen=True, eq=False)
class FusedStream:
    """The fusion of a sample, and the labels of all items, chunk by chunk.

    Iterating reads the chunks again; only one chunk is in memory at a time. ``fusion`` is that of
    the sample, with its model, method and diagnostics; ``n_items`` and ``n_responses`` are those of
    all chunks. ``gold`` labels, ``{item: label}``, are held fixed.
    """

    fusion: Fusion
    n_items: int
    n_responses: int
    chunks: Callable[[], Iterable[Any]]
    gold: Mapping[Any, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[FusedChunk]:
        known, n_before = self.fusion.responses, 0
        names, gold_classes = as_names(list(self.gold)), as_names(list(self.gold.values()))
        class_at = positions(gold_classes, known.classes)
        for chunk in self.chunks():
            responses = as_responses(chunk)
            if known.is_plain:
                responses = responses.recoded(known.annotators, known.classes)
            posteriors = self.fusion.predict_proba(responses)
            if self.gold:
                item_at = positions(names, _numbered_on(responses, n_before).items)
                here = item_at >= 0
                posteriors[item_at[here]] = np.eye(known.n_classes)[class_at[here]]
            n_before += responses.n_items
            yield FusedChunk(responses, known.classes[most_likely(posteriors)], posteriors)

    def __repr__(self) -> str:
        return (
            f"FusedStream of {self.n_items:,} items with {self.n_responses:,} responses, learned "
            f"from {self.fusion.responses.n_responses:,} of them\n  {self.fusion!r}"
        )


def fuse_stream(
    chunks: Chunks,
    *,
    max_responses: int = 2_000_000,
    gold: Mapping[Any, Any] | None = None,
    seed: int = 0,
    **options: Any,
) -> FusedStream:
    """Fuse chunks of items in two passes: learn from a sample, then label every item.

    With at most ``max_responses`` responses in total, the sample is everything and the labels are
    those of :func:`fuse`. All responses to an item must be in the same chunk.

    Parameters
    ----------
    chunks
        a list of chunks, or a function that returns them again; a chunk is Responses, a matrix or
        a frame. Annotators and classes may differ from chunk to chunk.
    max_responses
        maximum number of responses in the random sample of items; the default is many times what
        any of the models needs.
    gold
        gold labels of some items, ``{item: label}``, which are held fixed. These items are in the
        sample, beside ``max_responses`` responses to others.
    seed, options
        random seed of the sample; options of :func:`fuse`, such as ``ordered``, ``prior_model``
        and ``threads``.

    Examples
    --------
    >>> from blindfuse import fuse_stream
    >>> votes = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
    >>> stream = fuse_stream([votes[:3], votes[3:]])
    >>> [chunk.labels.tolist() for chunk in stream]
    [[0, 1, 0], [1, 0, 1]]
    """
    optional(integer_at_least(0)).check("seed", seed)
    again = _repeatable(chunks)
    integer_at_least(1).check("max_responses", max_responses)
    check_gold(gold)
    rng, always = np.random.default_rng(seed), as_names(list(gold or ()))
    sample, n_items, n_responses = _sample(again(), max_responses, rng, always)
    fusion = fuse(sample, gold=gold, seed=seed, **options)
    return FusedStream(fusion, n_items, n_responses, again, gold or {})


def _repeatable(chunks: Chunks) -> Callable[[], Iterable[Any]]:
    if callable(chunks):
        return chunks
    if isinstance(chunks, Iterator) or not isinstance(chunks, Iterable):
        raise BadParameter(
            f"Chunks are read twice, but chunks= is a {type(chunks).__name__}. Pass a list, or a "
            "function that returns them again."
        )
    return lambda: chunks


def _numbered_on(chunk: Responses, n_before: int) -> Responses:
    """The chunk with items that are mere row numbers numbered on from the earlier chunks."""
    if not np.array_equal(chunk.items, np.arange(chunk.n_items)):
        return chunk
    items = chunk.items + n_before
    return chunk.with_rows(items, chunk.by_item)


def _sample(
    chunks: Iterable[Any], max_responses: int, rng: np.random.Generator, always: Array
) -> tuple[Responses, int, int]:
    """A uniform random sample of the items, and the numbers of items and responses of all chunks.

    Each item draws a random number and is kept if it is below a threshold, which is halved while
    the sample has more than ``max_responses`` responses. Items that are named in ``always`` are
    kept, and do not count.
    """
    kept: list[tuple[Responses, Floats]] = []
    n_items, n_responses, threshold = 0, 0, 1.0
    for chunk in chunks:
        table = _numbered_on(as_responses(chunk), n_items)
        n_items, n_responses = n_items + table.n_items, n_responses + table.n_responses
        drawn = rng.random(table.n_items)
        if len(always):
            places = positions(always, table.items)
            drawn[places[places >= 0]] = -1.0
        kept.append((table.select_items(drawn < threshold), drawn[drawn < threshold]))
        while sum(t.responses_per_item[low >= 0].sum() for t, low in kept) > max_responses:
            threshold /= 2
            kept = [(t.select_items(low < threshold), low[low < threshold]) for t, low in kept]
    if not kept:
        raise BadLabels("There are no chunks, so there is nothing to fuse.")
    (first, _), *others = kept
    names = [name for table, _ in kept for name in table.items.tolist()]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise BadLabels(
            f"Items {list_names(twice)} are in several chunks. All responses to an item must be in "
            "one chunk: sort by item, or give items different names."
        )
    joined = first.concatenated(*(table for table, _ in others))
    items = np.fromiter(names, dtype=object, count=len(names))
    return joined.with_rows(items, joined.by_item), n_items, n_responses
