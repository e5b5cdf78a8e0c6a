"""``blindfuse cluster``: fuse clusterings of the same items into one partition."""

from dataclasses import replace
from typing import Any

import click

from blindfuse.cli.fusing import FusedFiles, FusionResult, with_other_files, write_result
from blindfuse.cli.options import (
    InputOptions,
    OutputOptions,
    seed_option,
    threads_option,
    with_input_options,
    with_output_options,
)


@click.command(
    epilog="""\b
Examples:
  blindfuse cluster runs.csv --classes 10 -o clusters.csv
  blindfuse cluster runs.csv --runs runs_rated.csv
"""
)
@with_other_files
@with_output_options("one row per item")
@with_input_options
@seed_option
@threads_option
def command(
    inputs: InputOptions,
    output: OutputOptions,
    other_files: FusedFiles,
    seed: int,
    threads: int | None,
) -> None:
    """Fuse the clusterings in FILE… into one class per item.

    FILE has one row per item and one column per run, or one row per item and run. Every run has
    clusters of its own: cluster 3 of one run has nothing to do with cluster 3 of another. --classes
    is the number of classes, or their names; without it, the number is chosen by how well the
    clusters of one run are predicted from those of the others.
    """
    from blindfuse import fuse_clusters

    names: Any = inputs.classes or None
    if names is not None and len(names) == 1 and names[0].isdecimal():
        names = int(names[0])
    with output.screen.progress() as step:
        data = replace(inputs, classes=()).read(output.screen, step, are_known=True)
        step(f"fusing {data.responses.n_annotators:,} clusterings")
        fusion = fuse_clusters(data.responses, names, seed=seed, threads=threads)
        fused = FusionResult(fusion, {})
        writers = other_files.writers(fused, output, inputs.title, data.notes, step)
    write_result(fused, output, data.notes, writers, "labels")
