"""``blindfuse next``: choose which items to label next, and by whom."""

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

MAX_ROWS = 20
"""Maximum number of requests printed; a file has all."""


@click.command(
    epilog="""\b
Examples:
  blindfuse next votes.csv --budget 100 -o requests.csv
  blindfuse next votes.csv --budget 100 --max-per-annotator 10
"""
)
@with_output_options("one row per request")
@with_input_options
@click.option(
    "--budget",
    type=int,
    default=100,
    show_default=True,
    metavar="N",
    help="Number of responses to request.",
)
@click.option(
    "--max-per-annotator", type=int, metavar="N", help="Maximum number of requests per annotator."
)
@with_fuse_options
def command(
    inputs: InputOptions,
    options: FuseOptions,
    budget: int,
    max_per_annotator: int | None,
    output: OutputOptions,
) -> None:
    """Choose the N most informative responses to request for the items in FILE…

    The gain of a response is the expected decrease of the entropy of the item's label, in nats.
    The requests are sorted by gain, the largest first, with at most one per item.
    """
    from blindfuse import next_labels
    from blindfuse.result import json_rows

    with output.screen.progress() as step:
        data = inputs.read(output.screen, step)
        fusion = options.fuse(data, output.screen, step).fusion
        asked = next_labels(fusion, budget, max_per_annotator=max_per_annotator)
    columns = {"item": asked.items, "annotator": asked.annotators, "gain": asked.gains}
    rows = json_rows(columns)
    output.write(columns, text=lambda: _text(rows, budget), document=lambda: {"requests": rows})


def _text(requests: list[dict[str, Any]], budget: int) -> "list[RenderableType]":
    from blindfuse.cli.screen import table

    if not requests:
        return [
            "No request would be informative: every informative annotator has labelled every item."
        ]
    rows = [(row["item"], row["annotator"], f"{row['gain']:.3f}") for row in requests[:MAX_ROWS]]
    blocks: list[RenderableType] = [table(("item", "annotator", "gain"), rows, right=["gain"])]
    if len(requests) > MAX_ROWS:
        more = f"{len(requests) - MAX_ROWS:,} more with smaller gains; add `-o requests.csv`."
        blocks += ["", more]
    if len(requests) < budget:
        blocks += ["", f"Only {len(requests):,} requests would be informative."]
    return blocks
