"""JSON lines, and JSON documents that contain a list of objects."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.delimited import check_utf8, decode_head
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import Record, Table, cell_text, check_columns
from blindfuse.responses.column_names import is_known_name, name_of_role
from blindfuse.responses.detection import SAMPLE_ROWS

_BOM = b"\xef\xbb\xbf"
_LINES_EXTENSIONS = ("jsonl", "ndjson")

_SPACE = re.compile(r"\s*")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escaped surrogate: valid JSON, but text only as one half of a pair."""


def open_json(source: Source) -> Table:
    """Return the objects of a JSON file as a table; nested values become JSON text."""
    start = decode_head(source).lstrip()
    first_line, _, others = start.partition("\n")
    if not start.startswith("{"):
        return _open_document(source)
    is_one_line = source.fits_in_head and not others.strip()
    if source.extension not in _LINES_EXTENSIONS and is_one_line:
        return _open_document(source)
    if source.extension in _LINES_EXTENSIONS or _is_json_value(first_line):
        return _open_lines(source)
    return _open_document(source)


def is_json(source: Source) -> bool:
    """Return whether the file starts with an object or a list."""
    return source.head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")


def _open_lines(source: Source) -> Table:
    def load(columns: Sequence[str]) -> pl.DataFrame:
        data = source.read().removeprefix(_BOM)
        if _SURROGATE.search(data):  # Polars reads an unpaired one as NUL
            _check_lines(source, data)
        try:
            return pl.read_ndjson(data, schema=dict.fromkeys(columns, pl.String)).select(columns)
        except pl.exceptions.PolarsError:  # Polars refuses NaN, which Python writes
            return _to_frame(source.name, list(_parse_lines(source, data)), columns)

    def records() -> Iterator[Record]:
        yield from _parse_lines(source, source.read())

    head = decode_head(source).encode()
    sample = list(islice(_parse_lines(source, head), SAMPLE_ROWS))
    return Table(source, "JSON lines", _to_frame(source.name, sample), load, records)


def _check_lines(source: Source, data: bytes) -> None:
    """Raise BadFile at the first malformed line, if there is one."""
    for _ in _parse_lines(source, data):
        pass


def _parse_lines(source: Source, data: bytes) -> Iterator[Record]:
    for number, line in enumerate(data.removeprefix(_BOM).splitlines(), 1):
        if not line.strip():
            continue
        record = _parse_or_none(line)
        if not isinstance(record, dict):
            check_utf8(source)
            raise BadFile(
                f"{source.name}, line {number:,} is not a JSON object: {_parse_error(line)}. "
                "Write one object per line."
            )
        yield record


def _open_document(source: Source) -> Table:
    check_utf8(source)
    data = source.read().removeprefix(_BOM)
    document = _parse_or_none(data)
    if document is None:
        document = _parse_joined(data)
    if document is None and isinstance(_parse_or_none(data.strip().partition(b"\n")[0]), list):
        document = []  # one list per line
    if document is None:
        raise BadFile(f"{source.name} is not JSON: {_parse_error(data)}. Export it again.")
    objects = _find_objects(document)
    if not any(objects) or not all(isinstance(one, dict) for one in objects):
        raise BadFile(
            f"{source.name} does not contain a list of JSON objects. Write one object per "
            'response, as in [{"item": …, "annotator": …, "label": …}, …].'
        )
    frame = _to_frame(source.name, objects)
    load: Callable[[Sequence[str]], pl.DataFrame] = frame.select
    return Table(source, "JSON", frame.head(SAMPLE_ROWS), load, lambda: iter(objects))


def _find_objects(document: Any) -> list[Any]:
    """Return the rows of a document as objects.

    The document is a list of objects; an object with one list of objects, such as ``results``;
    lists of objects by item or annotator; labels by item; a table by columns, as pandas writes it;
    or a single object.
    """
    if isinstance(document, list):
        return document
    if "data" in document and _TASK_LISTS & document.keys():
        return [document]  # one task of Label Studio
    lists = [value for value in document.values() if _is_list_of_objects(value)]
    if len(lists) == 1:
        return list(lists[0])
    if lists and len(lists) == len(document):
        return _rows_of_lists(document)
    inner = [value for value in document.values() if isinstance(value, dict)]
    if len(document) == 1 and inner and any(map(_is_list_of_objects, inner[0].values())):
        return _find_objects(inner[0])
    if len(document) > 2 and _maps_items_to_labels(document):
        return [{"item": key, "label": value} for key, value in document.items()]
    if any(not isinstance(value, dict | list) for value in document.values()):
        return [document]
    return _rows_of_columns(document)


