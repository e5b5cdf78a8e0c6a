"""Tables of SQLite and DuckDB databases, and sheets of Excel workbooks: ``file.db::table``."""

import io
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names, suggest
from blindfuse.readers.sources import Source, needed, refuse_bombs
from blindfuse.readers.tables import Table, check_columns, to_text
from blindfuse.responses.detection import SAMPLE_ROWS

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
        with _database_errors(source.name, kind), closing(_connect(path, kind)) as connection:
            return list(connection.execute(query).fetchall())

    table = _quoted(_chosen(source, [name for (name,) in rows(_TABLE_NAMES[kind])]))
    names = [row[1] for row in rows(f"PRAGMA table_info({table})")]

    def load(columns: Sequence[str], limit: str = "") -> pl.DataFrame:
        cells = ", ".join(f"CAST({_quoted(name)} AS VARCHAR)" for name in columns)
        schema = dict.fromkeys(columns, pl.String)
        data = rows(f"SELECT {cells} FROM {table}{limit}")
        return pl.DataFrame(data, schema=schema, orient="row").select(_emptied(columns))

    columns = check_columns(source.name, names)
    return Table(source, kind, load(columns, f" LIMIT {SAMPLE_ROWS}"), load)


def _open_workbook(source: Source) -> Table:
    needed("fastexcel", "files", source.name)
    refuse_bombs(source)
    with _database_errors(source.name, "Excel"):
        sheets = pl.read_excel(io.BytesIO(source.read()), sheet_id=0)
    sheets = {name: frame for name, frame in sheets.items() if frame.width}
    frame = to_text(source.name, sheets[_chosen(source, list(sheets))])
    columns = check_columns(source.name, frame.columns)
    frame = frame.select(_emptied(columns))
    return Table(source, "Excel", frame.head(SAMPLE_ROWS), frame.select)


def _emptied(columns: Sequence[str]) -> list[pl.Expr]:
    """Return the columns with null for empty text, as in CSV."""
    return [pl.col(name).replace("", None) for name in columns]


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


@contextmanager
def _database_errors(name: str, kind: str) -> Iterator[None]:
    """Raise BadFile where a database cannot be read."""
    try:
        yield
    except BadFile:
        raise
    except Exception as error:  # every library has errors of its own
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{name} is a damaged or locked {kind} file: {reason}.") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
