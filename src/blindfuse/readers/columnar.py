"""Typed tables: Parquet, and Arrow as a file (Feather) or as a stream."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import SAMPLE, Table, as_text, checked

_MAGIC = {
    b"PAR1": "Parquet",
    b"ARRO": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"FEA1": "Feather",
}
_ENDINGS = {
    "parquet": "Parquet",
    "pq": "Parquet",
    "feather": "Arrow",
    "arrow": "Arrow",
    "ipc": "Arrow",
}


def kind_of(source: Source) -> str | None:
    """Parquet or Arrow, by the first bytes; None for another kind of file."""
    kind = _MAGIC.get(source.head[:4])
    if kind == "Feather":
        raise BadFile(f"{source.name} is of Feather's first version. Save it again as Feather 2.")
    if kind is None and source.ending in _ENDINGS:
        raise BadFile(f"{source.name} is not {_ENDINGS[source.ending]}. Save it again.")
    return kind


def table(source: Source) -> Table:
    """The table in a Parquet or Arrow file, with every value as text."""
    kind = str(kind_of(source))
    with _undamaged(source, kind):
        frame = _scan(source, kind)
        checked(source.name, frame.collect_schema().names())
        sample = frame.head(SAMPLE).collect()

    def load(columns: Sequence[str]) -> pl.DataFrame:
        with _undamaged(source, kind):
            rows = frame.select(columns).collect()
        return as_text(source.name, rows)

    def scan(columns: Sequence[str]) -> pl.LazyFrame:
        return frame.select(pl.col(column).cast(pl.String) for column in columns)

    return Table(source, kind, _plain(source.name, sample), load, scan=scan)


@contextmanager
def _undamaged(source: Source, kind: str) -> Iterator[None]:
    """An error about the file where Polars cannot read it, or panics over it."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{source.name} is damaged {kind}: {reason}. Save it again.") from None


def _scan(source: Source, kind: str) -> pl.LazyFrame:
    content = source.content
    place = io.BytesIO(content) if isinstance(content, bytes) else content
    if kind == "Parquet":
        return pl.scan_parquet(place, glob=False)
    if kind == "Arrow":
        return pl.scan_ipc(place, glob=False)
    return pl.read_ipc_stream(place).lazy()


def _plain(name: str, sample: pl.DataFrame) -> pl.DataFrame:
    """The sample as text, without columns that cannot be."""
    lists = [column.name for column in sample if isinstance(column.dtype, pl.List | pl.Array)]
    return as_text(name, sample.drop(lists))
