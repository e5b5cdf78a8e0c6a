"""Write and read small files of responses, and check notes and errors."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import BadFile, BlindfuseError, Read, Responses, read

Rows = list[tuple[str, str, str]]
"""Item, annotator, label."""
Cells = dict[tuple[str, str], str]
"""Labels by item and annotator."""

COLUMNS = ("item", "annotator", "label")
LONG = "item,annotator,label\n007,ann,1e5\n007,bob,x\n1e5,ann,x\n"
SMALL: Rows = [("i", "a", "x"), ("i", "b", "y"), ("j", "a", "x")]


def labels_by_name(responses: Responses) -> dict[tuple[str, str], str]:
    """Return ``{(item, annotator): label}``."""
    return {
        (str(responses.items[n]), str(responses.annotators[m])): str(responses.classes[code])
        for (n, m), code in np.ndenumerate(responses.matrix())
        if code >= 0
    }


def write_file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def stream(content: str | bytes) -> io.BytesIO:
    return io.BytesIO(content.encode() if isinstance(content, str) else content)


def as_csv(rows: Rows, separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([COLUMNS, *rows])
    return text.getvalue().encode()


def as_json_lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def as_table(rows: list[dict[str, Any]], separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_archive(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def _escaped_json_lines(rows: Rows) -> bytes:
    records = (dict(zip(COLUMNS, row, strict=True)) for row in rows)
    return "\n".join(json.dumps(record) for record in records).encode()


def _by_polars(method: str) -> Callable[[Rows], bytes]:
    def write(rows: Rows) -> bytes:
        data = io.BytesIO()
        schema = dict.fromkeys(COLUMNS, pl.String)
        getattr(pl.DataFrame(rows, schema=schema, orient="row"), method)(data)
        return data.getvalue()

    return write


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "CSV": as_csv,
    "TSV": lambda rows: as_csv(rows, "\t"),
    "semicolons": lambda rows: as_csv(rows, ";"),
    "JSONL": _escaped_json_lines,
    "JSON": lambda rows: b"[" + _escaped_json_lines(rows).replace(b"\n", b",") + b"]",
    "Parquet": _by_polars("write_parquet"),
    "Arrow": _by_polars("write_ipc"),
    "Arrow stream": _by_polars("write_ipc_stream"),
    "gzip": lambda rows: gzip.compress(as_csv(rows)),
}
"""Functions that write a long table, by file type."""


def has_note(found: Read[Any], text: str) -> bool:
    return any(text in note for note in found.notes)


def assert_refused(
    make: Callable[[], Any], *words: str, kind: type[BlindfuseError] = BadFile
) -> None:
    """Assert that the call raises an error of this kind, in one line that contains the words."""
    with pytest.raises(BlindfuseError) as caught:
        make()
    message = str(caught.value)
    assert type(caught.value) is kind, message
    assert "\n" not in message
    assert len(message) < 600
    for word in words:
        assert word in message


@dataclass(frozen=True)
class Case:
    """A file, and what is read from it; ``cells`` is None if the notes are words of the refusal."""

    about: str
    content: bytes
    cells: Mapping[tuple[str, str], str] | None = None
    notes: Sequence[str] = ()
    gold: Mapping[str, str] | None = None
    columns: Mapping[str, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    error: type[BlindfuseError] = BadFile


def as_cells(text: str) -> Cells:
    """``{("1", "ann"): "x"}`` for ``"1 ann x"``, one response per comma."""
    rows = [row.split() for row in text.split(",")]
    return {(item, annotator): label for item, annotator, label in rows}


def check_case(case: Case) -> None:
    """Assert that the file is read or refused as the case says."""
    if case.cells is None:
        assert_refused(
            lambda: read(stream(case.content), **case.options), *case.notes, kind=case.error
        )
        return
    found = read(stream(case.content), **case.options)
    assert labels_by_name(found.responses) == case.cells
    assert all(any(words in note for note in found.notes) for words in case.notes)
    assert case.gold in (None, found.gold)
    assert case.columns in (None, found.columns)
