"""``blindfuse datasets``: what there is to try methods on."""

import os
from pathlib import Path

import click

from blindfuse.cli.options import as_json
from blindfuse.errors import BadParameter


@click.command(
    epilog="""\b
Examples:
  blindfuse datasets --data data
  blindfuse fuse data/crowd/rte/labels.csv.gz
"""
)
@click.option(
    "--data",
    envvar="BLINDFUSE_DATA",
    show_envvar=True,
    metavar="FOLDER",
    help="Where crowd/NAME/labels.csv.gz and truth.csv.gz are.",
)
@as_json
def command(data: str | None, as_json: bool) -> None:
    """The crowd sets with a known truth that are on this machine."""
    from blindfuse.cli.screen import Screen, table, write_json

    if not data:
        raise BadParameter("No folder of datasets is known. Pass data=, or set BLINDFUSE_DATA.")
    if not os.path.isdir(data):
        raise BadParameter(f"{data} is no folder. Pass another with data=.")
    found = sorted(Path(data).glob("crowd/*/labels.csv.gz"))
    rows = [{"name": path.parent.name, "labels": str(path)} for path in found]
    if as_json:
        write_json({"datasets": rows})
    elif rows:
        Screen().show(table(("name", "labels"), ([row["name"], row["labels"]] for row in rows)))
    else:
        Screen().note(f"{data} has no crowd/NAME/labels.csv.gz")
