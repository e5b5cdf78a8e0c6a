"""doccano's exports: a folder or an archive with one file an annotator, such as ``ann.jsonl``."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.answers import Answers, counted, first_choices
from blindfuse.readers.guessing import Asked, existing, pick
from blindfuse.readers.tables import Table, together

_LABELS = ("label", "cats")


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there are ids with lists of labels, or one file each, and no annotators in them."""
    table = tables[0]
    label = next((one for one in _LABELS if one in table.columns), None)
    if asked.annotator or label is None or "id" not in table.columns:
        return False
    listed = table.sample[label].str.starts_with("[").any()
    return (bool(listed) or len(tables) > 1) and pick("annotator", table, None) is None


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """One answer a line, by the annotator after whom the file is named."""
    item = existing(tables[0], asked.item or "id")
    usual = next((one for one in _LABELS if one in tables[0].columns), _LABELS[0])
    label = existing(tables[0], asked.label or asked.question or usual)
    parts = []
    for table in tables:
        rows = together([table], [item, label])
        parts.append(rows.with_columns(annotator=pl.lit(table.source.stem)))
    frame = pl.concat(parts)
    if frame[label].str.contains(r"^\[\s*[\[{]").any():
        raise BadFile(
            f"{tables[0].name}: {label!r} holds spans, not classes. "
            "Export a project that classifies."
        )
    chosen, several = first_choices(frame[label])
    return Answers(
        frame.select(item=pl.col(item), annotator="annotator", label=chosen),
        {"item": item, "annotator": "the name of the file", "label": label},
        counted(several, "answers with several labels: the first is taken"),
    )
