"""``blindfuse methods``: list the methods that --method accepts."""

import click

from blindfuse.cli.fusing import FUSE
from blindfuse.cli.options import json_option


@click.command(
    epilog="""\b
Examples:
  blindfuse methods
  blindfuse fuse votes.csv --method dawid-skene
"""
)
@json_option("as_json")
def command(as_json: bool) -> None:
    """List the methods that --method accepts, with their requirements and costs.

    Case, spaces, hyphens, commas and underscores in names are ignored.
    """
    from blindfuse.cli.screen import Screen, paragraph_table, write_json

    rows = _rows()
    if as_json:
        write_json({"methods": rows})
    else:
        Screen().show(paragraph_table((str(row["method"]), _sentences(row)) for row in rows))


def _rows() -> list[dict[str, str | None]]:
    """Return name, description, needs and cost of every method."""
    from blindfuse import fuse
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
    return rows


def _sentences(row: dict[str, str | None]) -> str:
    sentences = [row["description"]]
    if row["needs"]:
        sentences.append(f"Needs {row['needs']}.")
    if row["cost"]:
        sentences.append(f"Cost: {row['cost']}.")
    return " ".join(str(sentence) for sentence in sentences)


def _first_paragraph(documented: object) -> str:
    """Return the first paragraph of a docstring in one line."""
    first = (documented.__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(first.replace("``", "").split())
