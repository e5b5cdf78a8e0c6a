"""Tables with one row per response and one column of 0 and 1 per class; read as sets only."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile, BadParameter
from blindfuse.readers.nested_values import set_text
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table, load_columns, without_headers
from blindfuse.responses.detection import (
    ColumnOptions,
    detect_column,
    gold_column,
    require_column,
)

NAME = "indicators"
TITLE = "a table with one column per class"

_YES = ("1", "1.0", "true", "yes")
_NO = ("0", "0.0", "false", "no")


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether sets are read, and an annotator and at least two columns of 0 and 1 exist."""
    named = options.annotator
    if not options.all_choices or options.label is not None or not isinstance(named, str | None):
        return False
    if detect_column("annotator", tables[0], named) is None:
        return False
    return len(_class_columns(tables[0], options)) >= 2


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per row: the names of the columns that hold 1 or true."""
    if not options.all_choices:
        raise BadParameter(
            "A table with one column per class holds sets: pass --multi-label, or use read_sets."
        )
    classes = _class_columns(tables[0], options)
    if not classes:
        raise BadFile(
            f"{tables[0].name} has no columns of 0 and 1. Pass another format=, or label= for a "
            "column of sets."
        )
    item, annotator = _names(tables[0], options)
    frame, notes = without_headers(load_columns(tables, [item, annotator, *classes]))
    cells = frame.select(pl.col(classes).str.strip_chars().str.to_lowercase())
    for name in classes:
        wrong = (~cells[name].is_in([*_YES, *_NO, ""])).fill_null(False).arg_true()
        if len(wrong):
            raise BadFile(
                f"{tables[0].name}, row {int(wrong[0]) + 1:,}: {frame[name][int(wrong[0])]!r} in "
                f"column {name!r} does not say whether the class applies. Use 0 and 1."
            )
    labels = [
        None
        if not any(row)
        else set_text([name for name, cell in zip(classes, row, strict=True) if cell in _YES])
        for row in cells.iter_rows()
    ]
    return ParsedResponses(
        frame.select(
            item=pl.col(item),
            annotator=pl.col(annotator),
            label=pl.Series(labels, dtype=pl.String),
        ),
        {"item": item, "annotator": annotator, "label": f"{len(classes)} columns of 0 and 1"},
        notes,
    )


def _names(table: Table, options: ColumnOptions) -> tuple[str, str]:
    """Return the columns of items and annotators."""
    named = options.annotator if isinstance(options.annotator, str) else None
    annotator = require_column("annotator", table, named)
    return require_column("item", table, options.item, [annotator]), annotator


def _class_columns(table: Table, options: ColumnOptions) -> list[str]:
    """Return the columns whose values are 0 and 1, or true and false."""
    taken = {options.item, *options.annotators, gold_column([table])}
    found = []
    for column in table.columns:
        texts = {text.strip().casefold() for text in table.texts(column) if text is not None}
        if column not in taken and texts - {""} and texts <= {*_YES, *_NO, ""}:
            found.append(column)
    return found
