"""The annotators and items of fused labels: charts, and tables that readers sort and search."""

from itertools import pairwise

import numpy as np

from blindfuse.diagnostics.annotators import FLAGS
from blindfuse.fusion.fuse import Fusion
from blindfuse.report.blocks import (
    REMARK_KEY,
    Field,
    Key,
    Listing,
    Row,
    Section,
    Table,
    distinct_names,
    how_many,
    interval_fields,
    visible,
)
from blindfuse.report.charts import histogram, points
from blindfuse.report.tables import annotator_rows
from blindfuse.result import json_rows
from blindfuse.typing import Codes, Floats

MAX_LISTED, MAX_VOTERS = 1_000, 40
"""Items that the page lists, and voters for a class that an item names."""
MAX_MATRIX, MAX_MATRIX_CELLS = 20, 150_000
"""Rows and columns of a confusion matrix, and cells of all of them together."""


def annotator_section(fusion: Fusion) -> Section:
    """Return the chart and the listing of annotators, the least accurate first."""
    listing = annotator_listing(fusion)
    fields = (
        Field("name", "annotator"),
        *interval_fields("accuracy", "accuracy", ".1%"),
        *(Field("responses", "responses", ","), Field("remark", "remark")),
    )
    names = *(name for field in fields for name in (field.name, field.to) if name), "flagged"
    busy = [row for row in reversed(listing.rows) if row["responses"]]
    text = "Estimated accuracy of annotators with 95 % intervals; the table below has the numbers."
    data = Table(text, fields, [{name: row[name] for name in names} for row in busy])
    title = "estimated accuracy with 95 % interval"
    charts = (points("annotators", data, "accuracy", title), REMARK_KEY) if busy else ()
    return Section("annotators", "Annotators", (*charts, listing))


def annotator_listing(fusion: Fusion) -> Listing:
    """Return all annotators, or as many as fit.

    ``matrix[true][reported]`` is in thousandths; None where the page has no space for it.
    """
    rows, shown, sentence = annotator_rows(fusion, FLAGS)
    names = fusion.annotator_columns()["annotator"][shown]
    responses = fusion.responses
    model = fusion.model.for_annotators(names, responses.classes, responses.symbols)
    classes = symbols = _most_common(model.prior, MAX_MATRIX)
    if not model.is_plain:
        pooled = model.confusions.mean(axis=0) @ model.prior
        symbols = _most_common(pooled, MAX_MATRIX)
    n_matrices = MAX_MATRIX_CELLS // (len(symbols) * len(classes))
    for m, row in enumerate(rows):
        row["worst_class"] = visible(row["worst_class"])
        row["confused_with"] = visible(row["confused_with"])
        matrix = model.confusions[m][np.ix_(symbols, classes)].T
        thousandths = np.rint(1000 * matrix).astype(int).tolist()
        row["matrix"] = thousandths if m < n_matrices else None
    data = {
        "matrix_classes": [visible(name) for name in model.classes[classes].tolist()],
        "matrix_symbols": [visible(name) for name in model.symbols[symbols].tolist()],
        "is_plain": model.is_plain,
    }
    caption = f"Select a name to see the confusion matrix of an annotator.{sentence}"
    return Listing("annotators", rows, caption, data)


def _most_common(shares: Floats, limit: int) -> Codes:
    """Return the codes of the ``limit`` most common classes, in ascending order."""
    return np.sort(np.argsort(-shares, kind="stable")[:limit])


def item_section(fusion: Fusion) -> Section:
    """Return the histogram of confidence and the listing of items."""
    rated = fusion.item_ratings
    needing = rated.needs_another_label
    text = (
        f"Histogram of confidence; {np.count_nonzero(needing):,} of {len(needing):,} labels could "
        "change with one more response."
    )
    key = Key("confidence of labels", "one more response could change the label", ("bar", "bar"))
    edges = np.linspace(1 / fusion.responses.n_classes, 1, 26)
    marked = rated.confidence[needing]
    chart = histogram("items", text, "confidence", rated.confidence, edges, marked)
    return Section("items", "Items", (chart, key, item_listing(fusion)))


def item_listing(fusion: Fusion) -> Listing:
    """Return the items, or as many as fit: the largest gain first, then the least confident ones.

    Labels are codes, and voters are indices into ``data["voters"]``.
    """
    rated, responses = fusion.item_ratings, fusion.responses
    listed = np.lexsort((rated.confidence, -rated.gain))[:MAX_LISTED]
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
    for row, (begin, end) in zip(rows, pairwise(starts.tolist()), strict=True):
        row["votes"] = _votes(index[begin:end], symbols[begin:end])
    caption = (
        "The items on which one more response would help most come first. Open the votes to see "
        f"the response of each annotator.{how_many(rows, responses.n_items, 'items')}"
    )
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
