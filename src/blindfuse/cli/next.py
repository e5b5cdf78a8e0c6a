"""``blindfuse next``: choose which items to label next, and by whom."""

from collections.abc import Iterator
from typing import Any

import click

from blindfuse.cli.fusing import FuseOptions
from blindfuse.cli.options import InputOptions, OutputOptions, takes


@click.command(
    epilog="""\b
Examples:
  blindfuse next votes.csv --budget 100 -o requests.csv
  blindfuse next votes.csv --budget 100 --max-per-annotator 10
"""
)
@takes(output=OutputOptions, inputs=InputOptions, options=FuseOptions)
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
def command(
    inputs: InputOptions,
    options: FuseOptions,
    budget: int,
    max_per_annotator: int | None,
    output: OutputOptions,
) -> None:
    """Choose the N most informative responses to request for the items in FILE…

    The gain of a response is the expected decrease of the entropy of the item's label, in nats.
    The table has one row per request, the largest gain first, with at most one per item.
    """
    from blindfuse import next_labels
    from blindfuse.result import json_rows

    with output.screen.progress() as step:
        data = inputs.read(output.screen, step)
        fusion = options.fuse(data, output.screen, step).fusion
        asked = next_labels(fusion, budget, max_per_annotator=max_per_annotator)
    columns = {"item": asked.items, "annotator": asked.annotators, "gain": asked.gains}
    rows = json_rows(columns)
    output.write(columns, text=lambda: _describe(rows, budget), document=lambda: {"requests": rows})


def _describe(requests: list[dict[str, Any]], budget: int) -> Iterator[Any]:
    from blindfuse.cli.screen import preview

    if not requests:
        yield "No request would be informative: all informative annotators labelled every item."
        return
    rows = [(row["item"], row["annotator"], f"{row['gain']:.3f}") for row in requests]
    yield from preview(("item", "annotator", "gain"), rows, right=["gain"])
    if len(requests) < budget:
        yield f"\nOnly {len(requests):,} requests would be informative."
