"""Judgements in JSON: one object per item, with what several judges said about it.

That is an object that maps judges to labels, scores or verdicts with fields of their own, a list of
objects with a judge and a label each, or a list of judges beside a list of labels.
"""

from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.nested_values import name_of, plain_labels
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.tables import Table, cell_text
from blindfuse.responses.column_names import TIERS, base_name, name_of_role
from blindfuse.responses.detection import (
    ColumnOptions,
    detect_column,
    existing_column,
    gold_column,
    require_column,
)

NAME = "judges"
TITLE = "judgements by item"

_FIELDS = (
    *("scores", "score", "ratings", "rating", "judgements", "judgments", "verdicts", "votes"),
    *("labels", "responses", "answers", "grades", "annotations", "predictions", "judges", "models"),
)
"""Names of a field that maps judges to what they reported."""

_SAMPLE = 50
"""Objects that must have this structure for the format to be recognized."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether one field maps several judges to labels, and no column names annotators."""
    if not all(table.records is not None for table in tables):
        return False
    if _parallel_fields(tables[0], options) is not None:
        return True
    field = None if options.annotator else _judgement_field(tables[0], options)
    return field is not None and detect_column("annotator", tables[0], None, [field]) is None


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per item and judge."""
    first = tables[0]
    parallel = _parallel_fields(first, options)
    judges, field = parallel or (None, _judgement_field(first, options))
    field = field or existing_column(first, options.label or "scores")
    used = [one for one in (judges, field) if one is not None]
    item = require_column("item", first, options.item, used)
    gold = gold_column(tables, [item, *used])
    rows: list[tuple[str | None, str | None, str | None]] = []
    truths: list[tuple[str | None, str | None]] = []
    for record in _records(tables):
        name = name_of(record.get(item))
        pairs = _pairs(first, record, judges, field)
        rows += [(name, name_of(judge), _cell(value)) for judge, value in pairs]
        truths.append((name, name_of(record.get(gold)) if gold else None))
    frame = _frame(rows, ("item", "annotator", "label"))
    cells = frame["label"].alias(field)
    labels, several, notes = plain_labels(first.name, cells, options.all_choices)
    return ParsedResponses(
        frame.with_columns(label=labels),
        {"item": item, "annotator": judges or f"keys of {field}", "label": f"values of {field}"},
        notes,
        several=several,
        gold=GoldLabels(_frame(truths, ("item", "label")).drop_nulls(), gold) if gold else None,
    )


def _parallel_fields(table: Table, options: ColumnOptions) -> tuple[str, str] | None:
    """Return the fields that hold lists of judges and of labels of equal lengths, or None."""
    if not isinstance(options.annotator, str | None):
        return None
    judges = detect_column("annotator", table, options.annotator)
    if judges is None or judges not in _list_fields(table):
        return None
    lists = [name for name in _list_fields(table) if name != judges]
    field = options.label or name_of_role("label", [name.removesuffix("s") for name in lists])
    found = next((name for name in lists if field in (name, name.removesuffix("s"))), None)
    records = _first_records(table)
    if found is None or not all(_are_parallel(one.get(judges), one.get(found)) for one in records):
        return None
    return judges, found


def _list_fields(table: Table) -> list[str]:
    """Return the fields that hold lists in the first records."""
    records = _first_records(table)
    return [
        name
        for name in table.columns
        if records and all(isinstance(one.get(name, []), list) for one in records)
    ]


def _are_parallel(judges: Any, labels: Any) -> bool:
    return isinstance(judges, list) and isinstance(labels, list) and len(judges) == len(labels)


def _pairs(
    table: Table, record: Mapping[str, Any], judges: str | None, field: str
) -> list[tuple[Any, Any]]:
    """Return the judges of a record and what they said."""
    if judges is None:
        return _judgements(record.get(field))
    names, labels = record.get(judges) or [], record.get(field) or []
    if not _are_parallel(names, labels):
        raise BadFile(
            f"{table.name}: an object has {judges!r} and {field!r} of different lengths "
            f"({short(names)} and {short(labels)}). Write one label per annotator."
        )
    return list(zip(names, labels, strict=True))


def _first_records(table: Table) -> list[Any]:
    return [record for record, _ in zip(_records([table]), range(_SAMPLE), strict=False)]


def _judgement_field(table: Table, options: ColumnOptions) -> str | None:
    """Return the only field that maps judges to plain values; None if there is no such field."""
    records = _first_records(table)
    named = [options.label] if options.label else table.columns
    values = {column: [record.get(column) for record in records] for column in named}
    fields = [column for column in named if _are_judgements(values[column])]
    likely = [one for one in fields if options.label or base_name(one) in _FIELDS]
    found = likely or [one for one in fields if _name_annotators(values[one])]
    return found[0] if len(found) == 1 else None


def _name_annotators(values: Sequence[Any]) -> bool:
    """Return whether judgements are lists of objects, of which a field clearly is the annotator."""
    lists = [value for value in values if value]
    return all(
        isinstance(value, list)
        and any(base_name(key) in TIERS["annotator"][0] for one in value for key in one)
        for value in lists
    )


def _are_judgements(values: Sequence[Any]) -> bool:
    """Return whether all values name judges and what they said, with at least two judges in all."""
    given = [value for value in values if value]  # an item may have no judgement
    if not given or not all(isinstance(value, dict | list) for value in given):
        return False
    pairs = [_judgements(value) for value in given]
    if not all(pairs):
        return False
    reported = [value for one in pairs for _, value in one]
    are_objects = [isinstance(value, dict) for value in reported if value is not None]
    are_plain = all(_is_plain(value) for value in reported)
    judges = {name_of(judge) for one in pairs for judge, _ in one}
    return len(judges) > 1 and (are_plain or (all(are_objects) and any(map(bool, reported))))


def _judgements(value: Any) -> list[tuple[Any, Any]]:
    """Return the judges and what they said, or an empty list if the value has another form."""
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    fields = list(dict.fromkeys(key for one in value for key in one))
    judge, label = (name_of_role(role, fields) for role in ("annotator", "label"))
    if judge is None or label is None:
        return []
    return [(one.get(judge), one.get(label)) for one in value]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _cell(value: Any) -> str | None:
    """Return what a judge said as text; objects as JSON."""
    return cell_text(value) if isinstance(value, dict) else name_of(value)


def _records(tables: Sequence[Table]) -> Any:
    return (record for table in tables if table.records for record in table.records())


def _frame(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