def _maps_items_to_labels(document: dict[str, Any]) -> bool:
    """Return whether an object is ``{item: label}``, such as gold labels, and not one record."""
    are_plain = all(isinstance(value, str | int | float) for value in document.values())
    return are_plain and not any(map(is_known_name, document))


_TASK_LISTS = {"annotations", "completions", "predictions"}


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _rows_of_lists(document: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of ``{item: [response]}`` or ``{annotator: [response]}``.

    The keys have the one of these roles that no field of the responses has.
    """
    first, *others = (rows[0].keys() for rows in document.values())
    fields = [field for field in first if all(field in one for one in others)]
    absent = [role for role in ("item", "annotator") if name_of_role(role, fields) is None]
    if len(absent) != 1 or name_of_role("label", fields) is None:
        return []
    return [{absent[0]: key, **row} for key, rows in document.items() for row in rows]


def _rows_of_columns(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of ``{column: {row: value}}``, ``{column: [value]}`` or pandas' "split"."""
    if {"columns", "data"} <= document.keys() <= {"columns", "index", "data"}:
        names, rows = document["columns"], document["data"]
        if isinstance(rows, list) and all(isinstance(row, list) for row in rows):
            return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    columns = list(document.values())
    if len(columns) > 1 and all(isinstance(one, dict) for one in columns):
        return _rows_of_objects(document)
    if len(columns) > 1 and all(isinstance(one, list) for one in columns):
        lengths = {len(one) for one in columns}
        if len(lengths) == 1 and 0 not in lengths and not all(map(_is_list_of_objects, columns)):
            return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]
    return []


def _rows_of_objects(document: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of ``{column: {row: value}}`` or ``{row: {column: value}}``.

    Rows are those that are numbered, or have no known column names, or are more.
    """
    inner = list(dict.fromkeys(key for one in document.values() for key in one))
    if _are_rows(list(document), inner):
        return [{"": row, **values} for row, values in document.items()]
    rows = [{name: document[name].get(key) for name in document} for key in inner]
    are_numbered = inner == [str(number) for number in range(len(inner))]
    return (
        rows if are_numbered else [{"": key, **row} for key, row in zip(inner, rows, strict=True)]
    )


def _are_rows(names: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether these names are those of rows, and the others those of columns."""
    for is_column, is_row in ((others, names), (names, others)):
        if any(map(is_known_name, is_column)) or all(one.isdecimal() for one in is_row):
            return is_row is names
    return len(names) > len(others)


def _to_frame(
    name: str, records: Sequence[Record], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the objects as rows of text, with these columns or with all fields."""
    if columns is None:
        fields = dict.fromkeys(key for record in records for key in record)
        columns = check_columns(name, list(fields))
    cells = {column: [cell_text(record.get(column)) for record in records] for column in columns}
    return pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))


def _is_json_value(text: str) -> bool:
    """Return whether the text parses as JSON, unpaired surrogates included."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def parse_json(text: bytes) -> Any:
    """Return the parsed value; raise ValueError for invalid JSON and for unpaired surrogates."""
    value = json.loads(text.decode())
    if _SURROGATE.search(text):  # encoding fails unless they are paired
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _parse_joined(text: bytes) -> list[Any] | None:
    """Return the objects of a document that consists of several, as jq writes them."""
    decoder, document, at = json.JSONDecoder(), text.decode().strip(), 0
    objects: list[Any] = []
    if _SURROGATE.search(text):  # rare, and may be unpaired
        return None
    try:
        while at < len(document):
            value, at = decoder.raw_decode(document, at)
            objects.append(value)
            at = _SPACE.match(document, at).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None
    return objects if len(objects) > 1 and all(isinstance(one, dict) for one in objects) else None


def _parse_or_none(text: bytes) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return None


def _parse_error(text: bytes) -> str:
    try:
        parse_json(text)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return "it is another type of value"
