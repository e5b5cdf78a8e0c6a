"""Where output goes: checked before the work, written beside and renamed after it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from blindfuse.cli.system import next_step
from blindfuse.errors import BadFile, BadParameter, naming
from blindfuse.files import beside

TABLES = ("csv", "tsv", "jsonl", "ndjson", "parquet")
PACKED = ("csv", "tsv", "jsonl", "ndjson")

Write = Callable[[Path], None]


class Target(click.ParamType[Path]):
    """A file to be written, refused at once if that cannot be; ``-`` is standard output."""

    name = "FILE"
    _FORCE = "blindfuse.force"

    def __init__(self, endings: Sequence[str] = TABLES, *, pipe: bool = False) -> None:
        self.endings = endings
        self.pipe = pipe

    @classmethod
    def allow(cls, ctx: click.Context, option: click.Parameter, force: bool) -> None:
        """Let targets of this command exist already."""
        ctx.meta[cls._FORCE] = force

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if str(value) == "-" and self.pipe:
            return path
        force = ctx is not None and ctx.meta.get(self._FORCE, False)
        if ending_of(path) not in self.endings:
            raise BadParameter(
                f"{path} must end in one of {naming(self.endings)}: that says what it will be."
            )
        if not path.parent.is_dir():
            raise BadFile(f"{path} cannot be written: there is no folder {path.parent}. Make it.")
        if path.exists() and not path.is_file():
            raise BadFile(f"{path} is no file that could be written. Choose another name.")
        if path.exists() and not force:
            raise BadFile(f"{path} exists already. Pass --force to overwrite it.")
        if not os.access(path.parent, os.W_OK):
            raise BadFile(f"{path} cannot be written: {path.parent} is read-only. Choose another.")
        return path


def ending_of(path: Path) -> str:
    """What a name ends in, without ``.gz`` if that is for text: ``csv`` for ``fused.csv.gz``."""
    *_, before, last = ["", *path.name.lower().split(".")]
    return before if last == "gz" and before in PACKED else last


def is_pipe(path: Path | None) -> bool:
    """Whether this is standard output."""
    return path is not None and str(path) == "-"


def refuse_twice(*paths: Path | None) -> None:
    """An error if two outputs have one name."""
    given = [path.absolute() for path in paths if path is not None]
    if len(set(given)) < len(given):
        raise BadParameter(f"Two outputs cannot have one name: {naming(map(str, given))}.")


def write_all(outputs: dict[Path, Write]) -> None:
    """Write all files, or none."""
    try:
        with beside(*outputs) as places:
            for place, write in zip(places, outputs.values(), strict=True):
                write(place)
    except OSError as error:
        names = naming(map(str, outputs))
        reason = f"{error.strerror or error}. {next_step(error)}"
        raise BadFile(f"{names} cannot be written: {reason}") from error
