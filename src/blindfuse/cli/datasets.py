"""``blindfuse datasets``: what there is to try methods on."""

import os
from pathlib import Path

import click

from blindfuse.cli.options import as_json
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
    help="Where crowd/NAME/labels.csv.gz and truth.csv.gz are.",
)
@as_json
def command(data: str | None, as_json: bool) -> None:
    """Public crowds with a known truth: those in a folder, or those that can be downloaded.

    In Python, blindfuse.datasets.load("rte") reads one, and downloads it first if there is no
    folder and it was not downloaded before.
    """
    from blindfuse.cli.screen import Screen, table, write_json

    rows = _in_folder(data) if data else _by_download()
    if as_json:
        write_json({"datasets": rows})
    elif rows:
        Screen().show(table(("name", "labels"), ([row["name"], row["labels"]] for row in rows)))
    else:
        Screen().note(f"{data} has no crowd/NAME/labels.csv.gz")


def _in_folder(data: str) -> list[dict[str, str]]:
    if not os.path.isdir(data):
        raise BadParameter(f"{data} is no folder. Pass another with data=.")
    found = sorted(Path(data).glob("crowd/*/labels.csv.gz"))
    return [{"name": path.parent.name, "labels": str(path)} for path in found]


def _by_download() -> list[dict[str, str]]:
    from blindfuse.datasets.converting import CONVERTERS
    from blindfuse.datasets.downloading import kept_crowd

    here = {name: kept_crowd(name) / "labels.csv.gz" for name in sorted(CONVERTERS)}
    return [
        {"name": name, "labels": str(path) if path.is_file() else "not downloaded yet"}
        for name, path in here.items()
    ]
