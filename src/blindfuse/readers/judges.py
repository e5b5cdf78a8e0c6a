"""Judgements in JSON: one object per item, with an object that maps judges to labels or scores."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from blindfuse.readers.nested_values import name_of
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.tables import Table
from blindfuse.responses.detection import (
    ColumnOptions,
    base_name,
    detect_column,
    existing_column,
    gold_column,
    require_column,
)

NAME = "judges"
TITLE = "judgements by item"

_FIELDS = (
    *("scores", "score", "ratings", "rating", "judgements", "judgments", "verdicts", "votes"),
    *("labels", "responses", "answers", "grades", "annotations", "predictions"),
)
"""Names of a field that maps judges to what they reported."""

_SAMPLE = 50
"""Objects that must have this structure for the format to be recognized."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether one field maps several judges to labels, and no column names annotators."""
    if options.annotator or not all(table.records is not None for table in tables):
        return False
    field = _judgement_field(tables[0], options)
    return field is not None and detect_column("annotator", tables[0], None, [field]) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per item and judge."""
    first = tables[0]
    field = _judgement_field(first, options) or existing_column(first, options.label or "scores")
    item = require_column("item", first, options.item, [field])
    gold = gold_column(tables, [item, field])
    rows: list[tuple[str | None, str, str | None]] = []
    truths: list[tuple[str | None, str | None]] = []
    for record in _records(tables):
        name, given = name_of(record.get(item)), record.get(field)
        judgements = given if isinstance(given, dict) else {}
        rows += [(name, judge, name_of(value)) for judge, value in judgements.items()]
        truths.append((name, name_of(record.get(gold)) if gold else None))
    return ParsedResponses(
        _frame(rows, ("item", "annotator", "label")),
        {"item": item, "annotator": f"keys of {field}", "label": f"values of {field}"},
        gold=GoldLabels(_frame(truths, ("item", "label")).drop_nulls(), gold) if gold else None,
    )


def _judgement_field(table: Table, options: ColumnOptions) -> str | None:
    """Return the only field that maps judges to plain values; None if there is no such field."""
    records = [record for record, _ in zip(_records([table]), range(_SAMPLE), strict=False)]
    named = [options.label] if options.label else table.columns
    found = [
        column
        for column in named
        if (options.label or base_name(column) in _FIELDS)
        and _are_judgements([record.get(column) for record in records])
    ]
    return found[0] if len(found) == 1 else None


def _are_judgements(values: Sequence[Any]) -> bool:
    """Return whether all values are objects of plain values, with at least two keys in all."""
    objects = [value for value in values if value is not None]
    if not objects or not all(isinstance(value, dict) for value in objects):
        return False
    plain = all(
        one is None or isinstance(one, str | int | float)
        for value in objects
        for one in value.values()
    )
    return plain and len({key for value in objects for key in value}) > 1


def _records(tables: Sequence[Table]) -> Any:
    return (record for table in tables if table.records for record in table.records())


def _frame(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
