"""Toloka's results in TSV: columns ``INPUT:…``, ``OUTPUT:…``, ``GOLDEN:…`` and ``ASSIGNMENT:…``."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile, naming
from blindfuse.readers.answers import Answers, Gold, counted
from blindfuse.readers.guessing import Asked, existing, one_question
from blindfuse.readers.tables import Table, together

_WORKER, _TASK, _STATUS = "ASSIGNMENT:worker_id", "ASSIGNMENT:task_id", "ASSIGNMENT:status"
_KEPT = ("ACCEPTED", "APPROVED", "SUBMITTED")


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there are Toloka's workers, or outputs beside inputs."""
    columns = tables[0].columns
    starts = {column.partition(":")[0] for column in columns if ":" in column}
    return _WORKER in columns or {"INPUT", "OUTPUT"} <= starts


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """Accepted and submitted answers to one output."""
    table = tables[0]
    outputs = [column for column in table.columns if column.startswith("OUTPUT:")]
    columns = {
        "item": _item(table, asked),
        "annotator": existing(table, str(asked.annotator or _WORKER)),
        "label": one_question(table, outputs, "OUTPUT:", asked),
    }
    golden = columns["label"].replace("OUTPUT:", "GOLDEN:", 1)
    others = [one for one in (_STATUS, golden) if one in table.columns]
    frame = together(tables, [*columns.values(), *others])
    kept = frame.filter(pl.col(_STATUS).is_in(_KEPT)) if _STATUS in others else frame
    return Answers(
        kept.select(**{role: pl.col(column) for role, column in columns.items()}),
        columns,
        counted(len(frame) - len(kept), "assignments left out: neither accepted nor submitted"),
        gold=_gold(frame, columns["item"], golden) if golden in others else None,
    )


def _gold(frame: pl.DataFrame, item: str, golden: str) -> Gold:
    return Gold(frame.select(item=pl.col(item), label=pl.col(golden)), golden)


def _item(table: Table, asked: Asked) -> str:
    if asked.item is not None:
        return existing(table, asked.item)
    inputs = [column for column in table.columns if column.startswith("INPUT:")]
    if _TASK in table.columns:
        return _TASK
    if not inputs:
        return existing(table, _TASK)
    if len(inputs) > 1:
        raise BadFile(
            f"{table.name} has no {_TASK!r}, and the item may be in {naming(inputs)}. "
            "Say which with item=."
        )
    return inputs[0]
