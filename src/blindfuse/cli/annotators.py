"""``blindfuse annotators``: estimated accuracy of every annotator."""

from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fusing import FuseOptions, with_fuse_options
from blindfuse.cli.options import (
    InputOptions,
    OutputOptions,
    with_input_options,
    with_output_options,
)

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
    from blindfuse.result import json_rows

    with output.screen.progress() as step:
        data = inputs.read(output.screen, step)
        fusion = options.fuse(data, output.screen, step).fusion
    columns = fusion.annotator_columns()
    rows = json_rows(columns)
    output.write(
        columns,
        text=lambda: _summarize(fusion, rows),
        document=lambda: {"method": fusion.method, "annotators": rows},
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


def _row(row: dict[str, Any]) -> list[object]:
    from blindfuse.cli.screen import text
    from blindfuse.diagnostics.annotators import FLAGS

    remarks = [FLAGS[row["flag"]]] if row["flag"] else []
    if row["dependent_group"]:
        remarks.append(f"dependent group {row['dependent_group']}")
    return [
        row["annotator"],
        f"{row['responses']:,}",
        text(f"{100 * row['accuracy']:.1f} %", "red" if row["flag"] else ""),
        f"{100 * row['accuracy_low']:.0f}–{100 * row['accuracy_high']:.0f}",
        f"{row['worst_class']} → {row['confused_with']}",
        text(", ".join(remarks), "yellow"),
    ]
