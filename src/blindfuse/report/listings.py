"""The annotators and items of fused labels: charts, and tables that readers sort and search."""

from collections import defaultdict
from itertools import pairwise

import numpy as np

from blindfuse.diagnostics.annotators import FLAGS
from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.fusion.fuse import Fusion
from blindfuse.report.blocks import (
    REMARK_KEY,
    Chart,
    Field,
    Listing,
    Row,
    Section,
    Table,
    distinct_names,
    how_many,
    visible,
)
from blindfuse.report.charts import histogram, points
from blindfuse.result import json_rows
from blindfuse.typing import Codes, Floats

MAX_LISTED = 1_000
"""Annotators that the page lists; and items, beside half as many that are sampled."""
MAX_VOTERS = 40
"""Voters for a class that an item names: the most accurate ones."""
MAX_MATRIX_CLASSES, MAX_MATRIX_SYMBOLS, MAX_MATRIX_CELLS = 20, 30, 150_000
"""Rows, columns that are not classes, and cells of all confusion matrices together."""
MAX_PARTNERS = 5
"""Dependent annotators that a row names."""
MIN_BIAS = 0.05
"""Bias at or above which a class counts as over-reported."""


def annotator_section(fusion: Fusion) -> Section:
    """Return the chart and the listing of annotators, the busiest first."""
    listing = annotator_listing(fusion)
    rows = [
        {
            **{key: row[key] for key in ("name", "value", "low", "high", "responses")},
            "remark": ", ".join(row["remarks"]) or "none",
            "flagged": bool(row["remarks"]),
        }
        for row in sorted(listing.rows, key=lambda row: -float(row["value"]))
        if row["responses"]
    ]
    fields = (
        Field("name", "annotator"),
        Field("value", "accuracy", ".1%"),
        Field("low", "95 % interval from", ".1%"),
        Field("high", "to", ".1%"),
        Field("responses", "responses", ","),
        Field("remark", "remarks"),
    )
    text = "Estimated accuracy of annotators with 95 % intervals; the table below has the numbers."
    title = "estimated accuracy with 95 % interval"
    charts = [points("annotators", Table(text, fields, rows), title)] if rows else []
    return Section("annotators", "Annotators", "Annotators", (*charts, REMARK_KEY, listing))


def annotator_listing(fusion: Fusion) -> Listing:
    """Return all annotators, or as many as fit: those with remarks, then the busiest.

    ``matrix[true][reported]`` is in thousandths, over the classes of the listing; None where the
    page has no space for it. ``worst_class`` and other classes are codes.
    """
    diagnostics, responses = fusion.diagnostics, fusion.responses
    rated, coverage = diagnostics.annotators, diagnostics.coverage
    names, bias = distinct_names(rated.names), rated.bias.max(axis=1)
    columns = {
        "name": np.array(names, dtype=object),
        "responses": rated.n_responses,
        "value": rated.accuracy,
        "low": rated.low,
        "high": rated.high,
        "coverage": coverage.coverage,
        "overlap": coverage.overlap,
        "conflict": coverage.conflict,
        "misfit": diagnostics.fit.by_annotator,
        "worst_class": rated.worst_class,
        "confused_with": rated.confused_with,
        "over_reported": np.ma.masked_where(bias < MIN_BIAS, rated.bias.argmax(axis=1)),
        "over_reported_by": bias,
    }
    rows, partners = json_rows(columns), _dependent_partners(diagnostics)
    for m, row in enumerate(rows):
        row["remarks"] = _remarks(diagnostics, m, len(partners[m]))
        row["partners"] = [names[other] for other in partners[m][:MAX_PARTNERS]]
        row["matrix"] = None
    busiest = np.lexsort((-rated.accuracy, -rated.n_responses)).tolist()
    by_priority = sorted(busiest, key=lambda m: not rows[m]["remarks"])[:MAX_LISTED]

    model = fusion.model.for_annotators(responses.annotators, responses.classes, responses.symbols)
    classes = symbols = most_common(model.prior, MAX_MATRIX_CLASSES)
    data: Row = {"matrix_classes": classes.tolist(), "matrix_symbols": None}
    if not model.is_plain:
        pooled = model.confusions.mean(axis=0) @ model.prior
        symbols = most_common(pooled, MAX_MATRIX_SYMBOLS)
        data["matrix_symbols"] = [visible(symbol) for symbol in model.symbols[symbols].tolist()]
    for m in by_priority[: MAX_MATRIX_CELLS // (len(symbols) * len(classes))]:
        matrix = model.confusions[m][np.ix_(symbols, classes)].T
        rows[m]["matrix"] = np.rint(1000 * matrix).astype(int).tolist()

    kept = set(by_priority)
    listed = [rows[m] for m in busiest if m in kept]
    which = "those with remarks and those with most responses"
    caption = "Select a name to see the confusion matrix of an annotator."
    caption += how_many(listed, len(rows), "annotators", which)
    without = sum(row["matrix"] is None for row in listed)
    if without:
        caption += f" {without:,} with fewer responses are listed without a confusion matrix."
    return Listing("annotators", listed, caption, data)


def most_common(shares: Floats, limit: int) -> Codes:
    """Return the codes of the ``limit`` most common classes, in ascending order."""
    return np.sort(np.argsort(-shares, kind="stable")[:limit])


def _remarks(diagnostics: Diagnostics, m: int, n_partners: int) -> list[str]:
    annotators = diagnostics.annotators
    remarks = [] if annotators.n_responses[m] else ["no responses"]
    remarks += [FLAGS[flag] for flag in annotators.flags_of(m)]
    if n_partners:
        others = "1 other" if n_partners == 1 else f"{n_partners} others"
        remarks.append(f"errors correlated with {others}")
    return remarks


def _dependent_partners(diagnostics: Diagnostics) -> dict[int, list[int]]:
    """The dependent partners of each annotator, largest excess agreement first."""
    pairs, excess = diagnostics.dependence.pairs, diagnostics.dependence.excess
    partners: dict[int, list[int]] = defaultdict(list)
    for first, second in pairs[np.argsort(-excess, kind="stable")].tolist():
        partners[first].append(second)
        partners[second].append(first)
    return partners


def item_section(fusion: Fusion) -> Section:
    """Return the histogram of confidence and the listing of items."""
    return Section("items", "Items", "Items", (_confidence_chart(fusion), item_listing(fusion)))


def _confidence_chart(fusion: Fusion) -> Chart:
    """Return the histogram; orange bars are items that one more response could change."""
    rated = fusion.item_ratings
    needing = rated.needs_another_label
    edges = np.linspace(1 / fusion.responses.n_classes, 1, 26)
    rows = json_rows(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "count": np.histogram(rated.confidence, edges)[0],
            "marked": np.histogram(rated.confidence[needing], edges)[0],
        }
    )
    text = (
        f"Histogram of confidence; {np.count_nonzero(needing):,} of {len(needing):,} labels could "
        "change with one more response."
    )
    title = "confidence (orange: one more response could change the label)"
    fields = (
        *(Field("low", "confidence from", ".1%"), Field("high", "to", ".1%")),
        *(Field("count", "items", ","), Field("marked", "could change", ",")),
    )
    return histogram("items", Table(text, fields, rows), title)


