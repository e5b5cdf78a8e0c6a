"""Delimited text: CSV, TSV and similar files, with or without a header."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.sources import EXPORT, Source
from blindfuse.readers.tables import Table, check_columns
from blindfuse.responses.column_names import is_known_name
from blindfuse.responses.detection import SAMPLE_ROWS, has_classes

_FILE_TYPES = {
    ",": "CSV",
    "\t": "TSV",
    ";": "CSV with semicolons",
    "|": "CSV with vertical bars",
    " ": "text with spaces",
}
"""File types by separator; spaces are used only where no other gives two columns."""
_RULE = r"[ \t|:+=\-\u2500-\u257f]*"
_DRAWN = re.compile(rf"(?:.*\n)?{_RULE}(?:[-=\u2500-\u257f]{{2}}|\|[ \t:]*-){_RULE}(?:\n|$)")
"""A table with a line drawn above the first or the second row."""

_NO_HEADER = (
    "no header found: columns are numbered from 0 (name them as in --item 0 --annotator 1 "
    "--label 2)"
)

Rows = list[list[str]]


class _Layout(NamedTuple):
    """How the text is laid out; ``has_spaces`` says that spaces stand before quoted cells."""

    separator: str
    has_spaces: bool = False
    has_header: bool = True
    names: tuple[str, ...] = ()


def open_delimited(source: Source) -> Table:
    """Return the table in a text file; separator and header are detected from its content."""
    text = "" if b"\0" in source.head else decode_head(source)
    has_old_lines = "\r" in text and "\n" not in text
    is_single = text.startswith("'")  # quotes that no program reads
    if not text or has_old_lines or is_single or _DRAWN.match(text):
        raise BadFile(f"{source.name} is not a table of responses. {EXPORT}")
    rows, layout = _detect_layout(source, text)
    names = layout.names

    def load(columns: Sequence[str]) -> pl.DataFrame:
        frame = _load_by_polars(source, layout)
        if frame is None:
            check_utf8(source)
            frame = _to_frame(_all_rows(source, layout), layout)
        return frame.select(columns)

    def scan(columns: Sequence[str]) -> pl.LazyFrame:
        return pl.scan_csv(
            source.content, with_column_names=lambda _: list(names), **_polars_options(layout)
        ).select(columns)

    is_regular = len(rows[0]) == len(names) and not layout.has_spaces
    return Table(
        source,
        _FILE_TYPES[layout.separator],
        _to_frame(rows, layout),
        load,
        scan=scan if is_regular and isinstance(source.content, Path) else None,
        notes=() if layout.has_header else (_NO_HEADER,),
    )


# Separators and names


def _detect_layout(source: Source, text: str) -> tuple[Rows, _Layout]:
    """Return the first rows of the text, and its layout."""
    is_tsv = source.extension in ("tsv", "tab", "xlsx")
    layout = _layout("\t", text) if is_tsv else _likeliest_layout(text, source.fits_in_head)
    rows = _first_rows(text, layout, source.fits_in_head)
    if not _is_table(rows, layout.separator):
        raise BadFile(
            f"{source.name} is not a table of responses: it has only one column. Separate the "
            "columns by commas or tabs, and delete lines above the header."
        )
    _refuse_lines_above_header(source, rows)
    width, first = max(map(len, rows)), [cell.strip() for cell in rows[0]]
    has_header = _is_header(first, rows)
    if not has_header:
        first = [str(place) for place in range(width)]
    elif len(first) < width and _are_row_names(rows):
        first = ["", *first]
    elif not any(any(row[len(first) :]) for row in rows):
        first += [""] * (width - len(first))
    if first.count("") > 1:
        first = [name or f"Unnamed: {place}" for place, name in enumerate(first)]
    names = tuple(check_columns(source.name, first))
    return rows, layout._replace(has_header=has_header, names=names)


def _layout(separator: str, text: str) -> _Layout:
    """Return the layout with this separator: whether spaces stand before quoted cells."""
    rows = _first_rows(text[:5000], _Layout(separator), False)
    return _Layout(separator, any(re.match(' +"', cell) for row in rows for cell in row))


def _likeliest_layout(text: str, is_complete: bool) -> _Layout:
    """Return the layout whose separator gives all of the first rows the same number of cells.

    Row names of R make all rows but the first one longer, which counts less. Ties go to the most
    rows without a misplaced quote, then to the most rows, then to the most cells: with a wrong
    separator, quotes end within cells, or start a cell that joins several rows.
    """
    start = text[:20_000]
    is_complete = is_complete and len(start) == len(text)

    def score(layout: _Layout) -> tuple[bool, int, int, int, int]:
        widths = [len(row) for row in _first_rows(start, layout, is_complete)][:20]
        width = max(widths, default=0)
        is_shifted = width > 2 and {*widths[1:], widths[0] + 1} == {width}
        is_consistent = width > 1 and len(set(widths)) == 1
        n_quoted = len(list(islice(_rows_until_error(start, layout, strict=True), 20)))
        is_usual = width > 1 and layout.separator != " "
        return is_usual, 2 * is_consistent + is_shifted, n_quoted, len(widths), width

    return max((_layout(separator, start) for separator in _FILE_TYPES), key=score)


def _is_table(rows: Rows, separator: str) -> bool:
    """Return whether there are several columns.

    Text with spaces is a table if its rows are equally long, and two columns have known names or
    two of three hold classes.
    """
    columns = [cells for cells in zip_longest(*rows, fillvalue="") if any(cells)]
    if len(columns) < 2 or separator != " ":
        return len(columns) > 1
    if len({len(row) for row in rows[1:]}) > 1:
        return False
    n_classes = sum(has_classes(cells[1:]) for cells in columns)
    return sum(map(_is_name, rows[0])) > 1 or (len(columns) > 2 and n_classes > 1)


def _are_row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether R wrote row names, a first column that the header does not name."""
    names = [row[0] for row in rows[1:]]
    are_longer = {len(row) for row in rows[1:]} == {len(rows[0]) + 1}
    return are_longer and len(set(names)) == len(names) and any(row[-1] for row in rows[1:])


