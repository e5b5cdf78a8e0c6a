"""Toloka results in TSV: columns ``INPUT:…``, ``OUTPUT:…``, ``GOLDEN:…`` and ``ASSIGNMENT:…``."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers.reader import ParsedResponses, question_column
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.notes import count_note

TITLE = "Toloka results"

_WORKER, _TASK, _STATUS = "ASSIGNMENT:worker_id", "ASSIGNMENT:task_id", "ASSIGNMENT:status"
_KEPT_STATUS = ("ACCEPTED", "APPROVED", "SUBMITTED")


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there is Toloka's worker column, or inputs and outputs."""
    columns = tables[0].columns
    prefixes = {column.partition(":")[0] for column in columns if ":" in column}
    return _WORKER in columns or {"INPUT", "OUTPUT"} <= prefixes


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the accepted and submitted responses for one output."""
    table = tables[0]
    outputs = [column for column in table.columns if column.startswith("OUTPUT:")]
    columns = {
        "item": _item_column(table, options),
        "annotator": existing_column(table, str(options.annotator or _WORKER)),
        "label": question_column(table, outputs, "OUTPUT:", options),
    }
    golden = columns["label"].replace("OUTPUT:", "GOLDEN:", 1)
    others = [column for column in (_STATUS, golden) if column in table.columns]
    frame = load_columns(tables, [*columns.values(), *others])
    kept = frame.filter(pl.col(_STATUS).is_in(_KEPT_STATUS)) if _STATUS in others else frame
    return ParsedResponses(
        kept.select(**{role: pl.col(column) for role, column in columns.items()}),
        columns,
        count_note(len(frame) - len(kept), "assignment{s} skipped: neither accepted nor submitted"),
        empty_cells_are_sets=True,
        gold=frame.select(pl.col(columns["item"]).alias("item"), golden)
        if golden in others
        else None,
    )


def _item_column(table: Table, options: ColumnOptions) -> str:
    if options.item is not None:
        return existing_column(table, options.item)
    inputs = [column for column in table.columns if column.startswith("INPUT:")]
    if _TASK in table.columns:
        return _TASK
    if not inputs:
        return existing_column(table, _TASK)
    if len(inputs) > 1:
        raise BadFile(
            f"{table.name} has no column {_TASK!r}, and the item may be in {list_names(inputs)}. "
            f"Pass item=, as in item={inputs[0]!r}."
        )
    return inputs[0]
