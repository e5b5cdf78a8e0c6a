"""``blindfuse annotators``: who is how good."""

from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fuse_options import FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import answers_with, fuses, reads_answers
from blindfuse.cli.output_options import OutputOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blindfuse import Fusion

MOST_ROWS = 40
"""Annotators in a table on the screen; a file has all."""

FLAGS = {
    "adversary": "worse than chance",
    "spammer": "no better than chance",
    "constant": "always the same answer",
}


@click.command(
    epilog="""\b
Examples:
  blindfuse annotators votes.csv
  blindfuse annotators votes.csv -o annotators.csv
  blindfuse annotators votes.csv --json | jq '.annotators[] | select(.flag)'
"""
)
@answers_with("All of them")
@reads_answers
@fuses
def command(answers: InputOptions, how: FuseOptions, answer: OutputOptions) -> None:
    """How accurate everybody in FILE… is, as estimated without the truth.

    The least accurate come first, each with a 95 % interval, the class that they miss most and what
    they take it for. Annotators who err together beyond the model share the number of a group.
    """
    from blindfuse.cli.tables import annotator_frame, as_rows

    with answer.screen.working() as step:
        found = answers.read(answer.screen, step)
        fusion = how.fuse(found, answer.screen, step).fusion
    frame = annotator_frame(fusion)
    answer.give(
        frame,
        words=lambda: _words(fusion, frame.to_dicts()),
        document=lambda: {"method": fusion.method, "annotators": as_rows(frame)},
    )


def _words(fusion: "Fusion", rows: list[dict[str, Any]]) -> "list[RenderableType]":
    from blindfuse.cli.screen import table, text

    columns = "annotator", "labels", "accuracy", "95 %", "misses most", "remark"
    told = fusion.diagnostics
    words: list[RenderableType] = [
        table(columns, map(_row, rows[:MOST_ROWS]), right=columns[1:4]),
        "",
        text(told.annotators.summary()),
        text(told.dependence.summary()),
    ]
    if len(rows) > MOST_ROWS:
        words.append(f"{len(rows) - MOST_ROWS:,} more are better: see all with -o annotators.csv.")
    return words


def _row(one: dict[str, Any]) -> list[object]:
    from blindfuse.cli.screen import text

    remarks = [FLAGS[one["flag"]]] if one["flag"] else []
    if one["errs_with_group"]:
        remarks.append(f"errs with group {one['errs_with_group']}")
    return [
        one["annotator"],
        f"{one['labels']:,}",
        text(f"{100 * one['accuracy']:.1f} %", "red" if one["flag"] else ""),
        f"{100 * one['accuracy_low']:.0f}–{100 * one['accuracy_high']:.0f}",
        f"{one['worst_class']} → {one['taken_for']}",
        text(", ".join(remarks), "yellow"),
    ]
