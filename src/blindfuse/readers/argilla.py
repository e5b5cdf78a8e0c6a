"""Argilla records in JSON or Parquet: nested, as in ``records.to_json``, or flat, as in datasets.

Responses of people are in ``responses``, those of models in ``suggestions``, named by their agent.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from blindfuse.errors import BadFile
from blindfuse.readers.nested_values import choose
from blindfuse.readers.parsed_responses import ParsedResponses, expected_structure, suggestion_note
from blindfuse.readers.questions import Row, select_from_rows
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.notes import count_note

NAME = "argilla"
TITLE = "Argilla records"

_FLAT = ".responses"
_MODEL = "suggestion"
_SKIPPED_STATUS = ("draft", "discarded")


class _Response(NamedTuple):
    question: str
    annotator: Any
    value: Any
    status: Any
    is_suggested: bool = False


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are records with fields and responses, or columns of responses."""
    columns = tables[0].columns
    nested = "fields" in columns and ("responses" in columns or "suggestions" in columns)
    return tables[0].records is not None and (nested or any(map(_is_flat, columns)))


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the submitted responses and the suggestions for one question."""
    table, item = tables[0], options.item or "id"
    rows: list[Row] = []
    skipped = several = suggested = 0
    with expected_structure(table.name, "Argilla"):
        for record in load_records(tables):
            name = _item(table, record, item)
            rows.append((None, name, None, None))
            for response in _responses(record):
                label, has_more = choose(response.value, options.all_choices)
                several += has_more
                if response.status in _SKIPPED_STATUS:
                    skipped += 1
                elif _names_classes(response.value):
                    rows.append((response.question, name, response.annotator, label))
                    suggested += response.is_suggested
    frame, question = select_from_rows(table.name, rows, options.with_label_as_question())
    columns = {"item": item, "annotator": "user_id or agent", "label": question}
    notes = [
        *count_note(skipped, "draft or discarded response{s} skipped"),
        *suggestion_note(suggested, "suggestion"),
    ]
    return ParsedResponses(frame, columns, notes, several=several)


def _names_classes(value: Any) -> bool:
    """Return whether a value is a class or a list of classes, and not a ranking or a span."""
    values = value if isinstance(value, list) else [value]
    return not any(isinstance(one, dict | list) for one in values)


def _is_flat(column: str) -> bool:
    return column.endswith(_FLAT)


def _item(table: Table, record: Record, item: str) -> Any:
    for fields in (record, record.get("fields") or {}, record.get("metadata") or {}):
        if item in fields:
            return fields[item]
    raise BadFile(f"{table.name} has a record without {item!r}. Name another field with item=.")


def _responses(record: Record) -> Iterator[_Response]:
    for question, responses in (record.get("responses") or {}).items():
        for one in responses:
            yield _Response(question, one.get("user_id"), one.get("value"), one.get("status"))
    for question, suggestion in (record.get("suggestions") or {}).items():
        if suggestion:
            agent = suggestion.get("agent") or _MODEL
            yield _Response(question, agent, suggestion.get("value"), None, True)
    for column in filter(_is_flat, record):
        yield from _flat_responses(record, column)


def _flat_responses(record: Record, column: str) -> Iterator[_Response]:
    question = column.removesuffix(_FLAT)
    lists = (record.get(column + suffix) or [] for suffix in ("", ".users", ".status"))
    for value, user, status in zip_longest(*lists):
        yield _Response(question, user, value, status)
    suggested = record.get(f"{question}.suggestion")
    if suggested is not None:
        agent = record.get(f"{question}.suggestion.agent") or _MODEL
        yield _Response(question, agent, suggested, None, True)
