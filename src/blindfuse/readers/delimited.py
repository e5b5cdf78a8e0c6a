"""Delimited text: CSV, TSV and similar files, with or without a header."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.sources import Source, no_table_message
from blindfuse.readers.tables import Table, check_column_count, check_columns
from blindfuse.responses.column_names import is_known_name
from blindfuse.responses.detection import SAMPLE_ROWS

_SEPARATORS = ",\t;|"
_RARE_SEPARATORS = ": "
"""Used only where the usual ones do not give at least two columns."""
_FILE_TYPES = {
    ",": "CSV",
    "\t": "TSV",
    ";": "CSV with semicolons",
    "|": "CSV with vertical bars",
    ":": "text with colons",
    " ": "text with spaces",
}
_NO_HEADER = (
    "no header found: columns are numbered from 0 (name them as in --item 0 --annotator 1 "
    "--label 2)"
)
_OTHER_TEXT = re.compile(
    r"```|<(?:!doctype|html|\?xml|table)\b|(?:insert into|create table|pragma|copy) .*[;=(]"
    r"|- [\w\"']+: |%yaml|version https://git-lfs",
    re.IGNORECASE,
)
"""How text begins that is Markdown, HTML, SQL, YAML or a pointer of Git LFS."""

_RULE = re.compile(r"[\s|:+]*(?:-{2,}|={2,}|[\u2500-\u257f]{2,})[\s|:+=\-\u2500-\u257f]*")
"""A line between rows, as Markdown and the terminals of databases draw it."""


class _Layout(NamedTuple):
    """How the text is laid out as a table.

    ``has_spaces`` says that spaces follow separators, before quotes that they would hide.
    """

    separator: str
    has_header: bool
    names: list[str]
    quote: str = '"'
    has_spaces: bool = False


def open_delimited(source: Source) -> Table:
    """Return the table in a text file; separator and header are detected from its content."""
    text = decode_head(source)
    rows, layout = _detect_layout(source, text)
    only_python = layout.has_spaces or ("\n" not in text and "\r" in text)  # old Mac lines

    def load(columns: Sequence[str]) -> pl.DataFrame:
        places = [layout.names.index(column) for column in columns]
        frame = None if only_python else _load_by_polars(source, layout, places)
        if frame is None:
            check_utf8(source)
            frame = _load_by_python(source, layout, places)
        return frame.rename(dict(zip(frame.columns, columns, strict=True)))

    def scan(columns: Sequence[str]) -> pl.LazyFrame:
        frame = pl.scan_csv(
            source.content,
            has_header=layout.has_header,
            separator=layout.separator,
            quote_char=layout.quote,
            infer_schema=False,
            glob=False,
            with_column_names=lambda _: layout.names,
        )
        return frame.select(columns)

    is_regular = len(rows[0]) == len(layout.names) and not only_python
    can_scan = isinstance(source.content, Path) and is_regular
    return Table(
        source,
        _FILE_TYPES[layout.separator],
        _sample(rows, layout),
        load,
        scan=scan if can_scan else None,
        notes=() if layout.has_header else (_NO_HEADER,),
    )


def _detect_layout(source: Source, text: str) -> tuple[list[list[str]], _Layout]:
    """Return the first rows of the text, and its layout."""
    first_line = text.partition("\n")[0]
    _refuse_other_text(source, text)
    check_column_count(source.name, max(map(first_line.count, _SEPARATORS)))
    is_tsv = source.extension in ("tsv", "tab")
    separator = "\t" if is_tsv else _detect_separator(text, source.fits_in_head)
    layout = _Layout(separator, True, [], *_detect_quotes(text, separator))
    rows = _first_rows(text, layout, source.fits_in_head)
    if not rows:
        raise BadFile(
            f"{source.name} is not a text table: its first row cannot be read. Export it as CSV."
        )
    _refuse_lines_above_header(source, rows)
    has_header = _has_header(rows)
    names = rows[0] if has_header else [str(place) for place in range(max(map(len, rows)))]
    if has_header and _have_row_names(rows):
        names = ["", *names]
    elif has_header and _end_in_separators(rows):
        names = [*names, *[""] * (max(map(len, rows)) - len(names))]
    names = check_columns(source.name, _numbered([name.strip() for name in names]))
    if len(names) == 1 and len(rows) > 1:
        raise BadFile(
            f"{source.name} has only one column, {names[0][:80]!r}. Separate the columns by commas "
            "or tabs, and delete lines above the header."
        )
    return rows, layout._replace(has_header=has_header, names=names)


def _detect_quotes(text: str, separator: str) -> tuple[str, bool]:
    """Return the quotation mark, and whether spaces stand before quoted cells."""
    rows = _first_rows(text[:5000], _Layout(separator, True, []), False)
    has_spaces = any(re.match(' +"', cell) for row in rows for cell in row)
    header = rows[0] if rows else []
    is_single = len(header) > 1 and all(re.fullmatch(r"'[^']*'", cell.strip()) for cell in header)
    return "'" if is_single else '"', has_spaces


def _have_row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether R wrote row names, a first column that the header does not name."""
    names = [row[0] for row in rows[1:]]
    is_longer = {len(row) for row in rows[1:]} == {len(rows[0]) + 1}
    return is_longer and len(set(names)) == len(names) and not _end_in_separators(rows)


