"""Judgements in JSON: one object per item, with what several judges said about it.

That is an object that maps judges to labels, scores or verdicts with fields of their own, a list of
objects with a judge and a label each, or a list of judges beside a list of labels.
"""

from collections.abc import Sequence
from dataclasses import replace
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
    options, _ = _split_label(options)
    judges, field = _fields(tables[0], options)
    if field is None or judges is not None:
        return field is not None
    return not options.annotator and detect_column("annotator", tables[0], None, [field]) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per item and judge."""
    table, (options, path) = tables[0], _split_label(options)
    judges, detected = _fields(table, options)
    field = detected or existing_column(table, options.label or "scores")
    used = [field] if judges is None else [judges, field]
    item = require_column("item", table, options.item, used)
    gold = gold_column(tables, [item, *used])
    rows: list[Row] = []
    truths: list[Row] = []
    for record in load_records(tables):
        name = record.get(item)
        pairs = _judgements(record.get(field)) if judges is None else _zip(table, record, *used)
        rows += [(None, name, judge, _value_at(label, path)) for judge, label in pairs]
        if gold is not None:
            truths.append((None, name, None, record.get(gold)))
    return ParsedResponses(
        frame_of_rows(rows).drop("question"),
        {
            "item": item,
            "annotator": judges or f"keys of {field}",
            "label": ".".join([field, *path]),
        },
        gold=frame_of_rows(truths).select("item", pl.col("label").alias(gold)) if gold else None,
    )


def _split_label(options: ColumnOptions) -> tuple[ColumnOptions, list[str]]:
    """Split a label such as ``scores.grade`` into a field and one of the objects in it."""
    field, *path = (options.label or "").split(".")
    return replace(options, label=field or None), path


def _value_at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _fields(table: Table, options: ColumnOptions) -> tuple[str | None, str | None]:
    """Return the fields of judges, None if labels are mapped by judge, and of labels, if any."""
    records = list(islice(load_records([table]), _SAMPLE))
    return _parallel_fields(table, records, options) or (
        None,
        _judgement_field(table, records, options),
    )


# A list of judges beside a list of labels


def _parallel_fields(
    table: Table, records: Sequence[Record], options: ColumnOptions
) -> tuple[str, str] | None:
    """Return the fields that hold lists of judges and of labels of equal lengths, or None."""
    lists = {
        name.removesuffix("s"): name
        for name in table.columns
        if all(isinstance(row.get(name, []), list) for row in records)
    }
    judges = options.annotator or lists.get(name_of_role("annotator", list(lists)) or "")
    others = [name for name in lists if lists[name] != judges]
    labels = options.label or lists.get(name_of_role("label", others) or "")
    if not isinstance(judges, str) or judges not in lists.values() or labels is None:
        return None
    are_parallel = all(_are_parallel(row.get(judges), row.get(labels)) for row in records)
    return (judges, labels) if are_parallel else None


def _are_parallel(judges: Any, labels: Any) -> bool:
    return isinstance(judges, list) and isinstance(labels, list) and len(judges) == len(labels)


def _zip(table: Table, record: Record, judges: str, labels: str) -> Pairs:
    names, values = record.get(judges) or [], record.get(labels) or []
    if not _are_parallel(names, values):
        raise BadFile(
            f"{table.name}: an object has {judges!r} and {labels!r} of different lengths "
            f"({short(names)} and {short(values)}). Write one label per annotator."
        )
    return list(zip(names, values, strict=True))


# One field with judges and what they said


def _judgement_field(table: Table, records: Sequence[Record], options: ColumnOptions) -> str | None:
    """Return the only field that holds judgements, by the name the user gave or a usual one.

    A field of another name counts if it holds lists of objects that name an annotator.
    """
    names = [options.label] if options.label else table.columns
    values = {name: [row[name] for row in records if row.get(name)] for name in names}
    fields = [name for name in names if _are_judgements(values[name])]
    usual = [name for name in fields if options.label or base_name(name) in _FIELDS]
    likely = usual or [name for name in fields if all(map(_names_annotators, values[name]))]
    return likely[0] if len(likely) == 1 else None


def _names_annotators(value: Any) -> bool:
    names = {base_name(key) for row in value for key in row} if isinstance(value, list) else set()
    return bool(names & TIERS["annotator"][0])


def _are_judgements(values: Sequence[Any]) -> bool:
    """Return whether all values name judges and what they said, with at least two judges in all."""
    pairs = [_judgements(value) for value in values]
    labels = [label for row in pairs for _, label in row if label is not None]
    judges = {name_of(judge) for row in pairs for judge, _ in row}
    are_plain = all(isinstance(label, str | int | float) for label in labels)
    are_objects = any(labels) and all(isinstance(label, dict) for label in labels)
    return all(pairs) and len(judges) > 1 and (are_plain or are_objects)


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
