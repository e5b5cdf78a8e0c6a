"""Parquet files, and Arrow as a file (Feather) or as a stream."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.files import too_large_message, unpacked_limit
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import Record, Table, check_columns, text_expression, to_text
from blindfuse.responses.detection import SAMPLE_ROWS

_MIN_BYTES_PER_VALUE = 8
"""Memory per value: text of up to twelve bytes takes 16, and most other types take 8."""

_MAGIC = {b"PAR1": "Parquet", b"ARRO": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}


def columnar_type(source: Source) -> str | None:
    """Return the columnar file type by the first bytes, or None for any other file."""
    return _MAGIC.get(source.head[:4])


def open_columnar(source: Source) -> Table:
    """Return the table in a Parquet or Arrow file, with every value as text."""
    file_type = _MAGIC[source.head[:4]]

    @contextmanager
    def polars_errors() -> Iterator[None]:
        """Raise BadFile where Polars cannot read the file, or panics."""
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            reason = " ".join(str(error).split())[:200]
            raise BadFile(
                f"{source.name} is a damaged {file_type} file: {reason}. Save it again."
            ) from None

    with polars_errors():
        frame = _scan(source, file_type)
        columns = frame.collect_schema().names()
        check_columns(source.name, columns)
        n_rows = int(frame.select(pl.len()).collect().item())
        if n_rows > _max_rows(source, len(columns)):
            unpacked = f"{n_rows:,} rows of {len(columns)} columns, which take more"
            raise BadFile(too_large_message(source.name, unpacked))
        sample = frame.head(SAMPLE_ROWS).collect()

    def load(columns: Sequence[str]) -> pl.DataFrame:
        with polars_errors():
            rows = frame.select(columns).collect()
        return to_text(source.name, rows)

    def scan(columns: Sequence[str]) -> pl.LazyFrame:
        schema = frame.collect_schema()
        return frame.select(text_expression(column, schema[column]) for column in columns)

    def records() -> Iterator[Record]:
        with polars_errors():
            yield from frame.collect().iter_rows(named=True)

    return Table(source, file_type, to_text(source.name, sample), load, records, scan)


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
