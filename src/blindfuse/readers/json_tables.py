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
from blindfuse.responses.detection import SAMPLE_ROWS

_BOM = b"\xef\xbb\xbf"
_LINES_EXTENSIONS = ("jsonl", "ndjson")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escaped surrogate: valid JSON, but text only as one half of a pair."""


def open_json(source: Source) -> Table:
    """Return the objects of a JSON file as a table; nested values become JSON text."""
    start = decode_head(source).lstrip()
    first_line = start.partition("\n")[0]
    if start.startswith("{") and (
        _is_json_value(first_line) or source.extension in _LINES_EXTENSIONS
    ):
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
        except pl.exceptions.PolarsError as error:
            _check_lines(source, data)
            raise BadFile(f"{source.name} is not JSON lines: {error}. Export it again.") from None

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
        raise BadFile(f"{source.name} is not JSON: {_parse_error(data)}. Export it again.")
    objects = _find_objects(document)
    if not any(objects) or not all(isinstance(one, dict) for one in objects):
        raise BadFile(f"{source.name} does not contain a list of JSON objects. Export it again.")
    frame = _to_frame(source.name, objects)
    load: Callable[[Sequence[str]], pl.DataFrame] = frame.select
    return Table(source, "JSON", frame.head(SAMPLE_ROWS), load, lambda: iter(objects))


def _find_objects(document: Any) -> list[Any]:
    """Return the document if it is a list, its only list of objects, or the object itself."""
    if isinstance(document, list):
        return document
    lists = [
        value
        for value in document.values()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    return lists[0] if len(lists) == 1 and len(document) <= 3 else [document]


def _to_frame(name: str, records: Sequence[Record]) -> pl.DataFrame:
    columns = check_columns(name, list(dict.fromkeys(key for record in records for key in record)))
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