def _end_in_separators(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows are longer than the header, by nothing but empty cells."""
    width = len(rows[0])
    longer = [row[width:] for row in rows[1:] if len(row) > width]
    return bool(longer) and not any(cell for cells in longer for cell in cells)


def _numbered(names: Sequence[str]) -> list[str]:
    """Name columns without a name by their position, as pandas does, if there are several."""
    if names.count("") < 2:
        return list(names)
    return [name or f"Unnamed: {place}" for place, name in enumerate(names)]


def _refuse_lines_above_header(source: Source, rows: Sequence[Sequence[str]]) -> None:
    """Raise BadFile if a later row names the columns and the first one does not.

    The names of columns occur in no other row.
    """
    if any(is_known_name(cell.strip()) for cell in rows[0]):
        return
    is_title = len(rows[0]) > 2 and sum(map(bool, rows[0])) == 1
    for number, row in enumerate(rows[1:10], 2):
        n_known = sum(is_known_name(cell.strip()) for cell in row) + is_title
        if n_known > 1 and len(set(row)) == len(row) and not _is_repeated(row, rows):
            raise BadFile(
                f"{source.name} seems to name its columns in row {number}, not in the first one "
                f"({rows[0][0][:80]!r}). Delete the lines above the header."
            )


def _refuse_other_text(source: Source, text: str) -> None:
    """Raise BadFile for text that looks like a table only at first sight."""
    first, _, others = text.lstrip().partition("\n")
    is_drawn = any(_RULE.fullmatch(line) for line in (first, others.partition("\n")[0]))
    if is_drawn or _OTHER_TEXT.match(first) or source.extension in ("sql", "yaml", "yml"):
        raise BadFile(no_table_message(source.name))


def _is_repeated(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether some cell of the row occurs in another row."""
    others = {cell for one in rows if one is not row for cell in one}
    return any(cell in others for cell in row if cell)


def _sample(rows: Sequence[Sequence[str]], layout: _Layout) -> pl.DataFrame:
    width = len(layout.names)
    return pl.DataFrame(
        [[cell or None for cell in _padded(row, width)] for row in rows[layout.has_header :]],
        schema=dict.fromkeys(layout.names, pl.String),
        orient="row",
    )


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


def _detect_separator(text: str, is_complete: bool) -> str:
    """Return the separator that gives all of the first rows the same number of cells.

    Row names of R make all rows but the first one longer, which counts less. Ties go to the most
    rows without a misplaced quote, then to the most rows, then to the most cells: with a wrong
    separator, quotes end within cells, or start a cell that joins several rows.
    """
    start = text[:20_000]
    is_complete = is_complete and len(start) == len(text)

    def score(separator: str) -> tuple[int, int, int, int]:
        layout = _Layout(separator, True, [], *_detect_quotes(start, separator))
        widths = [len(row) for row in _first_rows(start, layout, is_complete) if row][:20]
        width = max(widths, default=0)
        is_shifted = bool(widths) and {*widths[1:], widths[0] + 1} == {width} and width > 2
        is_consistent = len(set(widths)) == 1 and width > 1
        n_quoted = sum(1 for _ in zip(range(20), _strict_rows(start, layout), strict=False))
        return 2 * is_consistent or int(is_shifted), n_quoted, len(widths), width

    for separators in (_SEPARATORS, _RARE_SEPARATORS):
        consistent = [separator for separator in separators if score(separator)[0]]
        if consistent:
            return max(consistent, key=score)
        if any(score(separator)[-1] > 1 for separator in separators):
            break
    return max(_SEPARATORS, key=lambda separator: score(separator)[-1])


def _strict_rows(text: str, layout: _Layout) -> Iterator[list[str]]:
    """Iterate over the rows above the first one with a misplaced quote."""
    with suppress(csv.Error):
        yield from _rows_of(text, layout, strict=True)


def _rows_of(text: str, layout: _Layout, strict: bool = False) -> Any:
    """Return the csv module's reader of the text."""
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=layout.separator,
        quotechar=layout.quote,
        skipinitialspace=layout.has_spaces,
        strict=strict,
    )


