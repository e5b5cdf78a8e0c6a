"""``blindfuse simulate``: answers whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.options import force, seeded
from blindfuse.cli.output_files import Target, is_pipe, refuse_twice, write_all

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Share = click.FloatRange(0, 1)


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
    type=Target(pipe=True),
    default="-",
    help="The answers, one a row: .csv, .tsv, .jsonl (each also .gz) or .parquet.",
)
@click.option("--truth", type=Target(), help="The class of every item, written as -o is.")
@force
@click.option("--items", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--annotators", type=click.IntRange(1), default=10, show_default=True)
@click.option("--classes", type=click.IntRange(2), default=3, show_default=True)
@click.option("--missing", type=Share, default=0.0, help="Share of answers that are not given.")
@click.option("--skill", type=Share, default=0.3, show_default=True, help="1 is never wrong.")
@click.option("--adversaries", type=Share, default=0.0, help="Share who err on purpose.")
@click.option("--copiers", type=int, default=0, help="So many repeat what the first one says…")
@click.option("--copying", type=Share, default=0.9, show_default=True, help="…with this chance.")
@seeded
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
    copying: float,
    seed: int,
) -> None:
    """Answers of made-up annotators, to try things on.

    The adversaries are the last ones. Copiers follow the first annotator, and come next to it.
    """
    import numpy as np
    import polars as pl

    from blindfuse.cli.screen import write_data
    from blindfuse.cli.tables import as_csv, writer
    from blindfuse.simulation import simulate

    refuse_twice(output, truth)
    if not 0 <= copiers < annotators:
        raise click.UsageError(f"--copiers must be from 0 to {annotators - 1}.")
    made = simulate(
        items,
        annotators,
        classes,
        np.random.default_rng(seed),
        skill=skill,
        missing=missing,
        adversaries=adversaries,
        cliques=[range(copiers + 1)] if copiers else [],
        copying=copying,
    )
    given = made.responses.by_item
    answers = pl.DataFrame(
        {
            "item": _numbered("i", made.responses.item_of_response()),
            "annotator": _numbered("a", given.codes),
            "label": _numbered("", given.labels),
        }
    )
    true = {"item": _numbered("i", np.arange(items)), "label": _numbered("", made.truth)}
    frames = {} if truth is None else {truth: pl.DataFrame(true)}
    if not is_pipe(output):
        frames[output] = answers
    write_all({path: writer(frame, path) for path, frame in frames.items()})
    if is_pipe(output):
        write_data(as_csv(answers))


def _numbered(prefix: str, codes: "NDArray[Any]") -> "pl.Series":
    """Names by number, from 1; classes from 0."""
    import polars as pl

    numbers = pl.Series(codes).cast(pl.Int64)
    return pl.select(pl.format(prefix + "{}", numbers + (1 if prefix else 0))).to_series()
