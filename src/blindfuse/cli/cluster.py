"""``blindfuse cluster``: fuse clusterings of the same items into one partition."""

from dataclasses import replace
from typing import Any

import click

from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import (
    seed_option,
    threads_option,
    with_input_options,
    with_output_options,
)
from blindfuse.cli.output_files import OutputFile
from blindfuse.cli.output_options import OutputOptions


@click.command(
    epilog="""\b
Examples:
  blindfuse cluster runs.csv --classes 10 -o clusters.csv
  blindfuse cluster runs.csv --runs runs_rated.csv
"""
)
@click.option(
    "--runs",
    "runs_path",
    type=OutputFile(),
    help="Write one row per run: its clusters and how well it agrees with the result.",
)
@with_output_options("one row per item")
@with_input_options
@seed_option
@threads_option
def command(
    inputs: InputOptions,
    output: OutputOptions,
    runs_path: Any,
    seed: int,
    threads: int | None,
) -> None:
    """Fuse the clusterings in FILE… into one class per item.

    FILE has one row per item and one column per run, or one row per item and run. Every run has
    clusters of its own: cluster 3 of one run has nothing to do with cluster 3 of another. --classes
    is the number of classes, or their names; without it, the number is chosen by how well the
    clusters of one run are predicted from those of the others.
    """
    from blindfuse.cli.fused_files import FusedFiles
    from blindfuse.fusion.fuse_clusters import fuse_clusters

    with output.screen.progress() as step:
        data = replace(inputs, classes=None).read(output.screen, step, are_known=True)
        step(f"fusing {data.responses.n_annotators:,} clusterings")
        classes = _number_or_names(inputs.classes)
        fusion = fuse_clusters(data.responses, classes, seed=seed, threads=threads)
    files = FusedFiles(output, None, runs_path)
    files.write(fusion, data.notes, str, "No labels were written; add `-o clusters.csv`.")


def _number_or_names(classes: Any) -> Any:
    """Return a single whole number as the number of classes, and anything else as their names."""
    if classes is not None and len(classes) == 1 and classes[0].strip().isdecimal():
        return int(classes[0])
    return classes
