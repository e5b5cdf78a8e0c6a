"""Output files: checked before the work starts, and written completely or not at all."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from blindfuse.cli.system import remedy
from blindfuse.errors import BadFile, BadParameter, list_names
from blindfuse.files import atomic_paths

COMPRESSIBLE = ("csv", "tsv", "jsonl", "ndjson")
"""Extensions of text tables, which may be followed by ``.gz``."""
TABLES = (*COMPRESSIBLE, "parquet")
"""Extensions of all tables that can be written."""

FileWriter = Callable[[Path], None]
"""A function that writes one output to a path."""


def string_writer(text: str) -> FileWriter:
    """Return a function that writes this text as UTF-8."""

    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write


class OutputFile(click.ParamType[Path]):
    """A path to write to, refused at once if it cannot be written; ``-`` is standard output."""

    name = "FILE"
    _FORCE, _TARGETS = "blindfuse.force", "blindfuse.targets"

    def __init__(self, extensions: Sequence[str] = TABLES, *, stdout: bool = False) -> None:
        self.extensions = extensions
        self.stdout = stdout

    @classmethod
    def allow_overwriting(cls, ctx: click.Context, option: click.Parameter, force: bool) -> None:
        """Store whether the outputs of this command may exist already."""
        ctx.meta[cls._FORCE] = force

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if str(value) == "-" and self.stdout:
            return path
        target = Path(os.path.realpath(path))  # a symbolic link is kept, and its target written
        force = ctx is not None and ctx.meta.get(self._FORCE, False)
        if file_extension(path) not in self.extensions:
            raise BadParameter(
                f"{path} must end in one of {list_names(self.extensions)}: the extension chooses "
                "the format."
            )
        folder = target.parent if path.is_symlink() else path.parent
        if not folder.is_dir():
            raise BadFile(
                f"{path} cannot be written: the folder {folder} does not exist. Create it."
            )
        if path.exists() and not path.is_file():
            raise BadFile(f"{path} is not a regular file. Choose another name.")
        if path.exists() and not force:
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
            if name != param.name and _are_one_file(path, other):
                raise BadParameter(
                    f"Two outputs are the same file: {list_names([str(other), str(path)])}. "
                    "Rename one of them."
                )
        targets[param.name] = path


def refuse_overwriting(inputs: Sequence[str]) -> None:
    """Raise an error if the command would write to one of the files that it reads."""
    targets = click.get_current_context().meta.get(OutputFile._TARGETS, {})
    for path in targets.values():
        if any(_are_one_file(path, Path(one)) for one in inputs if one != "-"):
            raise BadParameter(
                f"{path} is read, and would be overwritten by the output. Choose another name."
            )


def _are_one_file(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


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
        reason = f"{error.strerror or error}. {remedy(error)}"
        raise BadFile(f"{names} cannot be written: {reason}") from error
