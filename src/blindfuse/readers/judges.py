"""Judgements in JSON: one object per item, with what several judges said about it.

That is an object that maps judges to labels, scores or verdicts with fields of their own, a list of
objects with a judge and a label each, or a list of judges beside a list of labels.
"""

from collections.abc import Sequence
from itertools import islice
from reprlib import repr as short
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.nested_values import name_of
from blindfuse.readers.reader import ParsedResponses, Row, frame_of_rows
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.column_names import TIERS, base_name, name_of_role
from blindfuse.responses.detection import (
    ColumnOptions,
    detect_column,
    existing_column,
    gold_column,
    require_column,
)

TITLE = "judgements by item"

_FIELDS = (
    *("scores", "score", "ratings", "rating", "judgements", "judgments", "verdicts", "votes"),
    *("labels", "responses", "answers", "grades", "annotations", "predictions", "judges", "models"),
)
"""Names of a field that maps judges to what they reported."""

_SAMPLE = 50
"""Objects that must have this structure for the format to be recognized."""

Pairs = list[tuple[Any, Any]]
"""Judges, and what they said."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether one field maps several judges to labels, and no column names annotators."""
    if any(table.records is None for table in tables):
        return False
    if _parallel_fields(tables[0], options) is not None:
        return True
    field = None if options.annotator else _judgement_field(tables[0], options)
    return field is not None and detect_column("annotator", tables[0], None, [field]) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per item and judge."""
    first = tables[0]
    judges, field = _parallel_fields(first, options) or (None, _judgement_field(first, options))
    field = field or existing_column(first, options.label or "scores")
    used = [field] if judges is None else [judges, field]
    item = require_column("item", first, options.item, used)
    gold = gold_column(tables, [item, *used])
    rows: list[Row] = []
    truths: list[Row] = []
    for record in load_records(tables):
        name = record.get(item)
        pairs = (
            _judgements(record.get(field))
            if judges is None
            else _parallel_pairs(first, record, judges, field)
        )
        rows += [(None, name, judge, label) for judge, label in pairs]
        if gold is not None:
            truths.append((None, name, None, record.get(gold)))
    return ParsedResponses(
        frame_of_rows(rows).drop("question"),
        {"item": item, "annotator": judges or f"keys of {field}", "label": field},
        gold=frame_of_rows(truths).select("item", pl.col("label").alias(gold)) if gold else None,
    )


# A list of judges beside a list of labels


def _parallel_fields(table: Table, options: ColumnOptions) -> tuple[str, str] | None:
    """Return the fields that hold lists of judges and of labels of equal lengths, or None."""
    if not isinstance(options.annotator, str | None):
        return None
    judges = detect_column("annotator", table, options.annotator)
    records = _first_records(table)
    lists = [
        name
        for name in table.columns
        if all(isinstance(row.get(name, []), list) for row in records)
    ]
    if judges not in lists or not records:
        return None
    others = {name.removesuffix("s"): name for name in lists if name != judges}
    field = options.label or others.get(name_of_role("label", list(others)) or "")
    if field is None or not all(_are_parallel(row.get(judges), row.get(field)) for row in records):
        return None
    return judges, field


def _are_parallel(judges: Any, labels: Any) -> bool:
    return isinstance(judges, list) and isinstance(labels, list) and len(judges) == len(labels)


def _parallel_pairs(table: Table, record: Record, judges: str, field: str) -> Pairs:
    names, labels = record.get(judges) or [], record.get(field) or []
    if not _are_parallel(names, labels):
        raise BadFile(
            f"{table.name}: an object has {judges!r} and {field!r} of different lengths "
            f"({short(names)} and {short(labels)}). Write one label per annotator."
        )
    return list(zip(names, labels, strict=True))


# One field with judges and what they said


def _judgement_field(table: Table, options: ColumnOptions) -> str | None:
    """Return the only field that holds judgements, by the name the user gave or a usual one.

    A field of another name counts if it holds lists of objects that name an annotator.
    """
    records = _first_records(table)
    fields = {}
    for name in [options.label] if options.label else table.columns:
        values = [row[name] for row in records if row.get(name)]  # an item may have no judgement
        if _are_judgements(values):
            fields[name] = values
    usual = [name for name in fields if options.label or base_name(name) in _FIELDS]
    others = [name for name, values in fields.items() if all(map(_names_annotators, values))]
    likely = usual or others
    return likely[0] if len(likely) == 1 else None


def _names_annotators(value: Any) -> bool:
    names = {base_name(key) for row in value for key in row} if isinstance(value, list) else set()
    return bool(names & TIERS["annotator"][0])


def _are_judgements(values: Sequence[Any]) -> bool:
    """Return whether all values name judges and what they said, with at least two judges in all."""
    pairs = [_judgements(value) for value in values]
    if not pairs or not all(pairs):
        return False
    labels = [label for row in pairs for _, label in row if label is not None]
    are_plain = all(isinstance(label, str | int | float) for label in labels)
    are_objects = any(labels) and all(isinstance(label, dict) for label in labels)
    return len({name_of(judge) for row in pairs for judge, _ in row}) > 1 and (
        are_plain or are_objects
    )


def _judgements(value: Any) -> Pairs:
    """Return the judges and what they said, or an empty list if the value has another form."""
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return []
    fields = list(dict.fromkeys(key for row in value for key in row))
    judge, label = (name_of_role(role, fields) for role in ("annotator", "label"))
    if judge is None or label is None:
        return []
    return [(row.get(judge), row.get(label)) for row in value]


def _first_records(table: Table) -> list[Record]:
    return list(islice(load_records([table]), _SAMPLE))
