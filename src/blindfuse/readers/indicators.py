"""Tables with one row per response and one column of 0 and 1 per class."""

import re
from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.nested_values import choose
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.column_names import name_of_role
from blindfuse.responses.detection import ColumnOptions, detect_column, gold_column, require_column
from blindfuse.responses.markers import TRUTH_VALUES, truth_value

NAME = "indicators"
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
    return name_of_role("label", table.columns) is None and _has_one_class_per_row(table, classes)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per row: the names of the columns that hold 1 or true."""
    classes = _class_columns(tables[0], options)
    if not classes:
        raise BadFile(
            f"{tables[0].name} has no columns of 0 and 1. Pass another format=, or label= for a "
            "column of sets."
        )
    item, annotator = _names(tables[0], options)
    frame, notes = load_responses(tables, [item, annotator, *classes])
    cells = frame.select(pl.col(classes).str.strip_chars().str.to_lowercase())
    for name in classes:
        wrong = (~cells[name].is_in([*TRUTH_VALUES, ""])).fill_null(False).arg_true()
        if len(wrong):
            raise BadFile(
                f"{tables[0].name}, row {int(wrong[0]) + 1:,}: {frame[name][int(wrong[0])]!r} in "
                f"column {name!r} does not say whether the class applies. Use 0 and 1."
            )
    names = dict(zip(classes, _class_names(classes), strict=True))
    sets = [
        None
        if not any(row)
        else [
            names[name] for name, cell in zip(classes, row, strict=True) if TRUTH_VALUES.get(cell)
        ]
        for row in cells.iter_rows()
    ]
    chosen = [choose(one, options.all_choices) for one in sets]
    labels = [label for label, _ in chosen]
    return ParsedResponses(
        frame.select(
            item=pl.col(item),
            annotator=pl.col(annotator),
            label=pl.Series(labels, dtype=pl.String),
        ),
        {"item": item, "annotator": annotator, "label": f"{len(classes)} columns of 0 and 1"},
        notes,
        several=sum(has_more for _, has_more in chosen),
    )


def _has_one_class_per_row(table: Table, classes: Sequence[str]) -> bool:
    """Return whether one column is 1 in every row of the sample that has values."""
    rows = zip(*(table.texts(name) for name in classes), strict=True)
    return all(sum(truth_value(cell) is True for cell in row) == 1 for row in rows if any(row))


def _class_names(columns: Sequence[str]) -> list[str]:
    """Return the names of the columns without a word for labels that all begin with."""
    start = re.match(r"(?:label|class|category|answer)[\W_]+", columns[0], re.IGNORECASE)
    prefix = start[0] if start else ""
    if all(len(name) > len(prefix) and name.startswith(prefix) for name in columns):
        return [name.removeprefix(prefix) for name in columns]
    return list(columns)


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
        texts = {text for text in table.texts(column) if text is not None and text.strip()}
        if column not in taken and texts and None not in set(map(truth_value, texts)):
            found.append(column)
    return found
