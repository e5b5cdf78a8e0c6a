"""The sections of fused clusterings."""

from collections.abc import Iterator

import numpy as np

from blindfuse.fusion.fuse_clusters import ClusterFusion
from blindfuse.model.posteriors import most_likely
from blindfuse.report.blocks import Field, Section
from blindfuse.report.tables import annotator_table, class_section, item_table


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
    yield Section("runs", "Runs", "Runs", [annotator_table(fusion, run_fields, text)])

    least = np.argsort(fusion.confidence, kind="stable")
    confidence = Field("confidence", "confidence", ".1%")
    item_fields = Field("name", "item"), Field("label", "class"), confidence
    table = item_table(fusion, least, item_fields, "The least certain first.")
    yield Section("items", "Items", "Least certain items", [table])
