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
    """A path to write to, refused at once if it cannot be written; ``-`` is standard output."""

    name = "FILE"
    _FORCE, _TARGETS = "blindfuse.force", "blindfuse.targets"

    def __init__(
        self, extensions: Sequence[str] = (*COMPRESSIBLE, "parquet"), *, stdout: bool = False
    ) -> None:
        self.extensions = extensions
        self.stdout = stdout

    @classmethod
    def allow_overwriting(cls, ctx: click.Context, option: click.Parameter, force: bool) -> bool:
        """Store whether the outputs of this command may exist already."""
        ctx.meta[cls._FORCE] = force
        return force

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if is_stdout(path) and self.stdout:
            return path
        if file_extension(path) not in self.extensions:
            raise BadParameter(
                f"{path} must end in one of {list_names(self.extensions)}: the extension chooses "
                "the format."
            )
        # A symbolic link is kept, and its target written.
        folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
        if not folder.is_dir():
            raise BadFile(
                f"{path} cannot be written: the folder {folder} does not exist. Create it."
            )
        if path.exists() and not path.is_file():
            raise BadFile(f"{path} is not a regular file. Choose another name.")
        if path.exists() and not (ctx and ctx.meta.get(self._FORCE)):
            raise BadFile(f"{path} exists already. Pass --force to overwrite it.")
        if not os.access(folder, os.W_OK):
            raise BadFile(
                f"{path} cannot be written: {folder} is read-only. Choose another folder."
            )
        if ctx is not None and param is not None:
            self._refuse_shared_target(param, path, ctx.meta.setdefault(self._TARGETS, {}))
        return path

    @staticmethod
    def _refuse_shared_target(
        param: click.Parameter, path: Path, targets: dict[str | None, Path]
    ) -> None:
        """Raise an error if another option of the command writes the same file."""
        for name, other in targets.items():
            if name != param.name and _is_same_file(path, other):
                raise BadParameter(
                    f"Two outputs are the same file: {list_names([str(other), str(path)])}. "
                    "Rename one of them."
                )
        targets[param.name] = path


def refuse_overwriting(inputs: Sequence[str]) -> None:
    """Raise an error if the command would write to one of the files that it reads."""
    targets = click.get_current_context().meta.get(OutputFile._TARGETS, {})
    for path in targets.values():
        if any(_is_same_file(path, Path(name)) for name in inputs if name != "-"):
            raise BadParameter(
                f"{path} is read, and would be overwritten by the output. Choose another name."
            )


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
