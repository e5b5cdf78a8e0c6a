"""Tables of labels: long columns, matrices and frames become a ``CodedTable``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.responses import frames
from blindfuse.responses.anchor import IDENTITY
from blindfuse.responses.coded_table import CodedTable, table_from_codes
from blindfuse.responses.coding import as_column, as_plain_names, code_labels, code_names
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
from blindfuse.responses.wide_detection import WideColumns, wide_columns


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
    matrix: NDArray[Any],
    items: Names | None,
    annotators: Names | None,
    options: LabelOptions,
    notes: Sequence[str] = (),
) -> CodedTable:
    """Read a matrix ``[item, annotator]`` of labels."""
    n_items, n_annotators = matrix.shape
    annotator_names = names_or_numbers(annotators, n_annotators, "annotators")
    symbols, classes, remarks = code_labels(
        matrix.reshape(-1), options, cell_description(annotator_names)
    )
    columns = np.arange(n_annotators, dtype=annotator_dtype(n_annotators))
    annotator_codes = np.broadcast_to(columns, matrix.shape).reshape(-1)
    present = symbols >= 0
    if present.all():
        counts = np.full(n_items, n_annotators)
    else:
        counts = np.count_nonzero(present.reshape(matrix.shape), axis=1)
        symbols, annotator_codes = symbols[present], annotator_codes[present]
    return CodedTable(
        items=names_or_numbers(items, n_items, "items"),
        annotators=annotator_names,
        classes=classes,
        by_item=Rows(row_starts(counts), annotator_codes, symbols),
        remarks=(*notes, *remarks),
    )


def wide_table(
    frame: Any, found: WideColumns, options: LabelOptions, notes: Sequence[str] = ()
) -> CodedTable:
    """Read the given columns of a frame with one row per item."""
    items, columns = wide_values(frame, found)
    if items is not None and found.item is not None:
        items = as_plain_names(items)
    return matrix_table(stack_columns(columns), items, found.annotators, options, notes)


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
        return wide_table(
            frame, found, replace(options, abstain=True), [*notes, *gold_note(found.gold)]
        )
    columns = long_columns(sample, named)
    values = frames.columns(frame, list(columns.values()))
    gold = gold_column([sample], list(columns.values()))
    return long_table(values, options, repeats, [*detection_note(columns, named), *gold_note(gold)])
