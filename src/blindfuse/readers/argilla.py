"""Argilla records in JSON or Parquet: nested, as in ``records.to_json``, or flat, as in datasets.

Responses of people are in ``responses``, those of models in ``suggestions``, named by their agent.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from blindfuse.errors import BadFile
from blindfuse.readers.reader import (
    ParsedResponses,
    Row,
    expected_structure,
    frame_of_rows,
    select_question,
    suggestion_note,
)
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.notes import count_note

TITLE = "Argilla records"

_FLAT = ".responses"
_SKIPPED, _SUGGESTED = ("draft", "discarded"), "suggested"
"""Statuses: of responses that do not count, and of what models suggest."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are records with fields and responses, or columns of responses."""
    columns = tables[0].columns
    nested = "fields" in columns and ("responses" in columns or "suggestions" in columns)
    flat = any(column.endswith(_FLAT) for column in columns)
    return tables[0].records is not None and (nested or flat)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the submitted responses and the suggestions for one question."""
    table, item = tables[0], options.item or "id"
    rows, counts = list[Row](), Counter[str]()
    with expected_structure(table.name, "Argilla"):
        for record in load_records(tables):
            name = _item(table, record, item)
            rows.append(Row(name))
            for question, who, value, status in _responses(record):
                choices = value if isinstance(value, list) or value is None else [value]
                if status in _SKIPPED:
                    counts["skipped"] += 1
                elif not any(isinstance(one, dict | list) for one in choices or ()):
                    rows.append(Row(name, who, choices, question))
                    counts[status] += 1
    frame = frame_of_rows(rows)
    frame, question = select_question(table.name, frame, options.with_label_as_question())
    columns = {"item": item, "annotator": "user_id or agent", "label": question}
    notes = [
        *count_note(counts["skipped"], "draft or discarded response{s} skipped"),
        *suggestion_note(counts[_SUGGESTED], "suggestion"),
    ]
    return ParsedResponses(frame, columns, notes)


def _item(table: Table, record: Record, item: str) -> Any:
    for fields in (record, record.get("fields") or {}, record.get("metadata") or {}):
        if item in fields:
            return fields[item]
    raise BadFile(f"{table.name} has a record without {item!r}. Name another field with item=.")


def _responses(record: Record) -> Iterator[tuple[str, Any, Any, Any]]:
    """Iterate over the questions, annotators, values and statuses in a record of either form."""
    for question, responses in (record.get("responses") or {}).items():
        for one in responses:
            yield question, one.get("user_id"), one.get("value"), one.get("status")
    suggestions = {
        question: (suggestion.get("agent"), suggestion.get("value"))
        for question, suggestion in (record.get("suggestions") or {}).items()
        if suggestion
    }
    for column in record:
        if column.endswith(_FLAT):
            question = column.removesuffix(_FLAT)
            lists = (record.get(column + suffix) or [] for suffix in (".users", "", ".status"))
            for who, value, status in zip_longest(*lists):
                yield question, who, value, status
            suggested = f"{question}.suggestion"
            if record.get(suggested) is not None:
                suggestions[question] = record.get(f"{suggested}.agent"), record[suggested]
    for question, (agent, value) in suggestions.items():
        yield question, agent or "suggestion", value, _SUGGESTED
