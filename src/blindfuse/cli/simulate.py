"""``blindfuse simulate``: simulate responses with known true labels."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.options import Command, force_option, seed_option
from blindfuse.cli.outputs import OutputFile, is_stdout, table_bytes, table_writer, write_all

if TYPE_CHECKING:
    from blindfuse import Responses
    from blindfuse.result import Columns
    from blindfuse.typing import Array

SHARE = click.FloatRange(0, 1)


def _number(
    name: str, kind: click.ParamType[Any], default: float, text: str
) -> Callable[[Command], Command]:
    return click.option(f"--{name}", type=kind, default=default, show_default=True, help=text)


@click.command(
    epilog="""\b
Examples:
  blindfuse simulate -o votes.csv --truth truth.csv
  blindfuse simulate --items 5000 --annotators 30 --missing 0.8 -o votes.csv
  blindfuse simulate --adversaries 0.2 | blindfuse fuse -
"""
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(stdout=True),
    default="-",
    help="Write one row per response: .csv, .tsv, .jsonl (or these with .gz) or .parquet.  "
    "[default: standard output]",
)
@click.option(
    "--truth", type=OutputFile(), help="Write the true label of each item, in a format of -o."
)
@force_option(expose_value=False)
@_number("items", click.IntRange(1), 1000, "Number of items.")
@_number("annotators", click.IntRange(1), 10, "Number of annotators.")
@_number("classes", click.IntRange(2), 3, "Number of classes.")
@_number("missing", SHARE, 0.0, "Probability that an annotator does not respond to an item.")
@_number(
    "skill",
    SHARE,
    0.3,
    "Skill of the annotators: 0 is random but better than chance, 1 is always right.",
)
@_number("adversaries", SHARE, 0.0, "Share of adversarial annotators, who prefer a wrong class.")
@_number("copiers", click.INT, 0, "Number of annotators who copy responses of the first one.")
@_number("copy-probability", SHARE, 0.9, "Probability that a copier copies a response.")
@seed_option()
def command(
    output: Path,
    truth: Path | None,
    items: int,
    annotators: int,
    classes: int,
    copiers: int,
    seed: int,
    **shares: float,
) -> None:
    """Simulate responses of annotators with random confusion matrices.

    The copiers are the annotators a2, a3, …, who copy a1. The adversaries are the last annotators.
    """
    import numpy as np

    from blindfuse import simulate
    from blindfuse.cli.screen import write_stdout

    if not 0 <= copiers < annotators:
        raise click.UsageError(f"--copiers must be from 0 to {annotators - 1}.")
    groups = [range(copiers + 1)] if copiers else []
    rng = np.random.default_rng(seed)
    simulation = simulate(items, annotators, classes, rng, dependent_groups=groups, **shares)
    responses = response_columns(simulation.responses)
    tables = {} if is_stdout(output) else {output: responses}
    if truth is not None:
        names = {"item": _names("i", np.arange(items)), "label": _names("", simulation.truth)}
        tables[truth] = names
    write_all({path: table_writer([columns], path) for path, columns in tables.items()})
    if is_stdout(output):
        write_stdout(table_bytes(responses, "csv"))


def response_columns(responses: "Responses") -> "Columns":
    """Return one row per response."""
    rows = responses.by_item
    return {
        "item": _names("i", responses.item_of_response()),
        "annotator": _names("a", rows.codes),
        "label": _names("", rows.symbols),
    }


def _names(prefix: str, codes: "Array") -> "Array":
    """Return names with numbers: from 1 after a prefix, from 0 (classes) without one."""
    import numpy as np

    first = 1 if prefix else 0
    names = [f"{prefix}{number}" for number in range(first, first + int(codes.max(initial=0)) + 1)]
    return np.array(names, dtype=object)[codes]
