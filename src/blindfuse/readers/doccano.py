"""doccano exports: a folder or an archive with one file per annotator, such as ``ann.jsonl``."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.reader import EMPTY_SET, ParsedResponses, refuse_repeated_labels
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import ColumnOptions, detect_column, existing_column
from blindfuse.responses.notes import count_note

TITLE = "a doccano export"

_LABELS = ("label", "cats")


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are ids with lists of labels, or several files, and no annotators."""
    table = tables[0]
    label = next((column for column in _LABELS if column in table.columns), None)
    if options.annotator or label is None or "id" not in table.columns:
        return False
    has_lists = bool(table.sample[label].str.starts_with("[").any())
    return (has_lists or len(tables) > 1) and detect_column("annotator", table, None) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per line, by the annotator that the file is named after."""
    table = tables[0]
    item = existing_column(table, options.item or "id")
    usual = next((column for column in _LABELS if column in table.columns), _LABELS[0])
    label = existing_column(table, options.label or options.question or usual)
    frame = pl.concat(
        load_columns([table], [item, label]).with_columns(annotator=pl.lit(table.source.stem))
        for table in tables
    )
    if frame[label].str.contains(r"^\[\s*[\[{]").any():
        raise BadFile(
            f"{table.name}: {label!r} contains text spans, not classes. "
            "Export a classification project."
        )
    refuse_repeated_labels(table.name, frame[label])
    n_empty = int((frame[label] == EMPTY_SET).sum()) if options.all_choices else 0
    return ParsedResponses(
        frame.select(item=pl.col(item), annotator="annotator", label=pl.col(label)),
        {"item": item, "annotator": "file name", "label": label},
        count_note(
            n_empty,
            "document{s} without a label read as empty sets. doccano writes the same for documents "
            "that were not annotated: export approved documents only",
        ),
    )
