"""Tables of classes, annotators and items, which several kinds of results have."""

from collections.abc import Mapping, Sequence

import numpy as np

from blindfuse.report.blocks import (
    Block,
    Field,
    Key,
    Row,
    Section,
    Table,
    distinct_names,
    how_many,
    remark,
    visible,
)
from blindfuse.report.charts import bars
from blindfuse.result import Columns, Result, json_rows
from blindfuse.typing import Array, Codes

MAX_ANNOTATORS, MAX_CLASSES, MAX_ITEMS = 1_000, 40, 50
"""Rows of tables."""


def class_section(
    classes: Array, columns: Columns, fields: Sequence[Field], key: Key | None = None
) -> Section:
    """Return bars and a table of the most common classes, in the order of ``classes``.

    ``columns`` have their ``share``, and ``votes`` as marks beside it if there is a ``key``.
    """
    order = np.sort(np.argsort(-columns["share"], kind="stable")[:MAX_CLASSES])
    names = np.array(distinct_names(classes), dtype=object)
    rows = json_rows({name: column[order] for name, column in {"name": names, **columns}.items()})
    fields = Field("name", "class"), *fields
    largest = sorted(rows, key=lambda row: -row["share"])[:5]
    named = ", ".join(f"{row['name']} {100 * row['share']:.0f} %" for row in largest)
    text = f"Class proportions; the most common classes: {named}."
    chart = bars("classes", Table(text, fields, rows), "share", mark="votes" if key else "")
    caption = f"Class proportions.{how_many(rows, len(names), 'classes', 'the most common')}"
    blocks: list[Block] = [chart, Table(caption, fields, rows, folded=True)]
    if key is not None:
        blocks.insert(1, key)
    return Section("classes", "Class proportions", blocks)


def annotator_rows(fusion: Result, flags: Mapping[str, str]) -> tuple[list[Row], Codes, str]:
    """Return rows of annotators, their places in ``annotator_columns``, and how many are shown.

    The first column has the names, and the second says how busy an annotator was. ``name``,
    ``remark``, from the texts of ``flags`` and the dependent group, and ``flagged`` are added. Of
    many annotators, those with remarks and the busiest are shown.
    """
    columns = fusion.annotator_columns()
    kind, busy, *_ = columns
    rows: list[Row] = json_rows({**columns, kind: np.array(distinct_names(columns[kind]), object)})
    for row in rows:
        row["name"], row["remark"] = row.pop(kind), remark(row, flags)
        row["flagged"] = bool(row["remark"])
    by_priority = sorted(range(len(rows)), key=lambda m: (not rows[m]["flagged"], -rows[m][busy]))
    shown = np.sort(np.array(by_priority[:MAX_ANNOTATORS], dtype=np.intp))
    listed = [rows[m] for m in shown]
    which = "those with remarks and those with most responses"
    return listed, shown, how_many(listed, len(rows), f"{kind}s", which)


def annotator_table(
    fusion: Result, fields: Sequence[Field], order: str, flags: Mapping[str, str] = {}
) -> Table:
    """Return the table of a result's annotators; ``order`` says which ones come first."""
    rows, _, shown = annotator_rows(fusion, flags)
    return Table(f"{order}{shown}", fields, rows)


def item_table(
    fusion: Result, order: Codes, fields: Sequence[Field], text: str, limit: int = MAX_ITEMS
) -> Table:
    """Return the table of the items in this ``order``, or as many as fit; ``text`` explains it.

    The rows are those of ``item_columns``, and ``name`` is the item.
    """
    columns = fusion.item_columns()
    rows = json_rows({name: column[order[:limit]] for name, column in columns.items()})
    for row in rows:
        row["name"] = visible(row["item"])
    return Table(f"{text}{how_many(rows, len(fusion.items), 'items')}", fields, rows)