def _is_name(cell: str) -> bool:
    return is_known_name(cell.strip())


def _refuse_lines_above_header(source: Source, rows: Rows) -> None:
    """Raise BadFile if a later row names the columns and the first one does not.

    The names of columns occur in no other row.
    """
    if any(map(_is_name, rows[0])):
        return
    is_title = len(rows[0]) > 2 and sum(map(bool, rows[0])) == 1
    for number, row in enumerate(rows[1:10], 2):
        others = {cell for other in rows if other is not row for cell in other if cell}
        is_distinct = len(set(row)) == len(row) and not others & set(row)
        if is_distinct and sum(map(_is_name, row)) + is_title > 1:
            raise BadFile(
                f"{source.name} seems to name its columns in row {number}, not in the first one "
                f"({rows[0][0][:80]!r}). Delete the lines above the header."
            )


def _is_header(first: Sequence[str], rows: Rows) -> bool:
    """Return whether the first row names the columns.

    It does if it has a known column name or counts the columns, as pandas does, or if none of its
    cells occurs again in its column, and some cell nowhere.
    """
    counts = first[first[0] == "" :]
    is_counted = len(counts) > 2 and all(cell == str(at) for at, cell in enumerate(counts))
    if len(rows) == 1 or is_counted or any(map(is_known_name, first)):
        return True
    below = [{row[at].strip() for row in rows[1:] if at < len(row)} for at in range(len(first))]
    again = any(cell in cells for cell, cells in zip(first, below, strict=True) if cell)
    return not again and not set(filter(None, first)) <= set[str]().union(*below)


# Reading rows


def decode_head(source: Source) -> str:
    """Decode the head up to its last complete line; raise BadFile if it is not UTF-8."""
    head = source.head.removeprefix(b"\xef\xbb\xbf")
    lines = head if source.fits_in_head else head[: head.rfind(b"\n") + 1] or head[:-4]
    try:
        return lines.decode()
    except UnicodeDecodeError:
        check_utf8(source)
        return lines.decode(errors="ignore")  # the head ends within a character


def check_utf8(source: Source) -> None:
    """Raise BadFile with the position of the first byte that is not UTF-8, if there is one."""
    data = source.read()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(
            f"{source.name} is not UTF-8 text: byte 0x{data[error.start]:02x} at position "
            f"{error.start:,}, in line {line:,}. Save it as UTF-8."
        ) from None


def _reader(text: str, layout: _Layout, strict: bool) -> Any:
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=layout.separator,
        skipinitialspace=layout.has_spaces,
        strict=strict,
    )


def _rows_until_error(text: str, layout: _Layout, strict: bool = False) -> Iterator[list[str]]:
    """Iterate over the rows above the first malformed one."""
    with suppress(csv.Error):  # reported, with its line, when all rows are read
        yield from _reader(text, layout, strict)


def _first_rows(text: str, layout: _Layout, is_complete: bool) -> Rows:
    """Return the first rows that are not blank, without the last one if the text is cut there."""
    rows = list(islice(_rows_until_error(text, layout), SAMPLE_ROWS + 2))
    if len(rows) > SAMPLE_ROWS + 1 or (not is_complete and len(rows) > 1):
        rows.pop()
    return [row for row in rows if any(map(str.strip, row))]


def _polars_options(layout: _Layout) -> dict[str, Any]:
    options = {"has_header": layout.has_header, "separator": layout.separator}
    return {**options, "infer_schema": False, "glob": False}


def _load_by_polars(source: Source, layout: _Layout) -> pl.DataFrame | None:
    """Return the table, or None if Polars cannot read the file.

    All columns are read, because Polars ignores what is left over in a row after the chosen ones.
    """
    if layout.has_spaces:
        return None
    try:
        frame = pl.read_csv(source.content, **_polars_options(layout))
    except pl.exceptions.PolarsError:
        return None
    if frame.width < len(layout.names):  # some rows are longer than the header
        return None
    return frame.rename(dict(zip(frame.columns, layout.names, strict=False)))


def _to_frame(rows: Iterable[list[str]], layout: _Layout) -> pl.DataFrame:
    """Return the rows below the header as a table, in which empty cells are null."""
    width = len(layout.names)
    cells = [
        [*(cell or None for cell in row[:width]), *[None] * (width - len(row))]
        for row in islice(rows, int(layout.has_header), None)
    ]
    return pl.DataFrame(cells, schema=dict.fromkeys(layout.names, pl.String), orient="row")


def _all_rows(source: Source, layout: _Layout) -> Iterator[list[str]]:
    """Iterate over all rows by the csv module.

    It is slower than Polars, but it reports the line of a malformed row and accepts quotes within a
    cell.
    """
    reader, line = _reader(source.read().decode("utf-8-sig"), layout, strict=True), 1
    width = len(layout.names)
    try:
        for row in reader:
            if len(row) > width:
                raise BadFile(
                    f"{source.name}, line {line:,}: {len(row)} cells, but the first row has "
                    f"{width}. Quote cells that contain {layout.separator!r}, and delete lines "
                    "above the header."
                )
            if row:
                yield row
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadFile(
            f"{source.name}, line {line:,}: {error}. Correct the quotes of the row that begins "
            "there."
        ) from None
