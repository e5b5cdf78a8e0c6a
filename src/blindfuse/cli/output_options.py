"""How a command gives its answer: a table in a file or a pipe, a JSON document, or words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.output_files import Write, is_pipe, write_all

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from blindfuse.cli.screen import Screen


@dataclass(frozen=True)
class OutputOptions:
    """What ``-o``, ``--json`` and ``--quiet`` ask for."""

    output: Path | None
    as_json: bool
    quiet: bool

    def __post_init__(self) -> None:
        if self.as_json and is_pipe(self.output):
            raise click.UsageError("Standard output takes either --json or -o -, not both.")

    @cached_property
    def screen(self) -> "Screen":
        """Where the command speaks on its way."""
        from blindfuse.cli.screen import Screen

        return Screen(quiet=self.quiet, data=self.as_json or is_pipe(self.output))

    def give(
        self,
        frame: "pl.DataFrame",
        words: "Callable[[], list[RenderableType]]",
        document: Callable[[], Mapping[str, Any]],
        also: Mapping[Path, Write] | None = None,
    ) -> None:
        """Write the table, and other files beside it; then print the document, or else words."""
        from blindfuse.cli.screen import write_data, write_json
        from blindfuse.cli.tables import as_csv, writer

        outputs = dict(also or {})
        if self.output is not None and not is_pipe(self.output):
            outputs[self.output] = writer(frame, self.output)
        write_all(outputs)
        if is_pipe(self.output):
            write_data(as_csv(frame))
        if self.as_json:
            write_json(document())
        else:
            self.screen.show(*words())
            self.screen.note(*(f"{path} is written" for path in outputs))
