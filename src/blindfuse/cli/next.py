"""``blindfuse next``: which items to send out again."""

from typing import TYPE_CHECKING

import click

from blindfuse.cli.fuse_options import FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import answers_with, fuses, reads_answers
from blindfuse.cli.output_options import OutputOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_ROWS = 20
"""Requests in a table on the screen; a file has all."""


@click.command(
    epilog="""\b
Examples:
  blindfuse next votes.csv --budget 100 -o ask.csv
  blindfuse next votes.csv --budget 100 --most-per-annotator 10
"""
)
@answers_with("All of them")
@reads_answers
@click.option("--budget", type=int, required=True, metavar="N", help="How many answers to ask for.")
@click.option("--most-per-annotator", type=int, metavar="N", help="At most so many of one person.")
@fuses
def command(
    answers: InputOptions,
    how: FuseOptions,
    budget: int,
    most_per_annotator: int | None,
    answer: OutputOptions,
) -> None:
    """The N answers that would tell most about the items in FILE…, and whom to ask.

    A gain is the expected fall of the entropy of an item's label, in nats; the largest come first.
    """
    import polars as pl

    from blindfuse import next_labels
    from blindfuse.cli.tables import as_rows

    with answer.screen.working() as step:
        found = answers.read(answer.screen, step)
        fusion = how.fuse(found, answer.screen, step).fusion
        wanted = next_labels(fusion, budget, most_per_annotator=most_per_annotator)
    frame = pl.DataFrame(
        {"item": wanted.items, "annotator": wanted.annotators, "gain": wanted.gains},
        schema={"item": pl.String, "annotator": pl.String, "gain": pl.Float64},
    )
    answer.give(
        frame,
        words=lambda: _words(frame.rows(), budget),
        document=lambda: {"requests": as_rows(frame)},
    )


def _words(requests: list[tuple[str, str, float]], budget: int) -> "list[RenderableType]":
    from blindfuse.cli.screen import table

    if not requests:
        return ["Nobody is left to ask: all who could tell more have answered."]
    rows = [(item, who, f"{gain:.3f}") for item, who, gain in requests[:MOST_ROWS]]
    words: list[RenderableType] = [table(("item", "ask", "gain"), rows, right=["gain"])]
    if len(requests) > MOST_ROWS:
        words += ["", f"{len(requests) - MOST_ROWS:,} more tell less: see all with -o ask.csv."]
    if len(requests) < budget:
        words += ["", f"No more than {len(requests):,} answers would tell anything."]
    return words
