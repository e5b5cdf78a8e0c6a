"""The items of fused labels: a histogram of confidence, and a listing with the votes."""

from itertools import pairwise

import numpy as np

from blindfuse.fusion.fuse import Fusion
from blindfuse.report.blocks import Chart, Listing, Row, Section
from blindfuse.report.charts import PERCENT, histogram
from blindfuse.report.names import visible
from blindfuse.report.scripts import count_fitting
from blindfuse.typing import Codes

MAX_BYTES = 600_000
"""Size of the rows, so that the whole page stays below 3 MB."""
MAX_FIRST, MAX_SAMPLED = 1_000, 500
"""Rows of the first items, and rows sampled evenly from the others by confidence."""
MAX_VOTERS = 40
"""Voters of an item that are named: the most accurate ones."""
BINS = 25
"""Bars of the histogram of confidence."""


def item_section(fusion: Fusion, names: list[str]) -> Section:
    """Return the histogram and the listing of items; ``names`` are those of the annotators."""
    return Section(
        "items", "Items", "Items", (confidence_chart(fusion), item_listing(fusion, names))
    )


def confidence_chart(fusion: Fusion) -> Chart:
    """Return the histogram; orange bars are items that one more response could change."""
    rated = fusion.item_ratings
    needing = rated.needs_another_label
    edges = np.linspace(1 / fusion.responses.n_classes, 1, BINS + 1)
    counts, marked = (
        np.histogram(confidence, edges)[0].tolist()
        for confidence in (rated.confidence, rated.confidence[needing])
    )
    bins = zip(pairwise(edges.round(4).tolist()), counts, marked, strict=True)
    return histogram(
        "items",
        [{"low": low, "high": high, "count": count, "marked": n} for (low, high), count, n in bins],
        [
            ("low", "confidence from", PERCENT),
            ("high", "to", PERCENT),
            ("count", "items", ","),
            ("marked", "could change", ","),
        ],
        f"Histogram of confidence; {np.count_nonzero(needing):,} of {len(needing):,} labels could "
        "change with one more response.",
        "confidence (orange: one more response could change the label)",
    )


def item_listing(fusion: Fusion, names: list[str]) -> Listing:
    """Return all items, or as many as fit.

    First come items that one more response could change, the largest gain first, and then the
    least confident ones; the others are a sample. Labels are codes, and voters are indices into
    ``data["voters"]``.
    """
    rated = fusion.item_ratings
    by_priority = np.lexsort((rated.confidence, -rated.gain))
    others = by_priority[MAX_FIRST:]
    sample = others[np.linspace(0, len(others) - 1, min(MAX_SAMPLED, len(others))).astype(int)]
    # The sample comes first, so that a size limit does not cut it off.
    selected = np.concatenate([sample, by_priority[:MAX_FIRST]])
    voter_index: dict[int, int] = {}
    rank = np.argsort(np.argsort(-fusion.diagnostics.annotators.accuracy, kind="stable"))
    rows, n_voters = [], [0]
    for n in selected.tolist():
        rows.append(_row(fusion, n, rank, voter_index))
        n_voters.append(len(voter_index))
    voters = [names[m] for m in voter_index]
    with_new_voters = [
        (list(row.values()), voters[begin:end])
        for row, (begin, end) in zip(rows, pairwise(n_voters), strict=True)
    ]
    kept = count_fitting(with_new_voters, MAX_BYTES)
    n_sampled = min(len(sample), kept)
    caption = (
        "The items on which one more response would help most come first. Open the votes to see "
        "the response of each annotator."
    )
    if kept < len(rated.gain):
        caption += (
            f" This page lists {kept:,} of {len(rated.gain):,} items: the first "
            f"{kept - n_sampled:,}, and {n_sampled:,} sampled evenly from the others."
        )
    listed = [*rows[len(sample) : kept], *rows[:n_sampled]]
    return Listing("items", listed, caption, {"voters": voters[: n_voters[kept]]})


def _row(fusion: Fusion, n: int, rank: Codes, voter_index: dict[int, int]) -> Row:
    rated = fusion.item_ratings
    first, second = np.argsort(-fusion.posteriors[n], kind="stable")[:2].tolist()
    return {
        "name": visible(fusion.responses.items[n]),
        "label": first,
        "confidence": round(float(rated.confidence[n]), 4),
        "second": second,
        "second_posterior": round(float(fusion.posteriors[n, second]), 4),
        "gain": round(float(rated.gain[n]), 4),
        "needs_another_label": bool(rated.needs_another_label[n]),
        "outvoted": bool(rated.outvoted[n]),
        "votes": _votes(fusion, n, rank, voter_index),
    }


def _votes(fusion: Fusion, n: int, rank: Codes, voter_index: dict[int, int]) -> list[Row]:
    """The votes for item n by class, most votes first.

    ``rank[annotator]`` is zero for the most accurate. New voters are added to ``voter_index``,
    ``{annotator: index}``.
    """
    starts, annotators, symbols = fusion.responses.by_item
    responses = slice(starts[n], starts[n + 1])
    voters, reported = annotators[responses], symbols[responses]
    named = np.isin(voters, voters[np.argsort(rank[voters])[:MAX_VOTERS]])
    classes, counts = np.unique(reported, return_counts=True)
    return [
        {
            "label": int(classes[c]),
            "count": int(counts[c]),
            "voters": [
                voter_index.setdefault(m, len(voter_index))
                for m in voters[named & (reported == classes[c])].tolist()
            ],
        }
        for c in np.argsort(-counts, kind="stable")
    ]
