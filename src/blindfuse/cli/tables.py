"""Results as data frames, and data frames as files."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from blindfuse.cli.output_files import FileWriter, file_extension
from blindfuse.result import DECIMALS, Columns
from blindfuse.typing import Array


def data_frame(columns: Columns) -> pl.DataFrame:
    """Return the columns of a result as a frame; missing values are null."""
    return pl.DataFrame([_series(*column) for column in columns.items()]).fill_nan(None)


def _series(name: str, column: Array) -> pl.Series:
    if np.ma.isMaskedArray(column):
        return pl.Series(name, column.tolist(), dtype=pl.Int64)
    if column.dtype.kind not in "OU":
        return pl.Series(name, column)
    series = pl.Series(name, column.tolist())
    return series.cast(pl.String) if series.dtype == pl.Null else series


def writer(frame: pl.DataFrame, target: Path, spreadsheet: bool = False) -> FileWriter:
    """Return a function that writes the frame in the format of the target's extension."""
    if file_extension(target) != "parquet":
        return text_writer([frame], target, spreadsheet)
    return lambda path: write_buffered(path, [frame.write_parquet])


def text_writer(
    frames: Iterable[pl.DataFrame], target: Path, spreadsheet: bool = False
) -> FileWriter:
    """Return a function that writes frames with the same columns to one text file.

    With ``spreadsheet``, CSV and TSV have no cell that a spreadsheet runs as a formula.
    """
    extension = file_extension(target)
    is_gzip = target.name.lower().endswith(".gz")
    compression: Literal["gzip", "uncompressed"] = "gzip" if is_gzip else "uncompressed"

    def write_frame(number: int, frame: pl.DataFrame, file: BytesIO) -> None:
        if extension in ("jsonl", "ndjson"):
            frame.write_ndjson(file, compression=compression)
        else:
            separator = "\t" if extension == "tsv" else ","
            cells = without_formulas(frame) if spreadsheet else frame
            cells.write_csv(
                file, separator=separator, include_header=number == 0, compression=compression
            )

    return lambda path: write_buffered(
        path,
        (partial(write_frame, *numbered) for numbered in enumerate(map(_rounded, frames))),
    )


def write_buffered(path: Path, writers: Iterable[Callable[[BytesIO], Any]]) -> None:
    """Write what each function writes to a buffer.

    Polars reports a full disk as an error of the Parquet format, and cannot open a path that is
    not UTF-8, so Python writes the file.
    """
    with path.open("wb") as file:
        for write in writers:
            buffer = BytesIO()
            write(buffer)
            file.write(buffer.getbuffer())


def as_csv(frame: pl.DataFrame, spreadsheet: bool = False) -> bytes:
    """Return the frame as CSV, for a pipe."""
    buffer = BytesIO()
    _rounded(without_formulas(frame) if spreadsheet else frame).write_csv(buffer)
    return buffer.getvalue()


def as_rows(frame: pl.DataFrame) -> Sequence[dict[str, Any]]:
    """Return the frame as a list of objects, for JSON."""
    return _rounded(frame).to_dicts()


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with an apostrophe before texts that a spreadsheet runs as formulas."""
    text = pl.selectors.string()
    is_formula = text.str.contains(r"^[=+\-@\t\r]")
    safe = frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
    return safe.rename({name: f"'{name}" for name in frame.columns if name[:1] in "=+-@\t\r"})


def _rounded(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.selectors.float().round(DECIMALS))
