"""Read files larger than memory: items are split into partitions on disk, read one by one."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.detection import ColumnOptions
from blindfuse.readers.encoding import encode
from blindfuse.readers.long import detect_columns
from blindfuse.readers.opening import open_table
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.sources import FileInput, find_sources
from blindfuse.readers.tables import Table
from blindfuse.responses.responses import Names, Responses

PARTITION_BYTES = 2**28
"""File bytes per partition. Reading a partition takes a few times as much memory."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """A long table in partitions, each with all responses to its items.

    Calling it iterates over the partitions. ``columns`` says where the item, the annotator and the
    label were found; ``files`` are the partitions on disk.
    """

    table: Table
    columns: dict[str, str]
    files: Sequence[Path]
    classes: Names | None

    def __call__(self) -> Iterator[Responses]:
        for file in self.files:
            parsed = ParsedResponses(pl.read_parquet(file, glob=False), self.columns)
            yield encode(self.table, parsed, self.classes, "most_frequent")[0]


@contextmanager
def read_partitions(
    paths: FileInput | Iterable[FileInput],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    classes: Names | None = None,
    partition_bytes: int | None = None,
) -> Iterator[Partitions]:
    """Split the items of long tables into partitions, which are deleted on exit.

    Files must be CSV, TSV, Parquet or Arrow, and neither compressed nor piped. Columns are detected
    as in :func:`blindfuse.read`; if an annotator labelled an item more than once, the most frequent
    response counts. ``partition_bytes`` defaults to ``PARTITION_BYTES``.
    """
    tables = [open_table(source) for source in find_sources(paths)]
    columns = detect_columns(tables[0], ColumnOptions(item, annotator, label))
    rows = pl.concat([_scan(table, list(columns.values())) for table in tables])
    count = max(1, sum(map(_size, tables)) // (partition_bytes or PARTITION_BYTES))
    frame = rows.select(pl.col(column).alias(role) for role, column in columns.items())
    with TemporaryDirectory(prefix="blindfuse-") as folder:
        files = _write_partitions(frame, count, Path(folder), tables[0])
        yield Partitions(tables[0], columns, files, classes)


def _scan(table: Table, columns: Sequence[str]) -> pl.LazyFrame:
    if table.scan is None:
        raise BadFile(
            f"{table.name} cannot be read in partitions: only CSV, TSV, Parquet and Arrow files "
            "can, neither compressed nor piped. Unpack or convert it, or read it whole."
        )
    return table.scan(columns)


def _size(table: Table) -> int:
    content = table.source.content
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _write_partitions(frame: pl.LazyFrame, count: int, folder: Path, table: Table) -> list[Path]:
    """Write each row to the partition given by a hash of its item, in one pass over the table."""
    partition = pl.col("item").hash() % count
    files = pl.PartitionBy(
        folder, key={"partition": partition}, include_key=False, approximate_bytes_per_file=None
    )
    try:
        frame.filter(pl.col("item").is_not_null()).sink_parquet(files, mkdir=True)
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(
            f"{table.name} cannot be read in partitions: {reason}. Correct it, or read it whole."
        ) from None
    return sorted(folder.rglob("*.parquet"))
