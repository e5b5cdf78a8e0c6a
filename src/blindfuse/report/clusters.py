"""The page of fused clusterings."""

from collections.abc import Iterator

import numpy as np

from blindfuse.fusion.fuse_clusters import ClusterFusion
from blindfuse.model.posteriors import most_likely
from blindfuse.report.blocks import (
    MAX_CLASSES,
    MAX_ITEMS,
    Field,
    Section,
    Table,
    annotator_table,
    distinct_names,
    how_many,
)
from blindfuse.report.charts import bars


def figures(fusion: ClusterFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    yield f"{len(fusion.model.classes):,}", "classes"
    index = float(np.median(fusion.agreement))
    yield f"{index:.2f}", "adjusted Rand index of a run and the result (median)"
    yield f"{len(fusion.agreement):,}", "clusterings"


def sections(fusion: ClusterFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of clusterings."""
    classes, labels = distinct_names(fusion.model.classes), most_likely(fusion.posteriors)
    sizes = np.bincount(labels, minlength=len(classes)).tolist()
    rows = [
        {"name": name, "items": size, "value": size / len(labels)}
        for name, size in zip(classes, sizes, strict=True)
    ]
    rows = sorted(rows, key=lambda row: -row["items"])[:MAX_CLASSES]
    fields = Field("name", "class"), Field("items", "items", ","), Field("value", "share", ".1%")
    caption = f"The largest first.{how_many(rows, len(classes), 'classes')}"
    chart = bars("classes", Table("Share of the items in each class.", fields, rows))
    table = Table(caption, fields, rows, folded=True)
    yield Section("classes", "Classes", "Classes", (chart, table))

    run_fields = (
        *(Field("name", "run"), Field("items", "items", ","), Field("clusters", "clusters", ",")),
        Field("adjusted_rand_index", "adjusted Rand index", ".2f"),
    )
    order = (
        "The least similar to the result first: an adjusted Rand index of 1 is the same partition, "
        "0 is chance."
    )
    yield Section("runs", "Runs", "Runs", [annotator_table(fusion, run_fields, order)])

    least = np.argsort(fusion.confidence, kind="stable")[:MAX_ITEMS]
    items = [
        {"name": name, "label": classes[labels[n]], "confidence": float(fusion.confidence[n])}
        for n, name in zip(least, distinct_names(fusion.items[least]), strict=True)
    ]
    caption = f"The least certain first.{how_many(items, len(labels), 'items')}"
    fields = (
        *(Field("name", "item"), Field("label", "class")),
        Field("confidence", "confidence", ".1%"),
    )
    yield Section("items", "Items", "Least certain items", [Table(caption, fields, items)])
