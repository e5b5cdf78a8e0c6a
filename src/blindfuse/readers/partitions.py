"""Files larger than memory: a long table's items are dealt into parts on disk, read one by one."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers import long
from blindfuse.readers.answers import Answers
from blindfuse.readers.coded import coded
from blindfuse.readers.guessing import Asked
from blindfuse.readers.opening import opened
from blindfuse.readers.sources import Given, sources
from blindfuse.readers.tables import Table
from blindfuse.responses.responses import Names, Responses

PART_BYTES = 2**28
"""Bytes of the file in each part: a part takes a few times that in memory while it is read."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A long table in parts, each with all answers to its items. Calling it reads them in turn.

    ``columns`` are where item, annotator and label were found, ``files`` where the parts are.
    """

    table: Table
    columns: dict[str, str]
    files: Sequence[Path]
    classes: Names | None

    def __call__(self) -> Iterator[Responses]:
        for file in self.files:
            answers = Answers(pl.read_parquet(file, glob=False), self.columns)
            yield coded(self.table, answers, self.classes, "last")[0]


@contextmanager
def read_in_parts(
    paths: Given | Iterable[Given],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    classes: Names | None = None,
    part_bytes: int | None = None,
) -> Iterator[Parts]:
    """The answers in long tables, by items dealt into parts; the parts vanish afterwards.

    Takes CSV, TSV, Parquet and Arrow files that are neither packed nor piped. Columns are those
    of :func:`blindfuse.read`; of several answers of an annotator to an item, the last counts.
    ``part_bytes`` is PART_BYTES unless given.
    """
    tables = [opened(source) for source in sources(paths)]
    columns = long.roles(tables[0], Asked(item, annotator, label))
    rows = pl.concat([_scan(table, list(columns.values())) for table in tables])
    count = max(1, sum(map(_size, tables)) // (part_bytes or PART_BYTES))
    frame = rows.select(pl.col(column).alias(role) for role, column in columns.items())
    with TemporaryDirectory(prefix="blindfuse-") as folder:
        yield Parts(tables[0], columns, _deal(frame, count, Path(folder), tables[0]), classes)


def _scan(table: Table, columns: Sequence[str]) -> pl.LazyFrame:
    if table.scan is None:
        raise BadFile(
            f"{table.name} cannot be read in parts: that takes CSV, TSV, Parquet or Arrow, neither "
            "packed nor piped. Unpack or convert it, or read it whole."
        )
    return table.scan(columns)


def _size(table: Table) -> int:
    content = table.source.content
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _deal(frame: pl.LazyFrame, count: int, folder: Path, table: Table) -> list[Path]:
    """Write the rows to files by a hash of the item, in their order; a pass over the table."""
    part = pl.col("item").hash() % count
    files = pl.PartitionBy(
        folder, key={"part": part}, include_key=False, approximate_bytes_per_file=None
    )
    try:
        frame.filter(pl.col("item").is_not_null()).sink_parquet(files, mkdir=True)
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(
            f"{table.name} cannot be read in parts: {reason}. Mend it, or read it whole."
        ) from None
    return sorted(folder.rglob("*.parquet"))
