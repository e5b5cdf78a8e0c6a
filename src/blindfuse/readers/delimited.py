"""Tables in text: CSV, TSV, and the like, with or without a header."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.guessing import is_known
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import SAMPLE, Table, checked, few_enough

_SEPARATORS = ",\t;|"
_KINDS = {",": "CSV", "\t": "TSV", ";": "CSV with semicolons", "|": "CSV with bars"}


def table(source: Source) -> Table:
    """The table in a text file; its separator and whether it has a header are told by content."""
    text = start_of_text(source)
    first_line = text.partition("\n")[0]
    few_enough(source.name, max(map(first_line.count, _SEPARATORS)))
    separator = "\t" if source.ending in ("tsv", "tab") else _separator(text, source.is_short)
    rows = _first_rows(text, separator, source.is_short)
    if not rows:
        raise BadFile(f"{source.name} is no table of text: its first row cannot be read.")
    has_header = _has_header(rows)
    ends_lines = "\n" in text or "\r" not in text  # else they end as on old Macs
    is_plain = ends_lines and isinstance(source.content, Path)
    names = rows[0] if has_header else [str(at) for at in range(max(map(len, rows)))]
    names = checked(source.name, [name.strip() for name in names])

    def load(columns: Sequence[str]) -> pl.DataFrame:
        at = [names.index(column) for column in columns]
        frame = _by_polars(source, separator, has_header, at) if ends_lines else None
        if frame is None:
            refuse_invalid_text(source)
            frame = _by_python(source, separator, has_header, names, at)
        return frame.rename(dict(zip(frame.columns, columns, strict=True)))

    def scan(columns: Sequence[str]) -> pl.LazyFrame:
        rows = pl.scan_csv(
            source.content,
            has_header=has_header,
            separator=separator,
            infer_schema=False,
            glob=False,
            with_column_names=lambda _: names,
        )
        return rows.select(columns)

    sample = pl.DataFrame(
        [[cell or None for cell in _padded(row, len(names))] for row in rows[has_header:]],
        schema=dict.fromkeys(names, pl.String),
        orient="row",
    )
    notes = () if has_header else ("there is no header, so columns are numbered from 0",)
    return Table(
        source, _KINDS[separator], sample, load, scan=scan if is_plain else None, notes=notes
    )


def start_of_text(source: Source) -> str:
    """The head as text up to its last whole line, or an error with the place of the first byte."""
    head = source.head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadFile(f"{source.name} is UTF-16 text. Save it as UTF-8.")
    whole = head if source.is_short else head[: head.rfind(b"\n") + 1] or head[:-4]
    try:
        return whole.decode()
    except UnicodeDecodeError:
        refuse_invalid_text(source)
        return whole.decode(errors="ignore")  # the cut went through a letter


def refuse_invalid_text(source: Source) -> None:
    """An error with the place of the first byte that is no UTF-8, if there is one."""
    data = source.read()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(
            f"{source.name} is not UTF-8 text: byte 0x{data[error.start]:02x} at position "
            f"{error.start:,}, in line {line:,}. Save it as UTF-8."
        ) from None


def _separator(text: str, whole: bool) -> str:
    """The separator that parts the first rows into equally many cells: most rows, then most cells.

    A wrong one may take the quotes of one cell for the beginning of another, and rows for one.
    """
    start = text[:20_000]
    whole = whole and len(start) == len(text)

    def merit(separator: str) -> tuple[bool, int, int]:
        widths = [len(row) for row in _first_rows(start, separator, whole) if row][:20]
        width = max(widths, default=0)
        return len(set(widths)) == 1 and width > 1, len(widths), width

    steady = [one for one in _SEPARATORS if merit(one)[0]]
    if steady:
        return max(steady, key=lambda one: merit(one)[1:])
    return max(_SEPARATORS, key=lambda one: merit(one)[2])


def _first_rows(text: str, separator: str, whole: bool) -> list[list[str]]:
    """The first rows that are not blank; without the last one, if the text was cut there."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if len(rows) > SAMPLE:
                break
            rows.append(row)
        else:
            if not whole and len(rows) > 1:
                rows.pop()
    except csv.Error:
        pass  # what is wrong is told when all rows are read
    return [row for row in rows if any(row)]


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns: some name is known, or some cell never comes again."""
    below = {cell for row in rows[1:] for cell in row}
    first = [cell for cell in rows[0] if cell]
    return len(rows) == 1 or any(map(is_known, first)) or not set(first) <= below


def _padded(row: Sequence[str], width: int) -> list[str]:
    return [*row[:width], *[""] * (width - len(row))]


def _by_polars(
    source: Source, separator: str, has_header: bool, at: Sequence[int]
) -> pl.DataFrame | None:
    """The columns at these places, or None if Polars cannot read the file."""
    try:
        frame = pl.read_csv(
            source.content,
            columns=sorted(at),
            has_header=has_header,
            separator=separator,
            infer_schema=False,
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None
    return frame.select(frame.columns[sorted(at).index(one)] for one in at)


def _by_python(
    source: Source, separator: str, has_header: bool, names: Sequence[str], at: Sequence[int]
) -> pl.DataFrame:
    """Slower, but it knows the line of a bad row, and takes quotes in the middle of a cell."""
    every = _rows(source, separator, len(names))
    rows = [[row[one] or None for one in at] for row in islice(every, int(has_header), None)]
    return pl.DataFrame(rows, schema=[(names[one], pl.String) for one in at], orient="row")


def _rows(source: Source, separator: str, width: int) -> Iterator[list[str]]:
    text = io.StringIO(source.read().decode("utf-8-sig"), newline="")
    reader = csv.reader(text, delimiter=separator, strict=True)
    try:
        for row in reader:
            if len(row) > width:
                raise BadFile(
                    f"{source.name}, line {reader.line_num:,}: {len(row)} cells, where the first "
                    f"row has {width}. Quote cells that hold a {separator!r}."
                )
            if row:
                yield _padded(row, width)
    except csv.Error as error:
        raise BadFile(
            f"{source.name}, line {reader.line_num:,}: {error}. Mend the quotes of this row."
        ) from None
