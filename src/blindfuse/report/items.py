"""The items as a page lists them: the least certain ones with their votes, and a sample."""

from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.fusion.fuse import Fusion
from blindfuse.report.names import fitting, shown

ROOM = 600_000
"""Bytes for the rows, so that the whole page stays below 3 MB."""
UNCERTAIN, SAMPLED = 1_000, 500
"""The least certain items, and how many of the others at even distances by certainty."""
VOTERS = 40
"""Voters of an item that are named: the most accurate ones."""
BINS = 25
"""Bars of the histogram of certainties."""


@dataclass(frozen=True)
class Votes:
    """``count`` answers for one class; ``voters`` are positions in the table's ``voters``."""

    label: int
    count: int
    voters: tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One row. Classes are codes: ``label``, of posterior ``sure``, and the next best, ``next``."""

    name: str
    label: int
    sure: float
    next: int
    next_sure: float
    needs: bool
    outvoted: bool
    votes: tuple[Votes, ...]


@dataclass(frozen=True)
class ItemTable:
    """``rows``, the least certain first, of ``total`` items.

    ``voters`` are the names that votes refer to. ``uncertain`` of the rows are the least certain
    items of all, the others a sample. ``needs`` and ``outvoted`` count all items, on the page or
    not; so does the histogram, ``counts[bin]`` between ``edges[bin]`` and ``edges[bin + 1]``.
    """

    rows: tuple[Item, ...]
    voters: tuple[str, ...]
    total: int
    uncertain: int
    needs: int
    outvoted: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def item_table(fusion: Fusion, names: list[str]) -> ItemTable:
    """All items, or as many as fit."""
    found = fusion.diagnostics.items
    by_doubt = np.argsort(found.posterior, kind="stable")
    others = by_doubt[UNCERTAIN:]
    sample = others[np.linspace(0, len(others) - 1, min(SAMPLED, len(others))).astype(int)]
    # The sample first, so that it is not what room is short of.
    chosen = np.concatenate([sample, by_doubt[:UNCERTAIN]])
    number: dict[int, int] = {}
    rank = np.argsort(np.argsort(-fusion.diagnostics.annotators.accuracy, kind="stable"))
    rows, named = [], [0]
    for n in chosen.tolist():
        rows.append(_row(fusion, n, rank, number))
        named.append(len(number))
    voters = [names[m] for m in number]
    costs = [
        (asdict(row), voters[begin:end])
        for row, (begin, end) in zip(rows, pairwise(named), strict=True)
    ]
    kept = fitting(costs, ROOM)
    sampled = min(len(sample), kept)
    counts, edges = np.histogram(found.posterior, BINS, (1 / fusion.responses.n_classes, 1))
    return ItemTable(
        rows=(*rows[len(sample) : kept], *rows[:sampled]),
        voters=tuple(voters[: named[kept]]),
        total=fusion.responses.n_items,
        uncertain=kept - sampled,
        needs=int(np.count_nonzero(found.needs)),
        outvoted=int(np.count_nonzero(found.outvoted)),
        edges=tuple(round(float(edge), 4) for edge in edges),
        counts=tuple(counts.tolist()),
    )


def _row(fusion: Fusion, n: int, rank: NDArray[np.intp], number: dict[int, int]) -> Item:
    found: Diagnostics = fusion.diagnostics
    best, runner_up = np.argsort(-fusion.posteriors[n], kind="stable")[:2].tolist()
    return Item(
        name=shown(fusion.responses.items[n]),
        label=best,
        sure=round(float(found.items.posterior[n]), 4),
        next=runner_up,
        next_sure=round(float(fusion.posteriors[n, runner_up]), 4),
        needs=bool(found.items.needs[n]),
        outvoted=bool(found.items.outvoted[n]),
        votes=_votes(fusion, n, rank, number),
    )


def _votes(
    fusion: Fusion, n: int, rank: NDArray[np.intp], number: dict[int, int]
) -> tuple[Votes, ...]:
    """Who said what of item n, the commonest answer first; ``number`` numbers those who are named.

    ``rank[annotator]`` is zero for the most accurate.
    """
    starts, annotators, labels = fusion.responses.by_item
    cut = slice(starts[n], starts[n + 1])
    who, said = annotators[cut], labels[cut]
    named = np.isin(who, who[np.argsort(rank[who])[:VOTERS]])
    classes, counts = np.unique(said, return_counts=True)
    return tuple(
        Votes(
            int(classes[c]),
            int(counts[c]),
            tuple(
                number.setdefault(m, len(number))
                for m in who[named & (said == classes[c])].tolist()
            ),
        )
        for c in np.argsort(-counts, kind="stable")
    )
