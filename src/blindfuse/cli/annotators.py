"""``blindfuse annotators``: estimated accuracy of every annotator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fusing import FuseOptions
from blindfuse.cli.options import InputOptions, OutputOptions, takes

if TYPE_CHECKING:
    from blindfuse import Fusion


@click.command(
    epilog="""\b
Examples:
  blindfuse annotators votes.csv
  blindfuse annotators votes.csv -o annotators.csv
  blindfuse annotators votes.csv --json | jq '.annotators[] | select(.flag)'
"""
)
@takes(output=OutputOptions, inputs=InputOptions, options=FuseOptions)
def command(inputs: InputOptions, options: FuseOptions, output: OutputOptions) -> None:
    """Rate the annotators in FILE… without gold labels.

    The table has one row per annotator, the least accurate first: the estimated accuracy with a
    95 % interval, the class with the lowest recall and what it is confused with, and remarks.
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
        text=lambda: _describe(fusion, rows),
        document=lambda: {"method": fusion.method, "annotators": rows},
    )


def _describe(fusion: "Fusion", rows: list[dict[str, Any]]) -> Iterator[Any]:
    from blindfuse.cli.screen import preview, text
    from blindfuse.diagnostics.annotators import FLAGS

    figures = "responses", "accuracy", "95 %"
    cells = []
    for row in rows:
        group = row["dependent_group"]
        remarks = FLAGS.get(row["flag"], ""), f"dependent group {group}" if group else ""
        low, high = (f"{100 * row[end]:.0f}" for end in ("accuracy_low", "accuracy_high"))
        cells.append(
            (
                row["annotator"],
                f"{row['responses']:,}",
                text(f"{100 * row['accuracy']:.1f} %", "red" if row["flag"] else ""),
                f"{low}–{high}",
                f"{row['worst_class']} → {row['confused_with']}",
                text(", ".join(filter(None, remarks)), "yellow"),
            )
        )
    columns = "annotator", *figures, "worst class → reported", "remarks"
    yield from preview(columns, cells, right=figures)
    yield ""
    diagnostics = fusion.diagnostics
    for each in (diagnostics.annotators, diagnostics.coverage, diagnostics.dependence):
        yield text(each.summary())
