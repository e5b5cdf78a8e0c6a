"""JSON lines, and JSON documents that hold a list of objects."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.delimited import refuse_invalid_text, start_of_text
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import SAMPLE, Record, Table, checked


def table(source: Source) -> Table:
    """The objects of a JSON file as a table; what is nested in them is JSON text in its cells."""
    start = start_of_text(source).lstrip()
    first = start.partition("\n")[0]
    if start.startswith("{") and (_is_whole(first) or source.ending in _LINES):
        return _lines(source)
    return _document(source)


_LINES = ("jsonl", "ndjson")


def is_json(source: Source) -> bool:
    """Whether the file starts as JSON does."""
    return source.head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _lines(source: Source) -> Table:
    def load(columns: Sequence[str]) -> pl.DataFrame:
        data = source.read().removeprefix(b"\xef\xbb\xbf")
        if _HALF_LETTER.search(data):  # Polars would take one that stands alone for a NUL
            _refuse_bad_lines(source, data)
        try:
            return pl.read_ndjson(data, schema=dict.fromkeys(columns, pl.String)).select(columns)
        except pl.exceptions.PolarsError as error:
            _refuse_bad_lines(source, data)
            raise BadFile(f"{source.name} is not JSON lines: {error}.") from None

    def records() -> Iterator[Record]:
        yield from _each_line(source, source.read())

    start = start_of_text(source).encode()
    sample = list(islice(_each_line(source, start), SAMPLE))
    return Table(source, "JSON lines", _as_frame(source.name, sample), load, records)


def _refuse_bad_lines(source: Source, data: bytes) -> None:
    """An error at the first line that is wrong, if there is one."""
    for _ in _each_line(source, data):
        pass


def _each_line(source: Source, data: bytes) -> Iterator[Record]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        record = _parsed(line)
        if not isinstance(record, dict):
            refuse_invalid_text(source)
            raise BadFile(
                f"{source.name}, line {number:,} is no JSON object: {_reason(line)}. "
                "Every line must be one."
            )
        yield record


def _document(source: Source) -> Table:
    refuse_invalid_text(source)
    data = source.read().removeprefix(b"\xef\xbb\xbf")
    document = _parsed(data)
    if document is None:
        raise BadFile(f"{source.name} is not JSON: {_reason(data)}. Export it again.")
    found = _objects(document)
    if not any(found) or not all(isinstance(one, dict) for one in found):
        raise BadFile(f"{source.name} holds no list of JSON objects. Export it again.")
    frame = _as_frame(source.name, found)
    load: Callable[[Sequence[str]], pl.DataFrame] = frame.select
    return Table(source, "JSON", frame.head(SAMPLE), load, lambda: iter(found))


def _objects(document: Any) -> list[Any]:
    """The list that is the document, or the only list of objects in it, or the object itself."""
    if isinstance(document, list):
        return document
    lists = [
        value
        for value in document.values()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    return lists[0] if len(lists) == 1 and len(document) <= 3 else [document]


def _as_frame(name: str, records: Sequence[Record]) -> pl.DataFrame:
    columns = checked(name, list(dict.fromkeys(key for record in records for key in record)))
    cells = {column: [cell(record.get(column)) for record in records] for column in columns}
    return pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))


def cell(value: Any) -> str | None:
    """A value of JSON as text: as it is if it is text, else as JSON."""
    return (
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    )


def _is_whole(text: str) -> bool:
    """Whether this is a value of JSON, though perhaps one that no text can hold."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(text: bytes) -> Any:
    try:
        return loaded(text)
    except (ValueError, RecursionError):
        return None


def loaded(text: bytes) -> Any:
    """The value that JSON stands for; a ValueError where it is none, or holds half a letter."""
    value = json.loads(text.decode())
    if _HALF_LETTER.search(text):  # two of them may make one letter
        json.dumps(value, ensure_ascii=False).encode()
    return value


_HALF_LETTER = re.compile(rb"\\u[dD][89a-fA-F]")


def _reason(text: bytes) -> str:
    try:
        loaded(text)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return "it is another kind of value"
