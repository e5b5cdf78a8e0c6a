"""``OutputOptions``: where a command writes its result, as a table, a JSON document or text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.output_files import FileWriter, file_extension, is_stdout, write_all

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from blindfuse.cli.screen import Screen

_CELLS = ("csv", "tsv")
"""Extensions of the tables that spreadsheets open."""


@dataclass(frozen=True)
class OutputOptions:
    """The values of ``-o``, ``--json``, ``--quiet`` and ``--spreadsheet``."""

    path: Path | None
    as_json: bool
    quiet: bool
    spreadsheet: bool

    def __post_init__(self) -> None:
        if self.as_json and is_stdout(self.path):
            raise click.UsageError(
                "--json and -o - both write to standard output. Leave one of them out."
            )
        is_text = self.path is None or is_stdout(self.path) or file_extension(self.path) in _CELLS
        if self.spreadsheet and not is_text:
            raise click.UsageError("--spreadsheet is for .csv and .tsv files. Leave it out.")

    @cached_property
    def screen(self) -> "Screen":
        """The screen for text, notes and progress."""
        from blindfuse.cli.screen import Screen

        return Screen(quiet=self.quiet, data_on_stdout=self.as_json or is_stdout(self.path))

    def write(
        self,
        frame: "pl.DataFrame",
        text: "Callable[[], list[RenderableType]]",
        document: Callable[[], Mapping[str, Any]],
        other_files: Mapping[Path, FileWriter] | None = None,
    ) -> None:
        """Write the table and the other files, then print the JSON document or the text."""
        from blindfuse.cli.screen import write_json, write_stdout
        from blindfuse.cli.tables import as_csv, writer

        outputs = dict(other_files or {})
        if self.path is not None and not is_stdout(self.path):
            outputs[self.path] = writer(frame, self.path, self.spreadsheet)
        write_all(outputs)
        if is_stdout(self.path):
            write_stdout(as_csv(frame, self.spreadsheet))
        if self.as_json:
            write_json(document())
        else:
            self.screen.show(*text())
            self.screen.note_written(*outputs)
