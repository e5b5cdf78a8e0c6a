"""Fusing more than fits into memory: learn from a sample of the items, then label all of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, BadParameter, naming
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.model.posteriors import most_likely
from blindfuse.responses.responses import Responses, as_responses

Floats = NDArray[np.float64]
Chunks = Callable[[], Iterable[Any]] | Iterable[Any]

MOST_LABELS = 2_000_000
"""Labels that are learned from, unless told otherwise: many times what any model here needs."""


@dataclass(frozen=True, eq=False)
class FusedChunk:
    """One chunk's labels ``[item]`` and posteriors ``[item, class]``, in the order of its items."""

    responses: Responses
    labels: NDArray[Any]
    posteriors: Floats


@dataclass(frozen=True, eq=False)
class FusedStream:
    """What was learned from a sample, and the labels of all items, chunk by chunk.

    Iterating goes through the chunks again: nothing but one chunk is in memory at a time.

    Attributes
    ----------
    fusion
        that of the sample: its model, its method and why, its diagnostics.
    n_items, n_responses
        of all chunks.
    """

    fusion: Fusion
    n_items: int
    n_responses: int
    chunks: Callable[[], Iterable[Any]]

    def __iter__(self) -> Iterator[FusedChunk]:
        known = self.fusion.responses
        for chunk in self.chunks():
            responses = as_responses(chunk).recoded(known.annotators, known.classes)
            posteriors = self.fusion.predict_proba(responses)
            yield FusedChunk(responses, known.classes[most_likely(posteriors)], posteriors)

    def __repr__(self) -> str:
        return (
            f"FusedStream of {self.n_items:,} items with {self.n_responses:,} labels, by what was "
            f"learned from {self.fusion.responses.n_responses:,} of them\n  {self.fusion!r}"
        )


def fuse_stream(
    chunks: Chunks, *, most_labels: int = MOST_LABELS, seed: int = 0, **options: Any
) -> FusedStream:
    """Fuse chunks of items in two passes: one learns from a sample, one labels every item.

    Where all labels are no more than ``most_labels``, the sample is everything, and labels are
    those of :func:`fuse`. An item's answers belong into one chunk.

    Parameters
    ----------
    chunks
        a list of chunks, or a function that gives them anew; each is Responses, a matrix or a
        frame. Annotators and classes may differ from chunk to chunk.
    most_labels
        items are sampled at random so that they have at most so many labels.
    seed, options
        of the sample; and of :func:`fuse`: ``ordered``, ``known``, ``choose``, ``threads``.

    Examples
    --------
    >>> from blindfuse import fuse_stream
    >>> votes = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
    >>> stream = fuse_stream([votes[:3], votes[3:]])
    >>> [chunk.labels.tolist() for chunk in stream]
    [[0, 1, 0], [1, 0, 1]]
    """
    again = _repeatable(chunks)
    sample = _Sample(most_labels, np.random.default_rng(seed))
    for chunk in again():
        sample.add(as_responses(chunk))
    fusion = fuse(sample.responses(), seed=seed, **options)
    return FusedStream(fusion, sample.n_items, sample.n_responses, again)


def _repeatable(chunks: Chunks) -> Callable[[], Iterable[Any]]:
    if callable(chunks):
        return chunks
    if isinstance(chunks, Iterator):
        raise BadParameter(
            "Chunks are gone through twice, but these can be only once. "
            "Pass a list, or a function that gives them anew."
        )
    return lambda: chunks


def _numbered_on(chunk: Responses, n_before: int) -> Responses:
    """The same, where items are but numbers counted on from those of earlier chunks."""
    if not np.array_equal(chunk.items, np.arange(chunk.n_items)):
        return chunk
    items = chunk.items + n_before
    return Responses(items, chunk.annotators, chunk.classes, chunk.by_item)


class _Sample:
    """Items drawn at random, each as likely as any other, with no more labels than allowed.

    Each item draws a number; those below a threshold are kept, which is halved when they are too
    many. Names of annotators and classes are those of all chunks.
    """

    def __init__(self, most_labels: int, rng: np.random.Generator) -> None:
        if most_labels < 1:
            raise BadParameter(f"most_labels={most_labels} must be at least 1.")
        self.most_labels, self.rng = most_labels, rng
        self.n_items = self.n_responses = 0
        self.threshold = 1.0
        self.kept: list[tuple[Responses, Floats]] = []

    def add(self, chunk: Responses) -> None:
        chunk = _numbered_on(chunk, self.n_items)
        self.n_items += chunk.n_items
        self.n_responses += chunk.n_responses
        self.kept.append((chunk, self.rng.random(chunk.n_items)))
        self._thin()
        while sum(table.n_responses for table, _ in self.kept) > self.most_labels:
            self.threshold /= 2
            self._thin()

    def _thin(self) -> None:
        """Drop items whose number is not below the threshold."""
        if self.threshold < 1:
            below = [(table, drawn, drawn < self.threshold) for table, drawn in self.kept]
            self.kept = [(table.select_items(low), drawn[low]) for table, drawn, low in below]

    def responses(self) -> Responses:
        if not self.kept:
            raise BadLabels("There is no chunk at all: nothing can be fused.")
        (first, _), *others = self.kept
        names = [name for table, _ in self.kept for name in table.items.tolist()]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise BadLabels(
                f"Items {naming(twice)} are in several chunks. An item's answers belong into one: "
                "sort by item, or name items apart."
            )
        joined = first.joined(*(table for table, _ in others))
        items = np.fromiter(names, dtype=object, count=len(names))
        return Responses(items, joined.annotators, joined.classes, joined.by_item)
