"""The table of items on the page: those to ask about first with their votes, and a sample."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from blindfuse.fusion.fuse import Fusion
from blindfuse.report.names import visible
from blindfuse.report.script_data import count_fitting, row_values
from blindfuse.typing import Codes

MAX_BYTES = 600_000
"""Size of the rows, so that the whole page stays below 3 MB."""
MAX_FIRST, MAX_SAMPLED = 1_000, 500
"""Rows of the first items, and rows sampled evenly from the others by confidence."""
MAX_VOTERS = 40
"""Voters of an item that are named: the most accurate ones."""
BINS = 25
"""Bars of the histogram of confidence."""


@dataclass(frozen=True)
class ClassVotes:
    """``count`` votes for one class; ``voters`` are indices into the table's ``voters``."""

    label: int
    count: int
    voters: tuple[int, ...]


@dataclass(frozen=True)
class ItemRow:
    """One item: its label and the second most probable class, as codes with their posteriors.

    ``gain`` is by how much one more response is expected to raise the probability that the label
    is correct.
    """

    name: str
    label: int
    confidence: float
    second: int
    second_posterior: float
    gain: float
    needs_another_label: bool
    outvoted: bool
    votes: tuple[ClassVotes, ...]


@dataclass(frozen=True)
class ItemTable:
    """The ``rows`` on the page of ``total`` items.

    The first ``n_first`` rows are items that one more response could change, the largest gain
    first, and then the least confident ones; the others are a sample. ``voters`` are the names that
    votes refer to. ``n_needing_label`` and the histogram are over all items: ``counts[bin]`` have a
    confidence between ``edges[bin]`` and ``edges[bin + 1]``, and ``counts_needing[bin]`` of them
    could change.
    """

    rows: tuple[ItemRow, ...]
    voters: tuple[str, ...]
    total: int
    n_first: int
    n_needing_label: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    counts_needing: tuple[int, ...]


def item_table(fusion: Fusion, names: list[str]) -> ItemTable:
    """Return all items, or as many as fit."""
    items = fusion.item_ratings
    by_priority = np.lexsort((items.confidence, -items.gain))
    others = by_priority[MAX_FIRST:]
    sample = others[np.linspace(0, len(others) - 1, min(MAX_SAMPLED, len(others))).astype(int)]
    # The sample comes first, so that a size limit does not cut it off.
    chosen = np.concatenate([sample, by_priority[:MAX_FIRST]])
    voter_index: dict[int, int] = {}
    rank = np.argsort(np.argsort(-fusion.diagnostics.annotators.accuracy, kind="stable"))
    rows, n_voters = [], [0]
    for n in chosen.tolist():
        rows.append(_row(fusion, n, rank, voter_index))
        n_voters.append(len(voter_index))
    voters = [names[m] for m in voter_index]
    with_new_voters = [
        (row_values(row), voters[begin:end])
        for row, (begin, end) in zip(rows, pairwise(n_voters), strict=True)
    ]
    kept = count_fitting(with_new_voters, MAX_BYTES)
    n_sampled = min(len(sample), kept)
    edges = np.linspace(1 / fusion.responses.n_classes, 1, BINS + 1)
    needing = items.needs_another_label
    return ItemTable(
        rows=(*rows[len(sample) : kept], *rows[:n_sampled]),
        voters=tuple(voters[: n_voters[kept]]),
        total=fusion.responses.n_items,
        n_first=kept - n_sampled,
        n_needing_label=int(np.count_nonzero(needing)),
        edges=tuple(round(float(edge), 4) for edge in edges),
        counts=tuple(np.histogram(items.confidence, edges)[0].tolist()),
        counts_needing=tuple(np.histogram(items.confidence[needing], edges)[0].tolist()),
    )


def _row(fusion: Fusion, n: int, rank: Codes, voter_index: dict[int, int]) -> ItemRow:
    items = fusion.item_ratings
    first, second = np.argsort(-fusion.posteriors[n], kind="stable")[:2].tolist()
    return ItemRow(
        name=visible(fusion.responses.items[n]),
        label=first,
        confidence=round(float(items.confidence[n]), 4),
        second=second,
        second_posterior=round(float(fusion.posteriors[n, second]), 4),
        gain=round(float(items.gain[n]), 4),
        needs_another_label=bool(items.needs_another_label[n]),
        outvoted=bool(items.outvoted[n]),
        votes=_votes(fusion, n, rank, voter_index),
    )


def _votes(
    fusion: Fusion, n: int, rank: Codes, voter_index: dict[int, int]
) -> tuple[ClassVotes, ...]:
    """The votes for item n by class, most votes first.

    ``rank[annotator]`` is zero for the most accurate. New voters are added to ``voter_index``,
    ``{annotator: index}``.
    """
    starts, annotators, symbols = fusion.responses.by_item
    responses = slice(starts[n], starts[n + 1])
    voters, reported = annotators[responses], symbols[responses]
    named = np.isin(voters, voters[np.argsort(rank[voters])[:MAX_VOTERS]])
    classes, counts = np.unique(reported, return_counts=True)
    return tuple(
        ClassVotes(
            int(classes[c]),
            int(counts[c]),
            tuple(
                voter_index.setdefault(m, len(voter_index))
                for m in voters[named & (reported == classes[c])].tolist()
            ),
        )
        for c in np.argsort(-counts, kind="stable")
    )
