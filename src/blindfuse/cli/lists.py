"""Commands that list what there is: ``methods`` and ``datasets``."""

import os
from pathlib import Path

import click

from blindfuse.cli.fusing import FUSE
from blindfuse.cli.options import json_option
from blindfuse.errors import BadParameter


@click.command(
    epilog="""\b
Examples:
  blindfuse methods
  blindfuse fuse votes.csv --method dawid-skene
"""
)
@json_option("as_json")
def methods_command(as_json: bool) -> None:
    """List the methods that --method accepts, with their requirements and costs.

    Case, spaces, hyphens, commas and underscores in names are ignored.
    """
    from blindfuse import fuse
    from blindfuse.cli.screen import Screen, paragraph_table, write_json
    from blindfuse.estimators.registry import METHODS

    rows: list[dict[str, str | None]] = [
        {"method": FUSE, "description": _first_paragraph(fuse), "needs": None, "cost": None}
    ]
    for name, method in METHODS.items():
        estimator = method()
        description = _first_paragraph(type(estimator))
        if name != type(estimator).__name__:
            description = f"{estimator!r}: {description}"
        rows.append(
            {"method": name, "description": description, "needs": method.needs, "cost": method.cost}
        )
    if as_json:
        write_json({"methods": rows})
    else:
        Screen().show(paragraph_table((str(row["method"]), _sentences(row)) for row in rows))


def _sentences(row: dict[str, str | None]) -> str:
    needs = f" Needs {row['needs']}." if row["needs"] else ""
    return f"{row['description']}{needs}" + (f" Cost: {row['cost']}." if row["cost"] else "")


def _first_paragraph(documented: object) -> str:
    """Return the first paragraph of a docstring in one line."""
    first = (documented.__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(first.replace("``", "").split())


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
def datasets_command(data: str | None, as_json: bool) -> None:
    """List public crowdsourcing datasets with true labels.

    These are the datasets in a folder (--data), or else those that can be downloaded. In Python,
    blindfuse.datasets.load("rte") loads a dataset, and downloads it first if necessary.
    """
    from blindfuse.cli.screen import Screen, table, write_json
    from blindfuse.datasets.converting import CONVERTERS
    from blindfuse.datasets.downloading import cached_crowd
    from blindfuse.report.blocks import Field

    if data is None:
        cached = {name: cached_crowd(name) / "labels.csv.gz" for name in sorted(CONVERTERS)}
    elif os.path.isdir(data):
        cached = {
            path.parent.name: path for path in sorted(Path(data).glob("crowd/*/labels.csv.gz"))
        }
    else:
        raise BadParameter(f"{data} is not a folder. Pass another with data=.")
    rows = [
        {"name": name, "file": str(path) if path.is_file() else "not downloaded yet"}
        for name, path in cached.items()
    ]
    if as_json:
        write_json({"datasets": rows})
    elif rows:
        Screen().show(table((Field("name", "name"), Field("file", "file")), rows))
    else:
        Screen().note(f"{data} has no file crowd/NAME/labels.csv.gz")
