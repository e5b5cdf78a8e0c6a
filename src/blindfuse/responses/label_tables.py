"""Tables of labels: long columns, matrices and frames become a ``CodedTable``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from blindfuse.errors import list_names
from blindfuse.responses import frames
from blindfuse.responses.anchor import IDENTITY
from blindfuse.responses.coded_table import CodedTable, table_from_codes
from blindfuse.responses.coding import as_column, as_plain_names, code_labels, code_names
from blindfuse.responses.column_names import QUESTION_NAMES, base_name
from blindfuse.responses.detection import ColumnOptions, gold_column, is_long, long_columns
from blindfuse.responses.frame_tables import detection_note, gold_note, wide_values
from blindfuse.responses.inputs import (
    Names,
    cell_description,
    check_equal_lengths,
    names_or_numbers,
    stack_columns,
)
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.rows import Rows, annotator_dtype, row_starts
from blindfuse.responses.values import LabelOptions
from blindfuse.responses.wide_detection import (
    MIN_ROWS,
    WideColumns,
    long_roles,
    transposed_note,
    wide_columns,
)
from blindfuse.typing import Array


def long_table(
    values: Sequence[Any], options: LabelOptions, repeats: Repeats, notes: Sequence[str] = ()
) -> CodedTable:
    """Read columns of items, annotators and labels, with one row per response."""
    columns = [as_column(frames.values(column)) for column in values]
    check_equal_lengths(dict(zip(("items", "annotators", "labels"), columns, strict=True)))
    labelled = code_labels(columns[2], options, lambda i: f"row {i}")
    item, annotator = code_names(columns[0], "item"), code_names(columns[1], "annotator")
    return table_from_codes(
        (item.codes, annotator.codes, labelled.codes),
        (item.names, annotator.names),
        (labelled.classes, None, IDENTITY),
        repeats,
        [*notes, *labelled.notes, *item.notes, *annotator.notes],
    )


def matrix_table(
    matrix: Array,
    items: Names | None,
    annotators: Names | None,
    options: LabelOptions,
    notes: Sequence[str] = (),
) -> CodedTable:
    """Read a matrix ``[item, annotator]`` of labels."""
    n_items, n_annotators = matrix.shape
    annotator_names = names_or_numbers(annotators, n_annotators, "annotators")
    codes, classes, remarks = code_labels(
        matrix.reshape(-1), options, cell_description(annotator_names)
    )
    columns = np.arange(n_annotators, dtype=annotator_dtype(n_annotators))
    annotator_codes = np.broadcast_to(columns, matrix.shape).reshape(-1)
    present, symbols = codes >= 0, codes
    if present.all():
        counts = np.full(n_items, n_annotators)
    else:
        counts = np.count_nonzero(present.reshape(matrix.shape), axis=1)
        symbols, annotator_codes = codes[present], annotator_codes[present]
    return CodedTable(
        items=names_or_numbers(items, n_items, "items"),
        annotators=annotator_names,
        classes=classes,
        by_item=Rows(row_starts(counts), annotator_codes, symbols),
        remarks=(
            *notes,
            *remarks,
            *transposed_note(n_annotators, n_items),
            *_long_note(codes.reshape(matrix.shape), len(classes), annotator_names),
        ),
    )


def _long_note(codes: Array, n_classes: int, names: Array) -> list[str]:
    """Return a note if columns ``codes[row, column]`` seem to be items, annotators and labels."""
    n_rows, n_columns = codes.shape
    if n_rows < MIN_ROWS or not 3 <= n_columns <= 4 or n_classes**2 < 0.9 * n_rows:
        return []

    def distinct_share(columns: Sequence[int]) -> float:
        keys = codes[:, columns].astype(np.int64) @ (n_classes + 1) ** np.arange(len(columns))
        return float(len(np.unique(keys)) / n_rows)

    roles = long_roles(range(n_columns), distinct_share)
    if roles is None:
        return []
    item, annotator, label = names[list(roles)].tolist()
    return [
        f"Check the annotators: the columns {item!r} and {annotator!r} together name each row, as "
        "the items and the annotators of a long table do. If they are, pass the columns to "
        f"Responses.from_long, with {label!r} as the labels"
    ]


def wide_table(
    frame: Any, found: WideColumns, options: LabelOptions, notes: Sequence[str] = ()
) -> CodedTable:
    """Read the given columns of a frame with one row per item."""
    items, columns = wide_values(frame, found)
    if items is not None and found.item is not None:
        items = as_plain_names(items)
    return matrix_table(stack_columns(columns), items, found.annotators, options, notes)


def _refuse_questions(table: frames.FrameSample, columns: Mapping[str, str]) -> None:
    """Raise BadLabels if a column says that the items of a long table have several questions."""
    free = [column for column in table.columns if column not in columns.values()]
    for column in (one for one in free if base_name(one) in QUESTION_NAMES):
        item = columns["item"]
        if table.distinct_share([item, column]) > table.distinct_share([item]):
            questions = dict.fromkeys(text for text in table.texts(column) if text is not None)
            raise table.error(
                f"The table contains several questions in column {column!r}: "
                f"{list_names(questions)}. Pass the rows of one of them."
            )


def frame_table(
    frame: Any, named: ColumnOptions, options: LabelOptions, repeats: Repeats
) -> CodedTable:
    """Read a long or a wide frame, with notes about the columns that were detected.

    In a wide table, −1 may be how labelling functions abstain.
    """
    frame = frames.with_index(frame)
    sample = frames.FrameSample(frame)
    if not is_long(sample, named):
        found = wide_columns(sample, named, gold_column([sample], named.annotators))
        notes = found.notes if len(found.annotators) < len(sample.columns) else []
        if found.item is None:
            notes = [*notes, *frames.repeated_index_note(frame)]
        return wide_table(
            frame, found, replace(options, abstain=True), [*notes, *gold_note(found.gold)]
        )
    columns = long_columns(sample, named)
    _refuse_questions(sample, columns)
    values = frames.columns(frame, list(columns.values()))
    gold = gold_column([sample], list(columns.values()))
    return long_table(values, options, repeats, [*detection_note(columns, named), *gold_note(gold)])
