"""The files of a fusion of ratings or sets: items, annotators and the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from blindfuse.cli.output_files import FileWriter, string_writer
from blindfuse.cli.output_options import OutputOptions
from blindfuse.cli.screen import paragraph_table
from blindfuse.cli.tables import data_frame, writer
from blindfuse.errors import BadParameter
from blindfuse.result import Result


@dataclass(frozen=True)
class FusedFiles:
    """Where the results of a fusion go: the output, the report and the table of annotators."""

    output: OutputOptions
    report: Path | None
    annotators: Path | None

    def write(
        self,
        result: Result,
        notes: Sequence[str],
        page: Callable[[], str],
        nothing_written: str,
    ) -> None:
        """Write what was asked for and print the summary, or ``nothing_written`` below it."""
        output, others = self.output, dict[Path, FileWriter]()
        if self.annotators is not None:
            frame = data_frame(result.annotator_columns())
            others[self.annotators] = writer(frame, self.annotators, output.spreadsheet)
        if self.report is not None:
            others[self.report] = string_writer(page())
        output.write(
            data_frame(result.item_columns()),
            text=lambda: [summary_table(result)],
            document=lambda: json_document(result, notes),
            other_files=others,
        )
        if output.path is None and not output.as_json:
            output.screen.note(nothing_written)


def summary_table(result: Result, gold: str | None = None) -> Table:
    """Return what was fused and how, the error on ``gold``, and the paragraphs that matter here."""
    method = f"{result.method[:1].upper()}{result.method[1:]}"
    rows = [("Fused", result.size), ("Method", f"{method}. {result.why}")]
    if gold is not None:
        rows.append(("Gold labels", gold))
    rows += [
        (each.heading, each.text) for each in result.paragraphs() if each.warning or not each.detail
    ]
    return paragraph_table(rows)


def json_document(result: Result, notes: Sequence[str]) -> dict[str, Any]:
    """Return the whole result as one JSON object, with the notes of reading."""
    document = result.to_json()
    return {**document, "notes": list(dict.fromkeys([*notes, *document["notes"]]))}


def refuse_options(given: Mapping[str, bool], reason: str) -> None:
    """Raise an error that names the first option that is given, and why it cannot be."""
    for option, is_given in given.items():
        if is_given:
            raise BadParameter(f"{option} {reason}")
