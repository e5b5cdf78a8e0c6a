"""``blindfuse simulate``: simulate responses with known true labels."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blindfuse.cli.options import force_option, seed_option
from blindfuse.cli.output_files import OutputFile, is_stdout, write_all

if TYPE_CHECKING:
    import polars as pl

    from blindfuse import Responses, Simulation
    from blindfuse.typing import Array

Proportion = click.FloatRange(0, 1)


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
@click.option(
    "--items", type=click.IntRange(1), default=1000, show_default=True, help="Number of items."
)
@click.option(
    "--annotators",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of annotators.",
)
@click.option(
    "--classes", type=click.IntRange(2), default=3, show_default=True, help="Number of classes."
)
@click.option(
    "--missing",
    type=Proportion,
    default=0.0,
    show_default=True,
    help="Probability that an annotator does not respond to an item.",
)
@click.option(
    "--skill",
    type=Proportion,
    default=0.3,
    show_default=True,
    help="Skill of the annotators: 0 is random but better than chance, 1 is always right.",
)
@click.option(
    "--adversaries",
    type=Proportion,
    default=0.0,
    show_default=True,
    help="Share of adversarial annotators, who prefer a wrong class.",
)
@click.option(
    "--copiers",
    type=int,
    default=0,
    show_default=True,
    help="Number of annotators who copy responses of the first annotator.",
)
@click.option(
    "--copy-probability",
    type=Proportion,
    default=0.9,
    show_default=True,
    help="Probability that a copier copies a response.",
)
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
    frames = {} if truth is None else {truth: _truth_frame(simulation)}
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


def _truth_frame(simulation: "Simulation") -> "pl.DataFrame":
    """Return one row per item."""
    import numpy as np
    import polars as pl

    items = np.arange(simulation.responses.n_items)
    return pl.DataFrame({"item": _names("i", items), "label": _names("", simulation.truth)})


def _names(prefix: str, codes: "Array") -> "pl.Series":
    """Return names with numbers: from 1 after a prefix, from 0 (classes) without one."""
    import polars as pl

    numbers = pl.Series(codes).cast(pl.Int64)
    return pl.select(pl.format(prefix + "{}", numbers + (1 if prefix else 0))).to_series()
