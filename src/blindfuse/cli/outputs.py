"""What commands write: checked before the work starts, and written completely or not at all."""

import os
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from blindfuse.errors import BadFile, BadParameter, list_names
from blindfuse.files import atomic_paths

if TYPE_CHECKING:
    import polars as pl

    from blindfuse.result import Columns

CELLS = ("csv", "tsv")
"""Extensions of the tables that spreadsheets open."""
COMPRESSIBLE = (*CELLS, "jsonl", "ndjson")
"""Extensions of text tables, which may be followed by ``.gz``; ``parquet`` is the other table."""
REMEDY = "Free some space, or choose another path."
"""What to do about a file that the system refuses to write."""

FileWriter = Callable[[Path], Any]
"""A function that writes one output to a path."""


class BelowLimit(click.ClickException):
    """A result that is worse than a limit of the user's; the exit code is 1."""


class OutputFile(click.ParamType[Path]):
    """A path to write to, whose extension chooses the format; ``-`` may be standard output."""

    name = "FILE"

    def __init__(
        self, extensions: Sequence[str] = (*COMPRESSIBLE, "parquet"), *, stdout: bool = False
    ) -> None:
        self.extensions = extensions
        self.stdout = stdout

    def convert(self, value: Any, *_: Any) -> Path:
        path = Path(value)
        if file_extension(path) in self.extensions or (is_stdout(path) and self.stdout):
            return path
        raise BadParameter(
            f"{path} must end in one of {list_names(self.extensions)}: the extension chooses the "
            "format."
        )


def check_files() -> None:
    """Raise an error, before the work starts, if a file of the command cannot be written."""
    context = click.get_current_context()
    given = context.params
    outputs: list[Path] = []
    inputs = [Path(name) for name in given.get("files", ()) if name != "-"]
    for each in context.command.params:
        path = given.get(str(each.name))
        if path and isinstance(each.type, click.Path):
            inputs.append(Path(path))
        elif path and isinstance(each.type, OutputFile) and not is_stdout(path):
            outputs.append(path)
    for at, path in enumerate(outputs):
        _check_target(path, given["force"])
        if any(_is_same_file(path, other) for other in inputs):
            raise BadParameter(
                f"{path} is read, and would be overwritten by the output. Choose another name."
            )
        for other in outputs[:at]:
            if _is_same_file(path, other):
                raise BadParameter(
                    f"Two outputs are the same file: {list_names([str(other), str(path)])}. "
                    "Rename one of them."
                )


def _check_target(path: Path, force: bool) -> None:
    """Raise an error if the file cannot be written; the target of a symbolic link counts."""
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise BadFile(f"{path} cannot be written: the folder {folder} does not exist. Create it.")
    if path.exists() and not path.is_file():
        raise BadFile(f"{path} is not a regular file. Choose another name.")
    if path.exists() and not force:
        raise BadFile(f"{path} exists already. Pass --force to overwrite it.")
    if not os.access(folder, os.W_OK):
        raise BadFile(f"{path} cannot be written: {folder} is read-only. Choose another folder.")


def _is_same_file(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


def file_extension(path: Path) -> str:
    """Return the extension without the ``.gz`` of text tables: ``csv`` for ``fused.csv.gz``."""
    *_, before, last = ["", *path.name.lower().split(".")]
    return before if last == "gz" and before in COMPRESSIBLE else last


def is_stdout(path: Path | None) -> bool:
    """Return whether this path stands for standard output."""
    return path is not None and str(path) == "-"


def write_all(outputs: dict[Path, FileWriter]) -> None:
    """Write all files, or none of them."""
    try:
        with atomic_paths(*outputs) as temporary_paths:
            for path, write in zip(temporary_paths, outputs.values(), strict=True):
                write(path)
    except OSError as error:
        names = list_names(map(str, outputs))
        reason = f"{error.strerror or error}. {REMEDY}"
        raise BadFile(f"{names} cannot be written: {reason}") from error


def table_writer(
    tables: "Iterable[Columns]", target: Path, spreadsheet: bool = False
) -> FileWriter:
    """Return a function that writes tables with the same columns below each other.

    The format is that of the target's extension; only text tables can have several parts.
    """
    extension = file_extension(target)
    is_gzip = target.name.lower().endswith(".gz")

    def write(path: Path) -> None:
        with path.open("wb") as file:
            for number, columns in enumerate(tables):
                file.write(table_bytes(columns, extension, spreadsheet, is_gzip, number == 0))

    return write


def table_bytes(
    columns: "Columns",
    extension: str,
    spreadsheet: bool = False,
    is_gzip: bool = False,
    has_header: bool = True,
) -> bytes:
    """Return a table as the content of a file; numbers in texts are rounded.

    With ``spreadsheet``, CSV and TSV have no cell that a spreadsheet runs as a formula.
    """
    import polars as pl

    from blindfuse.result import DECIMALS

    frame, buffer = data_frame(columns), BytesIO()
    if extension == "parquet":
        frame.write_parquet(buffer)
        return buffer.getvalue()
    frame = frame.with_columns(pl.selectors.float().round(DECIMALS))
    compression: Literal["gzip", "uncompressed"] = "gzip" if is_gzip else "uncompressed"
    if extension in CELLS:
        cells = _without_formulas(frame) if spreadsheet else frame
        separator = "\t" if extension == "tsv" else ","
        cells.write_csv(
            buffer, separator=separator, include_header=has_header, compression=compression
        )
    else:
        frame.write_ndjson(buffer, compression=compression)
    return buffer.getvalue()


def data_frame(columns: "Columns") -> "pl.DataFrame":
    """Return the columns of a result as a frame; missing values are null."""
    import numpy as np
    import polars as pl

    def series(name: str, column: Any) -> pl.Series:
        if np.ma.isMaskedArray(column):
            return pl.Series(name, column.tolist(), dtype=pl.Int64)
        if column.dtype.kind not in "OU":
            return pl.Series(name, column)
        texts = pl.Series(name, column.tolist())
        return texts.cast(pl.String) if texts.dtype == pl.Null else texts

    return pl.DataFrame([series(*column) for column in columns.items()]).fill_nan(None)


def _without_formulas(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the frame with an apostrophe before texts that a spreadsheet runs as formulas."""
    import polars as pl

    text = pl.selectors.string()
    is_formula = text.str.contains(r"^[=+\-@\t\r]")
    safe = frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
    return safe.rename({name: f"'{name}" for name in frame.columns if name[:1] in "=+-@\t\r"})