def _first_rows(text: str, layout: _Layout, is_complete: bool) -> list[list[str]]:
    """Return the first rows that are not blank, without the last one if the text is cut there."""
    rows: list[list[str]] = []
    try:
        for row in _rows_of(text, layout):
            if len(rows) > SAMPLE_ROWS:
                break
            rows.append(row)
        else:
            if not is_complete and len(rows) > 1:
                rows.pop()
    except csv.Error:
        pass  # reported, with its line, when all rows are read
    return [row for row in rows if any(row)]


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns.

    It does if it has a known column name or counts the columns, as pandas does, or if none of its
    cells occurs again in its column, and some cell nowhere.
    """
    first = [cell.strip() for cell in rows[0]]
    if len(rows) == 1 or any(map(is_known_name, first)) or _counts_columns(first):
        return True
    below = [{row[at].strip() for row in rows[1:] if at < len(row)} for at in range(len(first))]
    again = any(cell in cells for cell, cells in zip(first, below, strict=True) if cell)
    return not again and not {cell for cell in first if cell} <= set[str]().union(*below)


def _counts_columns(cells: Sequence[str]) -> bool:
    """Return whether these are 0, 1, 2, …, after an empty cell for the row numbers, if any."""
    counted = cells[1:] if not cells[0] else cells
    return len(counted) > 2 and list(counted) == [str(place) for place in range(len(counted))]


def _padded(row: Sequence[str], width: int) -> list[str]:
    return [*row[:width], *[""] * (width - len(row))]


def _load_by_polars(source: Source, layout: _Layout, places: Sequence[int]) -> pl.DataFrame | None:
    """Return the columns at these positions, or None if Polars cannot read the file."""
    try:
        # All columns, because Polars ignores what is left over in a row after the chosen ones.
        frame = pl.read_csv(
            source.content,
            has_header=layout.has_header,
            separator=layout.separator,
            quote_char=layout.quote,
            infer_schema=False,
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None
    if len(frame.columns) < len(layout.names):  # some rows are longer than the header
        return None
    return frame.select(frame.columns[place] for place in places)


def _load_by_python(source: Source, layout: _Layout, places: Sequence[int]) -> pl.DataFrame:
    """Return the columns at these positions.

    The csv module is slower than Polars, but it reports the line of a malformed row and accepts
    quotes within a cell.
    """
    rows = _all_rows(source, layout)
    cells = [
        [row[place] or None for place in places]
        for row in islice(rows, int(layout.has_header), None)
    ]
    schema = [(layout.names[place], pl.String) for place in places]
    return pl.DataFrame(cells, schema=schema, orient="row")


def _all_rows(source: Source, layout: _Layout) -> Iterator[list[str]]:
    reader, width = _rows_of(source.read().decode("utf-8-sig"), layout, True), len(layout.names)
    try:
        for row in reader:
            if len(row) > width:
                raise BadFile(
                    f"{source.name}, line {reader.line_num:,}: {len(row)} cells, but the first "
                    f"row has {width}. Quote cells that contain {layout.separator!r}, and delete "
                    "lines above the header."
                )
            if row:
                yield _padded(row, width)
    except csv.Error as error:
        raise BadFile(
            f"{source.name}, line {reader.line_num:,}: {error}. Correct the quotes of this row."
        ) from None
