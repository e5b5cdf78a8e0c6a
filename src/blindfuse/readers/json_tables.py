"""JSON lines, and JSON documents that contain a list of objects."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers.delimited import check_utf8, decode_head
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import Record, Table, check_columns
from blindfuse.responses.column_names import is_known_name, name_of_role
from blindfuse.responses.detection import SAMPLE_ROWS
from blindfuse.responses.markers import cell_text

_LINES = "JSON lines"
_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escaped surrogate: valid JSON, but text only as one half of a pair."""
_TASK_LISTS = {"annotations", "completions", "predictions"}
"""Fields of a task of Label Studio."""
_LOG = {"eval", "samples"}
"""Fields of a log of Inspect."""


def is_json(source: Source) -> bool:
    """Return whether the file starts with an object or a list."""
    return source.head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")


def open_json(source: Source) -> Table:
    """Return the objects of a JSON file as a table; nested values become JSON text."""
    start = decode_head(source).strip()
    first_line, _, others = start.partition("\n")
    if source.extension in ("jsonl", "ndjson"):
        return _open_lines(source) if start.startswith("{") else _open_document(source)
    is_one_line = source.fits_in_head and not others
    are_objects = start.startswith("{") and first_line.rstrip().endswith("}")
    return _open_lines(source) if are_objects and not is_one_line else _open_document(source)


def _open_lines(source: Source) -> Table:
    def load(columns: Sequence[str]) -> pl.DataFrame:
        data = source.read().removeprefix(_BOM)
        try:
            if not _SURROGATE.search(data):  # Polars reads an unpaired one as NUL
                schema = dict.fromkeys(columns, pl.String)
                return pl.read_ndjson(data, schema=schema).select(columns)
        except pl.exceptions.PolarsError:
            pass  # Polars refuses NaN, which Python writes
        return _to_frame(list(_parse_lines(source, data)), columns)

    def records() -> Iterator[Record]:
        yield from _parse_lines(source, source.read())

    head = decode_head(source).encode()
    sample = list(islice(_parse_lines(source, head), SAMPLE_ROWS))
    return Table(source, _LINES, _table_of(source, sample), load, records)


def _parse_lines(source: Source, data: bytes) -> Iterator[Record]:
    for number, line in enumerate(data.removeprefix(_BOM).splitlines(), 1):
        if not line.strip():
            continue
        record, error = _parse_or_error(line)
        if not isinstance(record, dict):
            check_utf8(source)
            raise BadFile(
                f"{source.name}, line {number:,} is not a JSON object: {error}. "
                "Write one object per line."
            )
        yield record


def refuse_late_fields(table: Table) -> None:
    """Raise BadFile if objects below the sample have other fields, which no column would hold."""
    if table.file_type != _LINES:
        return
    data = table.source.read().removeprefix(_BOM)
    try:
        names = pl.scan_ndjson(data, infer_schema_length=None).collect_schema().names()
    except pl.exceptions.PolarsError:
        names = [name for record in _parse_lines(table.source, data) for name in record]
    late = [name for name in dict.fromkeys(names) if name not in table.columns]
    if late:
        raise BadFile(
            f"{table.name} has the fields {list_names(late)} in none of its first {SAMPLE_ROWS:,} "
            "objects. Give the first object all fields, with null where a label is missing."
        )


def _open_document(source: Source) -> Table:
    check_utf8(source)
    data = source.read().removeprefix(_BOM)
    document, error = _parse_or_error(data)
    if document is None:
        raise BadFile(f"{source.name} is not JSON: {error}. Export it again.")
    objects = _find_objects(document)
    if not any(objects) or not all(isinstance(row, dict) for row in objects):
        raise BadFile(
            f"{source.name} does not contain a list of JSON objects. Write one object per "
            'response, as in [{"item": …, "annotator": …, "label": …}, …].'
        )
    frame = _table_of(source, objects)
    return Table(
        source,
        "JSON",
        frame.head(SAMPLE_ROWS),
        lambda columns: frame.select(columns),
        lambda: iter(objects),
    )


def _find_objects(document: Any) -> list[Any]:
    """Return the rows of a document as objects.

    The document is a list of objects; an object with one list of objects, such as ``results``;
    lists of objects by item or annotator; labels by item; a table by columns, as pandas writes it;
    or a single object.
    """
    if isinstance(document, list):
        return document
    if ("data" in document and _TASK_LISTS & document.keys()) or document.keys() >= _LOG:
        return [document]
    values = list(document.values())
    lists = [value for value in values if _is_list_of_objects(value)]
    if len(lists) == 1:
        return list(lists[0])
    if lists and len(lists) == len(document):
        return _rows_of_lists(document)
    inner = values[0] if len(document) == 1 else None
    if isinstance(inner, dict) and any(map(_is_list_of_objects, inner.values())):
        return _find_objects(inner)
    if any(not isinstance(value, dict | list) for value in values):
        are_labels = all(isinstance(value, str | int | float) for value in values)
        if len(document) > 2 and are_labels and not any(map(is_known_name, document)):
            return [{"item": key, "label": value} for key, value in document.items()]
        return [document]
    if document.keys() <= {"columns", "index", "data"}:  # as pandas splits a table
        names = [str(name) for name in document.get("columns", ())]
        return [dict(zip(names, row, strict=False)) for row in document.get("data", ())]
    if len(values) > 1 and all(isinstance(value, dict) for value in values):
        return _rows_of_objects(document)
    if len(values) > 1 and len({len(value) for value in values}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    return []


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _rows_of_lists(document: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of ``{item: [response]}`` or ``{annotator: [response]}``.

    The keys have the one of these roles that no field of the responses has.
    """
    first, *others = (rows[0].keys() for rows in document.values())
    fields = [field for field in first if all(field in keys for keys in others)]
    absent = [role for role in ("item", "annotator") if name_of_role(role, fields) is None]
    if len(absent) != 1 or name_of_role("label", fields) is None:
        return []
    return [{absent[0]: key, **row} for key, rows in document.items() for row in rows]


def _rows_of_objects(document: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of ``{column: {row: value}}`` or ``{row: {column: value}}``.

    Columns are those with known names, or rows are numbered, or rows are more.
    """
    inner = list(dict.fromkeys(key for row in document.values() for key in row))
    turned = {key: {name: row.get(key) for name, row in document.items()} for key in inner}
    for table, columns in ((document, inner), (turned, list(document))):
        if any(map(is_known_name, columns)) or all(row.isdecimal() for row in table):
            break
    else:
        table = max(turned, document, key=len)
    are_numbered = list(table) == [str(number) for number in range(len(table))]
    return [row if are_numbered else {"": name, **row} for name, row in table.items()]


def _table_of(source: Source, records: Sequence[Record]) -> pl.DataFrame:
    """Return the objects as rows of text, with all of their fields."""
    fields = dict.fromkeys(key for record in records for key in record)
    return _to_frame(records, check_columns(source.name, list(fields)))


def _to_frame(records: Sequence[Record], columns: Sequence[str]) -> pl.DataFrame:
    cells = {column: [cell_text(record.get(column)) for record in records] for column in columns}
    return pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))


def parse_json(text: bytes) -> Any:
    """Return the parsed value; raise ValueError for invalid JSON and for unpaired surrogates."""
    value = json.loads(text.decode())
    if _SURROGATE.search(text):  # encoding fails unless they are paired
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _parse_or_error(text: bytes) -> tuple[Any, str]:
    """Return the parsed value, or None and why it cannot be parsed."""
    try:
        return parse_json(text), "it is another type of value"
    except ValueError as error:
        return None, str(error)
    except RecursionError:
        return None, "it is nested too deeply"
