"""The page of fused sets of classes."""

from collections.abc import Iterator

import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.metrics import krippendorff_alpha
from blindfuse.report.annotators import REMARK_KEY
from blindfuse.report.blocks import (
    Block,
    Key,
    Section,
    Table,
    Text,
    how_many,
    percent,
    percent_range,
)
from blindfuse.report.charts import PERCENT, bars, scatter
from blindfuse.report.names import distinct_names, visible
from blindfuse.sets.annotators import FLAGS
from blindfuse.sets.set_fusion import SetFusion

MAX_CLASSES = 100
"""Classes in the table and in the chart: the most common."""
MAX_ANNOTATORS = 500
"""Annotators in the table: those with remarks, then those with most responses."""
MAX_DRAWN = 200
"""Annotators in the chart."""
MAX_ITEMS = 50
"""Items in the table: those with the least probable sets."""
MAX_RELATED = 20
CLEAR = 0.9
"""Posterior of a decision from which on it is clear."""


def set_sections(fusion: SetFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of sets."""
    yield _class_section(fusion)
    yield _annotator_section(fusion)
    yield _item_section(fusion)


def set_figures(fusion: SetFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    if fusion.correct_sets is not None:
        value, low, high = fusion.correct_sets
        yield (
            percent(value, 0),
            f"of the sets are expected to be correct ({percent_range(low, high, 0)})",
        )
    for name, agreement in fusion.agreement.items():
        interval = f"{agreement.low:.2f} to {agreement.high:.2f}"
        yield f"{agreement.value:.2f}", f"agreement, {name} ({interval})"
    yield f"{fusion.chosen.sum(axis=1).mean():.1f}", "classes per item"
    needing = np.count_nonzero(fusion.needs_another_label)
    yield f"{needing:,}", "sets could change with one more response"


def _class_section(fusion: SetFusion) -> Section:
    table, counts = fusion.responses, fusion.chosen.sum(axis=0)
    names = distinct_names(table.classes)
    doubtful = ((fusion.posteriors > 1 - CLEAR) & (fusion.posteriors < CLEAR)).sum(axis=0)
    order = np.lexsort((-table.responses_per_class, -counts))[:MAX_CLASSES].tolist()
    rows = [
        {
            "name": names[k],
            "value": float(counts[k] / max(table.n_items, 1)),
            "mark": float(table.responses_per_class[k] / table.n_responses),
        }
        for k in order
    ]
    cells = [
        (
            *(row["name"], f"{counts[k]:,}", percent(row["value"]), percent(row["mark"])),
            *(f"{doubtful[k]:,}", _alpha(fusion, k)),
        )
        for k, row in zip(order, rows, strict=True)
    ]
    tips = [
        ("name", "class", ""),
        ("value", "share of items", PERCENT),
        ("mark", "share of responses", PERCENT),
    ]
    text = "Share of items with each class, and share of responses that name it."
    headings = ("Items#", "Share of items#", "Share of responses#", "Uncertain items#")
    blocks: list[Block] = [
        bars("classes", rows, tips, text),
        Key("share of items", "share of responses", ("bar", "line")),
        Table(
            f"The most common first.{how_many(rows, table.n_classes, 'classes')} Agreement is "
            "Krippendorff’s α of the yes/no question about the class.",
            ("Class", *headings, "Agreement#"),
            cells,
        ),
    ]
    related = [
        (visible(first), visible(second), f"{correlation:+.2f}")
        for first, second, correlation in fusion.related_classes()[:MAX_RELATED]
    ]
    if related:
        caption = (
            "Related classes, which occur together (positive) or avoid each other (negative): "
            "correlation of their posteriors over items."
        )
        blocks.append(Table(caption, ("Class", "And", "Correlation#"), related))
    return Section("classes", "Classes", "Classes", tuple(blocks))


def _alpha(fusion: SetFusion, k: int) -> str:
    try:
        return f"{krippendorff_alpha(fusion.responses.question(k), resamples=1).value:.2f}"
    except BadLabels:
        return "–"


def _annotator_section(fusion: SetFusion) -> Section:
    rated, names = fusion.annotators, distinct_names(fusion.responses.annotators)
    active = np.flatnonzero(rated.n_responses)
    busiest = active[np.argsort(-rated.n_responses[active], kind="stable")].tolist()
    listed = sorted(busiest, key=lambda m: not rated.flags[m])[:MAX_ANNOTATORS]
    f1 = rated.f1
    listed.sort(key=lambda m: float(np.nan_to_num(f1[m])))
    rows = [
        {
            "name": names[m],
            "x": float(rated.recall[m]),
            "y": float(rated.precision[m]),
            "responses": int(rated.n_responses[m]),
            "flagged": bool(rated.flags[m]),
        }
        for m in busiest[:MAX_DRAWN]
        if not np.isnan([rated.recall[m], rated.precision[m]]).any()
    ]
    tips = [
        ("name", "annotator", ""),
        ("x", "recall", ".0%"),
        ("y", "precision", ".0%"),
        ("responses", "responses", ","),
    ]
    cells = [
        (
            *(names[m], f"{rated.n_responses[m]:,}", f"{rated.mean_size[m]:.1f}"),
            percent(float(np.nan_to_num(rated.recall[m])), 0),
            percent_range(rated.recall_low[m], rated.recall_high[m], 0),
            *(percent(rated.precision[m], 0), percent(f1[m], 0), FLAGS.get(rated.flags[m], "")),
        )
        for m in listed
    ]
    which = "those with remarks and those with most responses"
    caption = "The lowest F1 first." + how_many(
        cells, fusion.responses.n_annotators, "annotators", which
    )
    figures = ("Responses#", "Classes each#", "Recall#", "95 % interval#", "Precision#", "F1#")
    table = Table(caption, ("Annotator", *figures, "Remark"), cells)
    text = "Recall and precision of annotators; the table below has the numbers."
    charts = [scatter("annotators", rows, tips, text, ("recall", "precision"))] if rows else []
    return Section("annotators", "Annotators", "Annotators", (*charts, REMARK_KEY, table))


def _item_section(fusion: SetFusion) -> Section:
    table, sets = fusion.responses, fusion.sets
    names, classes = distinct_names(table.items), distinct_names(table.classes)
    order = np.argsort(fusion.confidence, kind="stable")[:MAX_ITEMS]
    shares, counts = table.shares(), table.responses_per_item
    rows = []
    for n in order.tolist():
        k = int(np.argmin(np.abs(fusion.posteriors[n] - 0.5)))
        votes = np.rint(shares[n] * counts[n]).astype(int)
        named = [f"{classes[j]} {votes[j]}" for j in np.argsort(-votes, kind="stable") if votes[j]]
        rows.append(
            (
                *(names[n], " | ".join(map(visible, sets[n])) or "–"),
                *(percent(fusion.confidence[n], 0), classes[k]),
                percent(fusion.posteriors[n, k], 0),
                f"{', '.join(named) or 'none'} of {counts[n]}",
            )
        )
    caption = (
        f"{len(rows):,} of {table.n_items:,} items, the least probable sets first. The class in "
        "doubt is the one whose posterior is closest to one half."
    )
    headings = ("Item", "Labels", "Probability#", "Class in doubt", "Its posterior#", "Responses")
    blocks = (Table(caption, headings, rows),) if rows else (Text("There are no items."),)
    return Section("items", "Items", "Least certain items", blocks)
