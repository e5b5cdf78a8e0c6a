"""``Table``: a file of any type as a table of text, with a sample and with all rows on demand."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers.sources import Source
from blindfuse.responses.detection import repeats_as_classes
from blindfuse.responses.markers import cell_text
from blindfuse.responses.notes import count_note

_MAX_COLUMNS = 20_000

Record = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True)
class Table:
    """The table in one file.

    Attributes
    ----------
    file_type
        the file type for messages, such as "JSON lines".
    sample
        the first rows, with every column as text.
    load
        returns all rows of the given columns, as text, in the given order.
    records
        returns the objects of a JSON file with their nested values; None for other files.
    scan
        returns all rows of the given columns, as text, as a lazy frame; None where the file cannot
        be read in partitions.
    notes
        what the user should know about the file.
    row_numbers
        whether rows are in the order of the file, so that messages can number them.
    """

    source: Source
    file_type: str
    sample: pl.DataFrame
    load: Callable[[Sequence[str]], pl.DataFrame]
    records: Callable[[], Iterator[Record]] | None = None
    scan: Callable[[Sequence[str]], pl.LazyFrame] | None = None
    notes: tuple[str, ...] = ()
    row_numbers: bool = True

    error = BadFile
    call = ""

    def texts(self, column: str) -> list[str | None]:
        """Return the first rows of a column."""
        return self.sample[column].to_list()

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def columns(self) -> list[str]:
        return self.sample.columns


def with_fields(table: Table, names: Sequence[str]) -> Table:
    """Add a column for each name that is a path into objects, such as ``verdict.grade``."""
    absent = [name for name in names if name not in table.columns]
    column_of = {name: name.partition(".")[0] for name in absent}
    column_of = {name: column for name, column in column_of.items() if column in table.columns}

    def sources(columns: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(column_of.get(name, name) for name in columns))

    def values(columns: Iterable[str]) -> list[pl.Expr]:
        return [_field(name) if name in column_of else pl.col(name) for name in columns]

    scan = table.scan
    return replace(
        table,
        sample=table.sample.with_columns(values(column_of)),
        load=lambda columns: table.load(sources(columns)).select(values(columns)),
        scan=scan and (lambda columns: scan(sources(columns)).select(values(columns))),
    )


def _field(path: str) -> pl.Expr:
    column, *fields = path.replace("\\", "\\\\").replace("'", "\\'").split(".")
    return pl.col(column).str.json_path_match("$['" + "']['".join(fields) + "']").alias(path)


def load_columns(tables: Sequence[Table], columns: Sequence[str]) -> pl.DataFrame:
    """Return all rows of these columns in all tables, without rows that are entirely empty."""
    return _without_empty_rows(_load(tables, columns))


def load_responses(
    tables: Sequence[Table], columns: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """As ``load_columns``, without rows that repeat the header; notes count what was skipped.

    Empty rows of a spreadsheet mean nothing, but a JSON object without any of the fields may name
    them otherwise.
    """
    rows = _load(tables, columns)
    frame, notes = _without_empty_rows(rows), list[str]()
    if any(table.records is not None for table in tables):
        fields = list_names(rows.columns)
        notes = count_note(len(rows) - len(frame), f"object{{s}} without {fields} skipped")
    first = frame.columns[0]
    if not frame[first].is_in([change(first) for change in _SPELLINGS]).any():  # saves a full look
        return frame, notes
    kept = frame.remove(
        pl.col(name).str.strip_chars().str.to_lowercase() == name.lower() for name in frame.columns
    )
    return kept, [*count_note(len(frame) - len(kept), "repeated header row{s} skipped"), *notes]


_SPELLINGS = (str, str.lower, str.upper, str.title)


def _load(tables: Sequence[Table], columns: Sequence[str]) -> pl.DataFrame:
    wanted = list(dict.fromkeys(columns))
    check_same_columns(tables, wanted)
    return pl.concat([table.load(wanted) for table in tables])


def _without_empty_rows(frame: pl.DataFrame) -> pl.DataFrame:
    if not all(column.null_count() for column in frame):
        return frame
    return frame.remove(pl.all_horizontal(pl.all().is_null()))


def check_same_columns(tables: Sequence[Table], wanted: Sequence[str]) -> None:
    """Raise BadFile if one of the tables lacks one of these columns."""
    for table in tables:
        lacking = [column for column in wanted if column not in table.columns]
        if lacking:
            raise BadFile(
                f"{table.name} has no column {list_names(lacking)}, but {tables[0].name} has. "
                "Read files with different columns one by one."
            )


def load_records(tables: Sequence[Table]) -> Iterator[Record]:
    """Iterate over the objects of all tables, which must be JSON."""
    for table in tables:
        if table.records is None:
            raise BadFile(f"{table.name} is {table.file_type}, not JSON. Pass another format=.")
        yield from table.records()


def is_categorical(values: pl.Series) -> bool:
    """Return whether values repeat as classes do."""
    responses = values.drop_nulls()
    return repeats_as_classes(responses.n_unique(), len(responses))


def check_columns(name: str, columns: Sequence[str]) -> list[str]:
    """Return the column names if they are distinct, not empty and not too many."""
    if len(columns) > _MAX_COLUMNS:
        raise BadFile(
            f"{name} has more than {_MAX_COLUMNS:,} columns. "
            "Convert it to a long table with one row per response."
        )
    if not columns:
        raise BadFile(f"{name} has no columns. Export it again.")
    repeated = [column for column, times in Counter(columns).items() if times > 1]
    if repeated:
        raise BadFile(
            f"{name} has several columns of the same name: {list_names(repeated)}. "
            "Rename or drop all but one."
        )
    return list(columns)


def text_expression(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as text: whole floats as integers, NaN as null, nested values as JSON.

    The text of a value depends on nothing else, so that partitions agree with the whole table.
    What has no text, such as images, is null.
    """
    column = pl.col(name)
    if dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        text = pl.when(column == whole).then(whole.cast(pl.String))
        return text.otherwise(column.fill_nan(None).cast(pl.String)).alias(name)
    if dtype == pl.Binary:
        return column.map_batches(_decoded, return_dtype=pl.String)
    if dtype in (pl.Duration, pl.Object) or "Binary" in str(dtype):
        return pl.when(column.is_not_null()).then(pl.lit(None, pl.String)).alias(name)
    if isinstance(dtype, pl.Struct):
        return column.struct.json_encode()
    if isinstance(dtype, pl.List | pl.Array):
        return column.map_batches(_lists_to_json, return_dtype=pl.String)
    return column.cast(pl.String)


def _lists_to_json(column: pl.Series) -> pl.Series:
    texts = [None if cell is None else cell_text(cell) for cell in column.to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)


def _decoded(column: pl.Series) -> pl.Series:
    """Return bytes as text, null where they are none."""
    texts = list[str | None]()
    for cell in column.to_list():
        try:
            texts.append(None if cell is None else cell.decode())
        except UnicodeDecodeError:
            texts.append(None)
    return pl.Series(column.name, texts, dtype=pl.String)
