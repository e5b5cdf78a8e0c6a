"""The files of a fusion of ratings or sets: items, annotators and the report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from blindfuse.cli.output_files import FileWriter, string_writer
from blindfuse.cli.output_options import OutputOptions
from blindfuse.cli.summary import paragraph_table
from blindfuse.cli.tables import writer
from blindfuse.errors import BadParameter


@dataclass(frozen=True)
class FusedFiles:
    """Where the results of a fusion go: the output, the report and the table of annotators."""

    output: OutputOptions
    report: Path | None
    annotators: Path | None

    def write(
        self,
        items: pl.DataFrame,
        annotators: Callable[[], pl.DataFrame],
        page: Callable[[], str],
        summary: list[tuple[str, str]],
        document: Callable[[], Mapping[str, Any]],
        nothing_written: str,
    ) -> None:
        """Write what was asked for and print the summary, or ``nothing_written`` below it."""
        output, others = self.output, dict[Path, FileWriter]()
        if self.annotators is not None:
            others[self.annotators] = writer(annotators(), self.annotators, output.spreadsheet)
        if self.report is not None:
            others[self.report] = string_writer(page())
        output.write(items, lambda: [paragraph_table(summary)], document, others)
        if output.path is None and not output.as_json:
            output.screen.note(nothing_written)


def refuse_options(given: Mapping[str, bool], reason: str) -> None:
    """Raise an error that names the first option that is given, and why it cannot be."""
    for option, is_given in given.items():
        if is_given:
            raise BadParameter(f"{option} {reason}")
