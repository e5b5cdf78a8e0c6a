"""The page of fused clusterings."""

from collections.abc import Iterator

import numpy as np

from blindfuse.fusion.fuse_clusters import ClusterFusion
from blindfuse.model.posteriors import most_likely
from blindfuse.report.blocks import Section, Table, how_many, percent
from blindfuse.report.charts import PERCENT, bars
from blindfuse.report.names import distinct_names

MAX_RUNS, MAX_ITEMS, MAX_CLASSES = 200, 50, 100
"""Rows of the tables: the runs that agree least, the least certain items, the largest classes."""


def cluster_sections(fusion: ClusterFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of clusterings."""
    classes, labels = distinct_names(fusion.model.classes), most_likely(fusion.posteriors)
    sizes = np.bincount(labels, minlength=len(classes))
    largest = np.argsort(-sizes, kind="stable")[:MAX_CLASSES].tolist()
    rows = [{"name": classes[k], "value": sizes[k] / len(labels)} for k in largest]
    text = "Share of the items in each class."
    chart = bars("classes", rows, [("name", "class", ""), ("value", "share", PERCENT)], text)
    cells = [(classes[k], f"{sizes[k]:,}", percent(sizes[k] / len(labels))) for k in largest]
    caption = f"The largest first.{how_many(cells, len(classes), 'classes')}"
    table = Table(caption, ("Class", "Items#", "Share of items#"), cells, folded=True)
    yield Section("classes", "Classes", "Classes", (chart, table))
    yield _run_section(fusion)
    least = np.argsort(fusion.confidence, kind="stable")[:MAX_ITEMS].tolist()
    names = distinct_names(fusion.items)
    uncertain = [(names[n], classes[labels[n]], percent(fusion.confidence[n])) for n in least]
    caption = f"The least certain first.{how_many(uncertain, len(names), 'items')}"
    items = Table(caption, ("Item", "Class", "Confidence#"), uncertain)
    yield Section("items", "Items", "Least certain items", (items,))


def cluster_figures(fusion: ClusterFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    yield f"{len(fusion.model.classes):,}", "classes"
    index = float(np.median(fusion.agreement))
    yield f"{index:.2f}", "adjusted Rand index of a run and the result (median)"
    yield f"{len(fusion.agreement):,}", "clusterings"


def _run_section(fusion: ClusterFusion) -> Section:
    runs = fusion.annotator_columns()
    names = distinct_names(runs["run"])[:MAX_RUNS]
    rows = [
        (name, f"{items:,}", f"{clusters:,}", f"{index:.2f}")
        for name, items, clusters, index in zip(
            names, *(runs[column] for column in list(runs)[1:]), strict=False
        )
    ]
    caption = (
        "The least similar to the result first: an adjusted Rand index of 1 is the same partition, "
        f"0 is chance.{how_many(rows, len(fusion.agreement), 'runs')}"
    )
    table = Table(caption, ("Run", "Items#", "Clusters#", "Adjusted Rand index#"), rows)
    return Section("runs", "Runs", "Runs", (table,))
