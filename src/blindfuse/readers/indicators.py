"""Tables with one row per response and one column of 0 and 1 per class."""

import re
from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.reader import ParsedResponses, ticked_names
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.column_names import name_of_role
from blindfuse.responses.detection import ColumnOptions, detect_column, gold_column, require_column
from blindfuse.responses.markers import TRUTH_VALUES, truth_value

TITLE = "a table with one column per class"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether an annotator and at least two columns of 0 and 1 exist.

    If labels are read, not sets, one column is 1 in every row, and no column is named as labels.
    """
    table, named = tables[0], options.annotator
    if options.label is not None or not isinstance(named, str | None):
        return False
    if detect_column("annotator", table, named) is None:
        return False
    classes = _class_columns(table, options)
    if len(classes) < 2 or options.all_choices:
        return len(classes) >= 2
    rows = zip(*(map(truth_value, table.texts(name)) for name in classes), strict=True)
    has_one_class = all(row.count(True) == 1 for row in rows if set(row) != {None})
    return has_one_class and name_of_role("label", table.columns) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per row: the names of the columns that hold 1 or true."""
    table, classes = tables[0], _class_columns(tables[0], options)
    if not classes:
        raise BadFile(
            f"{table.name} has no columns of 0 and 1. Pass another format=, or label= for a "
            "column of sets."
        )
    named = options.annotator if isinstance(options.annotator, str) else None
    annotator = require_column("annotator", table, named)
    item = require_column("item", table, options.item, [annotator])
    frame, notes = load_responses(tables, [item, annotator, *classes])
    cells = frame.select(pl.col(classes).str.strip_chars().str.to_lowercase().replace("", None))
    ticks = cells.select(pl.all().replace_strict(TRUTH_VALUES, default=None))
    for name in classes:
        wrong = (cells[name].is_not_null() & ticks[name].is_null()).arg_true()
        if len(wrong):
            raise BadFile(
                f"{table.name}, row {wrong[0] + 1:,}: {frame[name][wrong[0]]!r} in column {name!r} "
                "does not say whether the class applies. Use 0 and 1."
            )
    start = re.match(r"(?:label|class|category|answer)[\W_]+", classes[0], re.IGNORECASE)
    prefix = start[0] if start and all(name.startswith(start[0]) for name in classes) else ""
    labels = ticked_names(ticks.rename(lambda name: name.removeprefix(prefix) or name))
    return ParsedResponses(
        frame.select(
            item=pl.col(item),
            annotator=pl.col(annotator),
            label=pl.when(~cells.select(pl.all_horizontal(pl.all().is_null())).to_series()).then(
                labels
            ),
        ),
        {"item": item, "annotator": annotator, "label": f"{len(classes)} columns of 0 and 1"},
        notes,
    )


def _class_columns(table: Table, options: ColumnOptions) -> list[str]:
    """Return the columns whose values are 0 and 1, or true and false."""
    taken = {options.item, *options.annotators, gold_column([table])}
    filled = {
        name: [cell for cell in table.texts(name) if cell is not None and cell.strip()]
        for name in table.columns
    }
    return [
        name
        for name, texts in filled.items()
        if name not in taken and texts and None not in map(truth_value, texts)
    ]
