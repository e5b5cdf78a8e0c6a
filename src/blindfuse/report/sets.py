"""The page of fused sets of classes."""

from collections.abc import Iterator

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.metrics import krippendorff_alpha
from blindfuse.report.blocks import (
    MAX_CLASSES,
    MAX_ITEMS,
    REMARK_KEY,
    Block,
    Field,
    Key,
    Section,
    Table,
    annotator_table,
    distinct_names,
    how_many,
    percent,
    percent_range,
    visible,
)
from blindfuse.report.charts import bars, points
from blindfuse.result import json_rows
from blindfuse.sets.annotators import FLAGS
from blindfuse.sets.set_fusion import SetFusion

MAX_RELATED = 20
"""Pairs of related classes that are listed."""
CLEAR = 0.9
"""Posterior of a decision from which on it is clear."""


def figures(fusion: SetFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    if fusion.correct_sets is not None:
        value, low, high = fusion.correct_sets
        interval = percent_range(low, high, 0)
        yield percent(value, 0), f"of the sets are expected to be correct ({interval})"
    for name, agreement in fusion.agreement.items():
        interval = f"{agreement.low:.2f} to {agreement.high:.2f}"
        yield f"{agreement.value:.2f}", f"agreement, {name} ({interval})"
    yield f"{fusion.chosen.sum(axis=1).mean():.1f}", "classes per item"
    needing = np.count_nonzero(fusion.needs_another_label)
    yield f"{needing:,}", "sets could change with one more response"


def sections(fusion: SetFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of sets."""
    yield Section("classes", "Classes", "Classes", tuple(_class_blocks(fusion)))
    yield _annotator_section(fusion)
    yield _item_section(fusion)


def _class_blocks(fusion: SetFusion) -> Iterator[Block]:
    table, counts = fusion.responses, fusion.chosen.sum(axis=0)
    doubtful = (fusion.posteriors > 1 - CLEAR) & (fusion.posteriors < CLEAR)
    order = np.lexsort((-table.responses_per_class, -counts))[:MAX_CLASSES]
    columns = {
        "name": np.array(distinct_names(table.classes), dtype=object),
        "items": counts,
        "value": counts / max(table.n_items, 1),
        "mark": table.responses_per_class / table.n_responses,
        "uncertain": doubtful.sum(axis=0),
    }
    rows = json_rows({name: column[order] for name, column in columns.items()})
    for k, row in zip(order.tolist(), rows, strict=True):
        row["agreement"] = _alpha(fusion, k)
    fields = (
        Field("name", "class"),
        Field("items", "items", ","),
        Field("value", "share of items", ".1%"),
        Field("mark", "share of responses", ".1%"),
        Field("uncertain", "uncertain items", ","),
        Field("agreement", "agreement", ".2f"),
    )
    text = "Share of items with each class, and share of responses that name it."
    yield bars("classes", Table(text, fields, rows))
    yield Key("share of items", "share of responses", ("bar", "line"))
    caption = (
        f"The most common first.{how_many(rows, table.n_classes, 'classes')} Agreement is "
        "Krippendorff’s α of the yes/no question about the class."
    )
    yield Table(caption, fields, rows)
    related = [
        {"name": visible(first), "other": visible(second), "value": correlation}
        for first, second, correlation in fusion.related_classes()[:MAX_RELATED]
    ]
    if related:
        caption = (
            "Related classes, which occur together (positive) or avoid each other (negative): "
            "correlation of their posteriors over items."
        )
        other = Field("other", "and"), Field("value", "correlation", "+.2f")
        yield Table(caption, (fields[0], *other), related)


def _alpha(fusion: SetFusion, k: int) -> float | None:
    try:
        return krippendorff_alpha(fusion.responses.question(k), resamples=1).value
    except BadLabels:
        return None


def _annotator_section(fusion: SetFusion) -> Section:
    fields = (
        Field("name", "annotator"),
        Field("responses", "responses", ","),
        Field("classes_per_response", "classes each", ".1f"),
        Field("recall", "recall", ".0%"),
        Field("interval", "95 % interval", "#"),
        Field("precision", "precision", ".0%"),
        Field("f1", "F1", ".0%"),
        Field("remark", "remark"),
    )
    table = annotator_table(fusion, fields, "The lowest F1 first.", FLAGS)
    for row in table.rows:
        row["interval"] = percent_range(row["recall_low"], row["recall_high"], 0)
    rows = [
        {**row, "x": row["recall"], "value": row["precision"]}
        for row in table.rows
        if None not in (row["recall"], row["precision"])
    ]
    text = "Recall and precision of annotators; the table below has the numbers."
    blocks: list[Block] = [REMARK_KEY, table]
    if rows:
        chart = points("annotators", Table(text, fields, rows), "precision", x="recall")
        blocks.insert(0, chart)
    return Section("annotators", "Annotators", "Annotators", blocks)


def _item_section(fusion: SetFusion) -> Section:
    table, sets = fusion.responses, fusion.sets
    names, classes = distinct_names(table.items), distinct_names(table.classes)
    shares, counts = table.shares(), table.responses_per_item
    rows = []
    for n in np.argsort(fusion.confidence, kind="stable")[:MAX_ITEMS].tolist():
        k = int(np.argmin(np.abs(fusion.posteriors[n] - 0.5)))
        votes = np.rint(shares[n] * counts[n]).astype(int)
        named = [f"{classes[j]} {votes[j]}" for j in np.argsort(-votes, kind="stable") if votes[j]]
        row = {
            "name": names[n],
            "labels": " | ".join(map(visible, sets[n])) or "–",
            "probability": float(fusion.confidence[n]),
            "doubtful": classes[k],
            "posterior": float(fusion.posteriors[n, k]),
            "responses": f"{', '.join(named) or 'none'} of {counts[n]}",
        }
        rows.append(row)
    caption = (
        f"{len(rows):,} of {table.n_items:,} items, the least probable sets first. The class in "
        "doubt is the one whose posterior is closest to one half."
    )
    fields = (
        Field("name", "item"),
        Field("labels", "labels"),
        Field("probability", "probability", ".0%"),
        Field("doubtful", "class in doubt"),
        Field("posterior", "its posterior", ".0%"),
        Field("responses", "responses"),
    )
    return Section("items", "Items", "Least certain items", [Table(caption, fields, rows)])
