"""``blindfuse datasets``: list the public datasets."""

import os
from pathlib import Path

import click

from blindfuse.cli.options import json_option
from blindfuse.errors import BadParameter


@click.command(
    epilog="""\b
Examples:
  blindfuse datasets
  blindfuse datasets --data data
"""
)
@click.option(
    "--data",
    envvar="BLINDFUSE_DATA",
    show_envvar=True,
    metavar="FOLDER",
    help="Folder with crowd/NAME/labels.csv.gz and crowd/NAME/truth.csv.gz.",
)
@json_option("as_json")
def command(data: str | None, as_json: bool) -> None:
    """List public crowdsourcing datasets with true labels.

    These are the datasets in a folder (--data), or else those that can be downloaded. In Python,
    blindfuse.datasets.load("rte") loads a dataset, and downloads it first if necessary.
    """
    from blindfuse.cli.screen import Screen, table, write_json

    rows = _local_datasets(data) if data else _downloadable_datasets()
    if as_json:
        write_json({"datasets": rows})
    elif rows:
        Screen().show(table(("name", "file"), ([row["name"], row["file"]] for row in rows)))
    else:
        Screen().note(f"{data} has no file crowd/NAME/labels.csv.gz")


def _local_datasets(data: str) -> list[dict[str, str]]:
    if not os.path.isdir(data):
        raise BadParameter(f"{data} is not a folder. Pass another with data=.")
    files = sorted(Path(data).glob("crowd/*/labels.csv.gz"))
    return [{"name": path.parent.name, "file": str(path)} for path in files]


def _downloadable_datasets() -> list[dict[str, str]]:
    from blindfuse.datasets.converting import CONVERTERS
    from blindfuse.datasets.downloading import cached_crowd

    files = {name: cached_crowd(name) / "labels.csv.gz" for name in sorted(CONVERTERS)}
    return [
        {"name": name, "file": str(path) if path.is_file() else "not downloaded yet"}
        for name, path in files.items()
    ]
