"""``blindfuse simulate``: simulate responses with known true labels."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.options import Command, force_option, seed_option
from blindfuse.cli.output_files import OutputFile, is_stdout, write_all

if TYPE_CHECKING:
    import polars as pl

    from blindfuse import Responses
    from blindfuse.typing import Array

SHARE = click.FloatRange(0, 1)


def _number(
    name: str, kind: click.ParamType[Any], default: float, text: str
) -> Callable[[Command], Command]:
    return click.option(name, type=kind, default=default, show_default=True, help=text)


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
@force_option
@_number("--items", click.IntRange(1), 1000, "Number of items.")
@_number("--annotators", click.IntRange(1), 10, "Number of annotators.")
@_number("--classes", click.IntRange(2), 3, "Number of classes.")
@_number("--missing", SHARE, 0.0, "Probability that an annotator does not respond to an item.")
@_number(
    "--skill",
    SHARE,
    0.3,
    "Skill of the annotators: 0 is random but better than chance, 1 is always right.",
)
@_number("--adversaries", SHARE, 0.0, "Share of adversarial annotators, who prefer a wrong class.")
@_number("--copiers", click.INT, 0, "Number of annotators who copy responses of the first one.")
@_number("--copy-probability", SHARE, 0.9, "Probability that a copier copies a response.")
@seed_option
def command(
    output: Path,
    truth: Path | None,
    items: int,
    annotators: int,
    classes: int,
    missing: float,
    skill: float,
    adversaries: float,
    copiers: int,
    copy_probability: float,
    seed: int,
) -> None:
    """Simulate responses of annotators with random confusion matrices.

    The copiers are the annotators a2, a3, …, who copy a1. The adversaries are the last annotators.
    """
    import numpy as np
    import polars as pl

    from blindfuse.cli.screen import write_stdout
    from blindfuse.cli.tables import as_csv, writer
    from blindfuse.simulation import simulate

    if not 0 <= copiers < annotators:
        raise click.UsageError(f"--copiers must be from 0 to {annotators - 1}.")
    simulation = simulate(
        items,
        annotators,
        classes,
        np.random.default_rng(seed),
        skill=skill,
        missing=missing,
        adversaries=adversaries,
        dependent_groups=[range(copiers + 1)] if copiers else [],
        copy_probability=copy_probability,
    )
    responses = response_frame(simulation.responses)
    frames = {}
    if truth is not None:
        items_of, labels = np.arange(items), _names("", simulation.truth)
        frames[truth] = pl.DataFrame({"item": _names("i", items_of), "label": labels})
    if not is_stdout(output):
        frames[output] = responses
    write_all({path: writer(frame, path) for path, frame in frames.items()})
    if is_stdout(output):
        write_stdout(as_csv(responses))


def response_frame(responses: "Responses") -> "pl.DataFrame":
    """Return one row per response."""
    import polars as pl

    rows = responses.by_item
    return pl.DataFrame(
        {
            "item": _names("i", responses.item_of_response()),
            "annotator": _names("a", rows.codes),
            "label": _names("", rows.symbols),
        }
    )


def _names(prefix: str, codes: "Array") -> "pl.Series":
    """Return names with numbers: from 1 after a prefix, from 0 (classes) without one."""
    import polars as pl

    numbers = pl.Series(codes).cast(pl.Int64)
    return pl.select(pl.format(prefix + "{}", numbers + (1 if prefix else 0))).to_series()
