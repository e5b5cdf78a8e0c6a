"""Judgements in JSON: one object per item, with what several judges said about it.

That is an object that maps judges to labels, scores or verdicts with fields of their own, a list of
objects with a judge and a label each, or a list of judges beside a list of labels.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.reader import ParsedResponses, Row, frame_of_rows, name_of
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
    judges, field = _fields(tables[0], options)
    if field is None or judges is not None:
        return field is not None
    return not options.annotator and detect_column("annotator", tables[0], None, [field]) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per item and judge."""
    table, (named, *path) = tables[0], (options.label or "").split(".")
    judges, detected = _fields(table, options)
    field = detected or existing_column(table, named or "scores")
    used = [field] if judges is None else [judges, field]
    item = require_column("item", table, options.item, used)
    gold = gold_column(tables, [item, *used])
    rows = list[Row]()
    for record in load_records(tables):
        pairs = _pairs(record, judges, field)
        if pairs is None and judges is not None:
            raise BadFile(
                f"{table.name}: an object has {judges!r} and {field!r} of different lengths. Write "
                "one label per annotator."
            )
        about = {"item": record.get(item), "gold": record.get(gold) if gold else None}
        rows += [
            Row(annotator=who, label=_value_at(label, path), **about) for who, label in pairs or ()
        ]
    frame = frame_of_rows(rows)
    where = judges or f"keys of {field}"
    return ParsedResponses(
        frame,
        {"item": item, "annotator": where, "label": ".".join([field, *path])},
        gold=frame.select("item", pl.col("gold").alias(gold)) if gold else None,
    )


def _value_at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _pairs(record: Record, judges: str | None, field: str) -> Pairs | None:
    """Return the judges and what they said; None if the fields have another form."""
    value = record.get(field)
    if judges is not None:
        lists = names, labels = record.get(judges) or [], value or []
        are_lists = all(isinstance(one, list) for one in lists)
        return list(zip(*lists, strict=True)) if are_lists and len(names) == len(labels) else None
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return None
    keys = list(dict.fromkeys(key for row in value for key in row))
    judge, label = (name_of_role(role, keys) for role in ("annotator", "label"))
    if judge is None or label is None:
        return None
    return [(row.get(judge), row.get(label)) for row in value]


def _fields(table: Table, options: ColumnOptions) -> tuple[str | None, str | None]:
    """Return the fields of judges, None if labels are mapped by judge, and of labels, if any.

    Of fields that map judges to labels, one of a usual name is meant, or else the only one that
    holds lists of objects which name an annotator.
    """
    records = list(islice(load_records([table]), _SAMPLE))
    named = (options.label or "").partition(".")[0]
    lists = {
        name.removesuffix("s"): name
        for name in table.columns
        if all(isinstance(row.get(name, []), list) for row in records)
    }
    judges = options.annotator or lists.get(name_of_role("annotator", list(lists)) or "")
    others = [name for name in lists if lists[name] != judges]
    label = named or lists.get(name_of_role("label", others) or "")
    who = judges if isinstance(judges, str) and judges in lists.values() else None
    if who and label and all(_pairs(row, who, label) is not None for row in records):
        return who, label
    names = [named] if named else table.columns
    values = {name: [row for row in records if row.get(name)] for name in names}
    fields = [name for name, rows in values.items() if _are_judgements(rows, name)]
    usual = [name for name in fields if named or base_name(name) in _FIELDS]
    likely = usual or [
        name for name in fields if all(_names_annotators(row[name]) for row in values[name])
    ]
    return None, likely[0] if len(likely) == 1 else None


def _names_annotators(value: Any) -> bool:
    names = {base_name(key) for row in value for key in row} if isinstance(value, list) else set()
    return bool(names & TIERS["annotator"][0])


def _are_judgements(records: Sequence[Record], field: str) -> bool:
    """Return whether all records name judges and what they said, and at least two judges."""
    pairs = [_pairs(record, None, field) for record in records]
    labels = [label for row in pairs for _, label in row or () if label is not None]
    judges = {name_of(judge) for row in pairs for judge, _ in row or ()}
    are_plain = all(isinstance(label, str | int | float) for label in labels)
    are_objects = any(labels) and all(isinstance(label, dict) for label in labels)
    return all(pairs) and len(judges) > 1 and (are_plain or are_objects)
