"""``blindfuse annotators``: estimated accuracy of every annotator."""

from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fuse_options import FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import with_fuse_options, with_input_options, with_output_options
from blindfuse.cli.output_options import OutputOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blindfuse import Fusion

MAX_ROWS = 40
"""Annotators in the table on the terminal; a file has all."""


@click.command(
    epilog="""\b
Examples:
  blindfuse annotators votes.csv
  blindfuse annotators votes.csv -o annotators.csv
  blindfuse annotators votes.csv --json | jq '.annotators[] | select(.flag)'
"""
)
@with_output_options("one row per annotator")
@with_input_options
@with_fuse_options
def command(inputs: InputOptions, options: FuseOptions, output: OutputOptions) -> None:
    """Rate the annotators in FILE… without gold labels.

    The least accurate annotators come first. The table has the estimated accuracy with a 95 %
    interval, the class with the lowest recall and what it is confused with, and remarks.
    Annotators with correlated errors have the same group number. Files and --json also have the
    coverage, overlap and conflict of each annotator.
    """
    from blindfuse.cli.tables import data_frame
    from blindfuse.result import json_rows

    with output.screen.progress() as step:
        found = inputs.read(output.screen, step)
        fusion = options.fuse(found, output.screen, step).fusion
    columns = fusion.annotator_columns()
    frame = data_frame(columns)
    output.write(
        frame,
        text=lambda: _summarize(fusion, frame.to_dicts()),
        document=lambda: {"method": fusion.method, "annotators": json_rows(columns)},
    )


def _summarize(fusion: "Fusion", rows: list[dict[str, Any]]) -> "list[RenderableType]":
    from blindfuse.cli.screen import table, text

    figures = "responses", "accuracy", "95 %"
    columns = "annotator", *figures, "worst class → reported", "remarks"
    diagnostics = fusion.diagnostics
    parts: list[RenderableType] = [
        table(columns, map(_row, rows[:MAX_ROWS]), right=figures),
        "",
        text(diagnostics.annotators.summary()),
        text(diagnostics.coverage.summary()),
        text(diagnostics.dependence.summary()),
    ]
    if len(rows) > MAX_ROWS:
        more = len(rows) - MAX_ROWS
        parts.append(f"The {more:,} most accurate are not shown; add -o annotators.csv.")
    return parts


def _row(one: dict[str, Any]) -> list[object]:
    from blindfuse.cli.screen import text
    from blindfuse.diagnostics.annotators import FLAGS

    remarks = [FLAGS[one["flag"]]] if one["flag"] else []
    if one["dependent_group"]:
        remarks.append(f"dependent group {one['dependent_group']}")
    return [
        one["annotator"],
        f"{one['responses']:,}",
        text(f"{100 * one['accuracy']:.1f} %", "red" if one["flag"] else ""),
        f"{100 * one['accuracy_low']:.0f}–{100 * one['accuracy_high']:.0f}",
        f"{one['worst_class']} → {one['confused_with']}",
        text(", ".join(remarks), "yellow"),
    ]
