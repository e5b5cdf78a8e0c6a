"""Tables that are no text: Parquet, Arrow, SQLite, DuckDB, and sheets of Excel workbooks.

Parquet files, and Arrow as a file (Feather) or as a stream, are one table. Of a database or a
workbook, the path names one: ``file.db::table``.
"""

import io
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names, suggest
from blindfuse.files import too_large_message, unpacked_limit
from blindfuse.readers.delimited import open_delimited
from blindfuse.readers.sources import Source, damage, needed, refuse_bombs
from blindfuse.readers.tables import Record, Table, check_columns, text_expression
from blindfuse.responses.detection import SAMPLE_ROWS

_MIN_BYTES_PER_VALUE = 8
"""Memory per value: text of up to twelve bytes takes 16, and most other types take 8."""

_MAGIC = {b"PAR1": "Parquet", b"ARRO": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}


# Parquet and Arrow


def columnar_type(source: Source) -> str | None:
    """Return the columnar file type by the first bytes, or None for any other file."""
    return _MAGIC.get(source.head[:4])


def open_columnar(source: Source) -> Table:
    """Return the table in a Parquet or Arrow file, with every value as text."""
    file_type = _MAGIC[source.head[:4]]

    with damage(source.name, file_type):
        frame = _scan(source, file_type)
        schema = frame.collect_schema()
        check_columns(source.name, schema.names())
        n_rows = int(frame.select(pl.len()).collect().item())
    if n_rows > _max_rows(source, len(schema)):
        unpacked = f"{n_rows:,} rows of {len(schema)} columns, which take more"
        raise BadFile(too_large_message(source.name, unpacked))

    def scan(columns: Sequence[str]) -> pl.LazyFrame:
        return frame.select(text_expression(column, schema[column]) for column in columns)

    def load(columns: Sequence[str], limit: int = n_rows) -> pl.DataFrame:
        with damage(source.name, file_type):
            return scan(columns).head(limit).collect()

    def records() -> Iterator[Record]:
        with damage(source.name, file_type):
            yield from frame.collect().iter_rows(named=True)

    return Table(source, file_type, load(schema.names(), SAMPLE_ROWS), load, records, scan)


def _max_rows(source: Source, n_columns: int) -> int:
    """Return the number of rows that a file of this size may claim.

    Equal values take almost no space in a file, but _MIN_BYTES_PER_VALUE each in memory, and Polars
    aborts the process when memory runs out.
    """
    return unpacked_limit(source.size) // (_MIN_BYTES_PER_VALUE * max(1, n_columns))


def _scan(source: Source, file_type: str) -> pl.LazyFrame:
    content = source.content
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    if file_type == "Parquet":
        return pl.scan_parquet(file, glob=False)
    if file_type == "Arrow":
        return pl.scan_ipc(file, glob=False)
    n_columns = pl.read_ipc_stream(file, n_rows=1).width
    # A stream does not state its number of rows, so reading stops at the first that is too many.
    again = io.BytesIO(content) if isinstance(content, bytes) else content
    return pl.read_ipc_stream(again, n_rows=_max_rows(source, n_columns) + 1).lazy()


# Databases and workbooks

_TABLE_NAMES = {
    "SQLite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name",
    "DuckDB": "SELECT table_name FROM information_schema.tables ORDER BY table_name",
}


def database_type(source: Source) -> str | None:
    """Return the kind of the database or workbook by its first bytes, or None."""
    if source.head.startswith(b"SQLite format 3\0"):
        return "SQLite"
    if source.head[8:12] == b"DUCK":
        return "DuckDB"
    return "Excel" if source.head.startswith(b"PK") and source.extension == "xlsx" else None


def open_database(source: Source) -> Table:
    """Return the table that was named, or the only one, with every value as text."""
    if database_type(source) == "Excel":
        return _open_workbook(source)
    kind = str(database_type(source))
    if not isinstance(source.content, Path):
        raise BadFile(f"{source.name} is a packed {kind} database. Unpack it.")
    path = source.content

    def rows(query: str) -> list[tuple[Any, ...]]:
        with damage(source.name, kind), closing(_connect(path, kind)) as connection:
            return list(connection.execute(query).fetchall())

    table = _quoted(_chosen(source, [name for (name,) in rows(_TABLE_NAMES[kind])]))
    types = {row[1]: str(row[2]) for row in rows(f"PRAGMA table_info({table})")}

    def load(columns: Sequence[str], limit: str = "") -> pl.DataFrame:
        cells = ", ".join(_as_text(name, types[name]) for name in columns)
        schema = dict.fromkeys(columns, pl.String)
        frame = pl.DataFrame(rows(f"SELECT {cells} FROM {table}{limit}"), schema, orient="row")
        return frame.select(pl.all().replace("", None))  # as in CSV

    columns = check_columns(source.name, list(types))
    return Table(source, kind, load(columns, f" LIMIT {SAMPLE_ROWS}"), load)


def _as_text(name: str, kind: str) -> str:
    """Return a column as text in SQL; lists and objects, which only DuckDB has, as JSON."""
    is_nested = kind.endswith("]") or kind.startswith(("STRUCT", "MAP"))
    value = f"to_json({_quoted(name)})" if is_nested else _quoted(name)
    return f"CAST({value} AS VARCHAR)"


def _open_workbook(source: Source) -> Table:
    """Return a sheet as the table that a file of tabs with the same cells holds."""
    needed("fastexcel", "files", source.name)
    refuse_bombs(source)
    cells: Any = {"sheet_id": 0, "has_header": False, "read_options": {"dtypes": "string"}}
    with damage(source.name, "Excel"):
        sheets = pl.read_excel(io.BytesIO(source.read()), **cells)
    sheets = {name: frame for name, frame in sheets.items() if frame.width}
    sheet = sheets[_chosen(source, list(sheets))]
    text = sheet.write_csv(include_header=False, separator="\t").encode()
    return replace(open_delimited(Source(source.name, text)), file_type="Excel")


def _chosen(source: Source, names: Sequence[str]) -> str:
    """Return the table that the user named after the path, or the only one."""
    if source.table in names or (source.table is None and len(names) == 1):
        return source.table or names[0]
    if source.table is not None:
        raise BadFile(f"{source.name}: no such table: {suggest(source.table, names)}")
    named = f" Name one, as in {source.name}::{names[0]}." if names else " Export it again."
    raise BadFile(f"{source.name} has the tables {list_names(names)}.{named}")


def _connect(path: Path, kind: str) -> Any:
    if kind == "SQLite":
        return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    config = {"enable_external_access": "false"}  # or a view could read other files
    return needed("duckdb", "files", str(path)).connect(str(path), read_only=True, config=config)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
