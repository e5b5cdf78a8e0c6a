"""Argilla's records in JSON: nested, as ``records.to_json`` writes them, or flat, as datasets are.

Answers of people are in ``responses``, those of models in ``suggestions``, named by their agent.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from blindfuse.errors import BadFile
from blindfuse.readers.answers import Answers, Row, counted, first_choice, from_rows, shaped
from blindfuse.readers.guessing import Asked
from blindfuse.readers.tables import Record, Table, all_records

_FLAT = ".responses"
_MODEL = "suggestion"
_LEFT_OUT = ("draft", "discarded")

Said = tuple[str, Any, Any, Any]
"""Question, annotator, label, status."""


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there are records with fields and responses, or columns of responses."""
    columns = tables[0].columns
    nested = "fields" in columns and ("responses" in columns or "suggestions" in columns)
    return tables[0].records is not None and (nested or any(map(_is_flat, columns)))


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """Submitted responses and suggestions about one question."""
    table, item = tables[0], asked.item or "id"
    rows: list[Row] = []
    unsent = several = 0
    with shaped(table.name, "Argilla"):
        for record in all_records(tables):
            name = _item(table, record, item)
            rows.append((None, name, None, None))
            for question, annotator, value, status in _said(record):
                label, more = first_choice(value)
                several += more
                if status in _LEFT_OUT:
                    unsent += 1
                elif not isinstance(label, dict | list):
                    rows.append((question, name, annotator, label))
    frame, chosen = from_rows(table.name, rows, asked.label or asked.question)
    notes = [
        *counted(unsent, "drafts and discarded responses left out"),
        *counted(several, "answers with several choices: the first is taken"),
    ]
    return Answers(frame, {"item": item, "annotator": "user_id or agent", "label": chosen}, notes)


def _is_flat(column: str) -> bool:
    return column.endswith(_FLAT)


def _item(table: Table, record: Record, item: str) -> Any:
    for part in (record, record.get("fields") or {}, record.get("metadata") or {}):
        if item in part:
            return part[item]
    raise BadFile(f"{table.name} has a record without {item!r}. Say another with item=.")


def _said(record: Record) -> Iterator[Said]:
    for question, responses in (record.get("responses") or {}).items():
        for one in responses:
            yield question, one.get("user_id"), one.get("value"), one.get("status")
    for question, suggestion in (record.get("suggestions") or {}).items():
        if suggestion:
            yield question, suggestion.get("agent") or _MODEL, suggestion.get("value"), None
    for column in filter(_is_flat, record):
        question = column.removesuffix(_FLAT)
        parts = (record.get(column + suffix) or [] for suffix in ("", ".users", ".status"))
        for value, user, status in zip_longest(*parts):
            yield question, user, value, status
        suggested = record.get(f"{question}.suggestion")
        if suggested is not None:
            yield question, record.get(f"{question}.suggestion.agent") or _MODEL, suggested, None