def item_listing(fusion: Fusion) -> Listing:
    """Return all items, or as many as fit.

    First come items that one more response could change, the largest gain first, and then the
    least confident ones; the others are a sample. Labels are codes, and voters are indices into
    ``data["voters"]``.
    """
    rated, responses = fusion.item_ratings, fusion.responses
    by_priority = np.lexsort((rated.confidence, -rated.gain))
    first, others = by_priority[:MAX_LISTED], by_priority[MAX_LISTED:]
    n_sampled = min(MAX_LISTED // 2, len(others))
    sample = others[np.linspace(0, len(others) - 1, n_sampled).astype(int)]
    listed = np.concatenate([first, sample])
    posteriors = fusion.posteriors[listed]
    ranked = np.argsort(-posteriors, axis=1, kind="stable")
    rows = json_rows(
        {
            "name": np.array([visible(item) for item in responses.items[listed]], dtype=object),
            "label": ranked[:, 0],
            "confidence": rated.confidence[listed],
            "second": ranked[:, 1],
            "second_posterior": posteriors[np.arange(len(listed)), ranked[:, 1]],
            "gain": rated.gain[listed],
            "needs_another_label": rated.needs_another_label[listed],
            "outvoted": rated.outvoted[listed],
        }
    )
    starts, annotators, symbols = responses.select_items(listed).by_item
    voters, index = np.unique(annotators, return_inverse=True)
    rank = np.argsort(np.argsort(-fusion.diagnostics.annotators.accuracy, kind="stable"))
    for row, (begin, end) in zip(rows, pairwise(starts.tolist()), strict=True):
        by_accuracy = begin + np.argsort(rank[annotators[begin:end]])
        row["votes"] = _votes(index[by_accuracy], symbols[by_accuracy])
    caption = (
        "The items on which one more response would help most come first. Open the votes to see "
        "the response of each annotator."
    )
    sampled = f"the first {len(first):,}, and {n_sampled:,} sampled evenly from the others"
    caption += how_many(rows, len(by_priority), "items", sampled)
    names = [visible(name) for name in responses.annotators[voters].tolist()]
    classes = distinct_names(responses.classes)
    return Listing("items", rows, caption, {"voters": names, "classes": classes})


def _votes(voters: Codes, symbols: Codes) -> list[Row]:
    """The votes for an item by class, most votes first, with the first of the voters."""
    classes, counts = np.unique(symbols, return_counts=True)
    return [
        {
            "label": int(classes[c]),
            "count": int(counts[c]),
            "voters": voters[symbols == classes[c]][:MAX_VOTERS].tolist(),
        }
        for c in np.argsort(-counts, kind="stable")
    ]
