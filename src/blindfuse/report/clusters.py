"""The sections of fused clusterings."""

from collections.abc import Iterator

import numpy as np

from blindfuse.fusion.fuse_clusters import ClusterFusion
from blindfuse.model.posteriors import most_likely
from blindfuse.report.blocks import Block, Field, Section, Text
from blindfuse.report.tables import annotator_table, class_section, item_table

CERTAIN = 0.9995
"""Confidence that is shown as 100.0 %: such items are not listed as uncertain."""


def figures(fusion: ClusterFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    yield f"{len(fusion.model.classes):,}", "classes"
    index = float(np.median(fusion.agreement))
    yield f"{index:.2f}", "adjusted Rand index of a run and the result (median)"
    yield f"{len(fusion.agreement):,}", "clusterings"


def sections(fusion: ClusterFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of clusterings."""
    classes = fusion.model.classes
    sizes = np.bincount(most_likely(fusion.posteriors), minlength=len(classes))
    columns = {"share": sizes / len(fusion.items), "items": sizes}
    fields = Field("share", "share of the items", ".1%"), Field("items", "items", ",")
    yield class_section(classes, columns, fields)

    run_fields = (
        *(Field("name", "run"), Field("items", "items", ","), Field("clusters", "clusters", ",")),
        Field("adjusted_rand_index", "adjusted Rand index", ".2f"),
    )
    text = (
        "The least similar to the result first: an adjusted Rand index of 1 is the same partition, "
        "0 is chance."
    )
    yield Section("runs", "Runs", [annotator_table(fusion, run_fields, text)])

    least = np.argsort(fusion.confidence, kind="stable")
    least = least[: np.count_nonzero(fusion.confidence < CERTAIN)]
    confidence = Field("confidence", "confidence", ".1%")
    item_fields = Field("name", "item"), Field("label", "class"), confidence
    text = f"The least certain first; {len(least):,} items have a confidence below 99.95 %."
    table: Block = item_table(fusion, least, item_fields, text)
    if not len(least):
        table = Text("All items have a confidence of at least 99.95 %.")
    yield Section("items", "Least certain items", [table])
