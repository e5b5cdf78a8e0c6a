"""A table of text, whatever kind of file it is in: its columns, its first rows, all its rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, naming
from blindfuse.readers.sources import Source

SAMPLE = 1000
"""So many rows are looked at to guess what a column holds."""

MOST_COLUMNS = 20_000

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """One file's table.

    Attributes
    ----------
    kind
        the kind of file, in words.
    sample
        the first rows, with every column as text.
    load
        gives all rows of some columns, as text, in the order asked for.
    records
        gives the objects of a JSON file with all that is nested in them; None for other files.
    scan
        gives all rows of some columns, as text, piece by piece; None where that cannot be done.
    """

    source: Source
    kind: str
    sample: pl.DataFrame
    load: Callable[[Sequence[str]], pl.DataFrame]
    records: Callable[[], Iterator[Record]] | None = None
    scan: Callable[[Sequence[str]], pl.LazyFrame] | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def columns(self) -> list[str]:
        return self.sample.columns


def together(tables: Sequence[Table], columns: Sequence[str]) -> pl.DataFrame:
    """All rows of these columns in all files, without rows that are wholly empty."""
    wanted = list(dict.fromkeys(columns))
    for table in tables:
        lacking = [column for column in wanted if column not in table.columns]
        if lacking:
            raise BadFile(
                f"{table.name} has no column {naming(lacking)}, as {tables[0].name} has. "
                "Read files of different columns one by one."
            )
    frames = [table.load(wanted) for table in tables]
    frame = frames[0] if len(frames) == 1 else pl.concat(frames)
    if not all(column.null_count() for column in frame):
        return frame
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def all_records(tables: Sequence[Table]) -> Iterator[Record]:
    """The objects of all files, which must be JSON."""
    for table in tables:
        if table.records is None:
            raise BadFile(f"{table.name} is {table.kind}, not JSON. Say another format=.")
        yield from table.records()


def checked(name: str, columns: Sequence[str]) -> list[str]:
    """The names of the columns, if they differ and are not too many."""
    few_enough(name, len(columns))
    if not columns:
        raise BadFile(f"{name} has no columns. Export it again.")
    again = [column for column, times in Counter(columns).items() if times > 1]
    if again:
        raise BadFile(
            f"{name} has columns of the same name: {naming(again)}. Rename or drop all but one."
        )
    return list(columns)


def few_enough(name: str, columns: int) -> None:
    """An error if there are too many columns."""
    if columns > MOST_COLUMNS:
        raise BadFile(
            f"{name} has more than {MOST_COLUMNS:,} columns. "
            "Turn it into a long table: one row an answer."
        )


def as_text(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Every column as text; whole floats without a fraction, NaN as null, objects as JSON."""
    texts = []
    for column in frame:
        try:
            texts.append(_text(column))
        except pl.exceptions.PolarsError:
            raise BadFile(
                f"{name}: column {column.name!r} holds {column.dtype}, which is no text. "
                "Choose another column."
            ) from None
    return pl.DataFrame(texts)


def _text(column: pl.Series) -> pl.Series:
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if (column == column.cast(pl.Int64, strict=False)).all():
            column = column.cast(pl.Int64)
    if isinstance(column.dtype, pl.Struct):
        return column.struct.json_encode()
    return column.cast(pl.String)
