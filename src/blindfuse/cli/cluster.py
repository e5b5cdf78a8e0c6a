"""``blindfuse cluster``: fuse clusterings of the same items into one partition."""

from dataclasses import replace
from typing import Any

import click

from blindfuse.cli.fusing import FusedFiles, fuse_files
from blindfuse.cli.options import InputOptions, OutputOptions, seed_option, takes, threads_option


@click.command(
    epilog="""\b
Examples:
  blindfuse cluster runs.csv --classes 10 -o clusters.csv
  blindfuse cluster runs.csv --runs runs_rated.csv
"""
)
@takes(other_files=FusedFiles, output=OutputOptions, inputs=InputOptions)
@seed_option()
@threads_option()
def command(
    inputs: InputOptions, output: OutputOptions, other_files: FusedFiles, **options: Any
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
    fuse_files(
        replace(inputs, classes=()),
        output,
        other_files,
        lambda data, step: fuse_clusters(data.responses, names, **options),
        are_known=True,
    )
