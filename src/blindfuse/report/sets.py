"""The sections of fused sets of classes."""

from collections.abc import Iterator

import numpy as np

from blindfuse.report.blocks import (
    REMARK_KEY,
    Block,
    Field,
    Key,
    Section,
    Table,
    Text,
    coefficient,
    distinct_names,
    interval_fields,
    percent,
    visible,
)
from blindfuse.report.charts import points
from blindfuse.report.tables import MAX_ITEMS, annotator_table, class_section, item_table
from blindfuse.sets.annotators import FLAGS
from blindfuse.sets.set_fusion import SetFusion

CLEAR = 0.9
"""Posterior of a decision from which on it is clear."""


def figures(fusion: SetFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    if fusion.correct_sets is not None:
        value, low, high = (percent(share, 0) for share in fusion.correct_sets)
        yield value, f"of the sets are expected to be correct ({low} to {high})"
    for name, agreement in fusion.agreement.items():
        yield coefficient(f"agreement, {name}", agreement)
    yield f"{fusion.chosen.sum(axis=1).mean():.1f}", "classes per item"
    needing = np.count_nonzero(fusion.needs_another_label)
    yield f"{needing:,}", "sets could change with one more response"


def sections(fusion: SetFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of sets."""
    table, counts = fusion.responses, fusion.chosen.sum(axis=0)
    doubtful = (fusion.posteriors > 1 - CLEAR) & (fusion.posteriors < CLEAR)
    columns = {
        "share": counts / max(table.n_items, 1),
        "items": counts,
        "votes": table.responses_per_class / table.n_responses,
        "uncertain": doubtful.sum(axis=0),
    }
    fields = (
        *(Field("share", "share of the items", ".1%"), Field("items", "items", ",")),
        *(
            Field("votes", "share of the responses", ".1%"),
            Field("uncertain", "uncertain items", ","),
        ),
    )
    key = Key("share of the items", "share of the responses", ("bar", "line"))
    yield class_section(table.classes, columns, fields, key)
    yield _annotator_section(fusion)
    yield _item_section(fusion)


def _annotator_section(fusion: SetFusion) -> Section:
    fields = (
        *(Field("name", "annotator"), Field("responses", "responses", ",")),
        Field("classes_per_response", "classes each", ".1f"),
        *interval_fields("recall", "recall", ".0%"),
        *(Field("precision", "precision", ".0%"), Field("f1", "F1", ".0%")),
        Field("remark", "remark"),
    )
    table = annotator_table(fusion, fields, "The lowest F1 first.", FLAGS)
    rows = [row for row in table.rows if None not in (row["recall"], row["precision"])]
    blocks: list[Block] = [table]
    if rows:
        text = "Recall and precision of annotators; the table below has the numbers."
        data = Table(text, fields, rows)
        chart = points("annotators", data, "precision", "precision", x="recall")
        about = Text("Annotators above the dashed line name fewer classes than apply.")
        blocks = [about, chart, REMARK_KEY, table]
    return Section("annotators", "Annotators", blocks)


def _item_section(fusion: SetFusion) -> Section:
    table, sets, classes = fusion.responses, fusion.sets, distinct_names(fusion.classes)
    least = np.argsort(fusion.confidence, kind="stable")[:MAX_ITEMS]
    fields = (
        *(Field("name", "item"), Field("labels", "labels")),
        Field("probability", "probability", ".0%"),
        *(Field("doubtful", "class in doubt"), Field("posterior", "its posterior", ".0%")),
        Field("responses", "responses"),
    )
    text = (
        "The least probable sets first. The class in doubt is the one whose posterior is closest "
        "to one half."
    )
    listed = item_table(fusion, least, fields, text)
    counts = table.responses_per_item[least]
    named = np.rint(table.shares()[least] * counts[:, None]).astype(int)
    for n, votes, count, row in zip(least, named, counts, listed.rows, strict=True):
        k = int(np.argmin(np.abs(fusion.posteriors[n] - 0.5)))
        by_votes = np.argsort(-votes, kind="stable")
        texts = [f"{classes[j]} ({votes[j]})" for j in by_votes if votes[j]]
        row["labels"] = " | ".join(map(visible, sets[n])) or "–"
        row["doubtful"], row["posterior"] = classes[k], float(fusion.posteriors[n, k])
        row["responses"] = f"{', '.join(texts) or 'none'} of {count}"
    return Section("items", "Least certain items", [listed])
