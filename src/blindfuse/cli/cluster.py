"""``blindfuse cluster``: fuse clusterings of the same items into one partition."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from blindfuse.cli.fused_files import FusedFiles
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import (
    report_option,
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
@report_option
@click.option(
    "--model", type=OutputFile(("npz",)), help="Save the model for `blindfuse predict`: .npz."
)
@with_output_options("one row per item")
@with_input_options
@seed_option
@threads_option
def command(
    inputs: InputOptions,
    output: OutputOptions,
    report: Path | None,
    runs_path: Path | None,
    model: Path | None,
    seed: int,
    threads: int | None,
) -> None:
    """Fuse the clusterings in FILE… into one class per item.

    FILE has one row per item and one column per run, or one row per item and run. Every run has
    clusters of its own: cluster 3 of one run has nothing to do with cluster 3 of another. --classes
    is the number of classes, or their names; without it, the number is chosen by how well the
    clusters of one run are predicted from those of the others.
    """
    from blindfuse.cli.fuse_options import FusionResult
    from blindfuse.fusion.fuse_clusters import fuse_clusters

    files = FusedFiles(output, report, runs_path, model)
    with output.screen.progress() as step:
        data = replace(inputs, classes=None).read(output.screen, step, are_known=True)
        step(f"fusing {data.responses.n_annotators:,} clusterings")
        classes = _number_or_names(inputs.classes)
        fusion = fuse_clusters(data.responses, classes, seed=seed, threads=threads)
        fused = FusionResult(fusion, {}, fusion)
        others = files.others(fused, inputs.title, data.notes, step)
    files.write(fused, data.notes, others, "No labels were written; add `-o clusters.csv`.")


def _number_or_names(classes: Any) -> Any:
    """Return a single whole number as the number of classes, and anything else as their names."""
    if classes is not None and len(classes) == 1 and classes[0].strip().isdecimal():
        return int(classes[0])
    return classes
