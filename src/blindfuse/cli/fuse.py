"""``blindfuse fuse``: fuse responses into one label, set or number per item."""

from dataclasses import replace
from typing import Any

import click

from blindfuse.cli.fusing import (
    KINDS,
    LABELS,
    FusedFiles,
    FuseOptions,
    FusionResult,
    fuse_files,
)
from blindfuse.cli.options import (
    EXISTING_FILE,
    InputOptions,
    OutputOptions,
    refuse_combinations,
    takes,
)

_ONE_LABEL = ("method", "ordered", "prior_model", "model", "checked", "partitioned")
EXCLUDED = {
    "numbers": ("multi_label", "scores", "abstentions", "classes", "separator", *_ONE_LABEL),
    "multi_label": ("scores", "abstentions", *_ONE_LABEL),
    "scores": ("abstentions", "separator", "partitioned"),
    "abstentions": ("separator", "partitioned"),
    "partitioned": ("checked",),
}
"""The options that an option cannot be used with."""


@click.command(
    epilog="""\b
Examples:
  blindfuse fuse votes.csv
  blindfuse fuse votes.csv -o fused.csv --report report.html
  blindfuse fuse "batches/*.csv.gz" --gold checked.csv -o fused.parquet
  blindfuse fuse votes.csv --checked to_check.csv -o fused.csv
  blindfuse fuse votes.csv --item image --annotator worker --label verdict
  blindfuse fuse grades.csv --ordered --classes poor,fair,good
  blindfuse fuse ratings.csv --numbers -o fused.csv
  blindfuse fuse judged.jsonl --scores --classes fail,pass -o fused.csv
  blindfuse fuse sources.csv --abstentions -o fused.csv
  blindfuse fuse tags.csv --multi-label -o fused.csv --report report.html
  zcat votes.csv.gz | blindfuse fuse - -o - > fused.csv
"""
)
@takes(output=OutputOptions, other_files=FusedFiles)
@click.option(
    "--checked",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Checked labels, see `blindfuse audit`: held fixed, and used to select the method.",
)
@click.option(
    "--partitioned/--whole",
    default=None,
    help="Read the files in partitions, or at once (see above).  [default: in partitions if they "
    "do not fit into memory]",
)
@click.option(
    "--numbers", is_flag=True, help="The labels are numbers, such as ratings; estimate the truth."
)
@click.option(
    "--scores",
    is_flag=True,
    help="The labels are scores, such as 0 to 10; fuse them into the classes of --classes, from "
    "low to high.  [default classes: fail,pass]",
)
@click.option(
    "--abstentions",
    is_flag=True,
    help="A missing response says something, because all annotators saw all items.",
)
@click.option(
    "--multi-label",
    is_flag=True,
    help="A label is a set of classes, such as a|b; fuse each class, and all classes together.",
)
@click.option(
    "--separator",
    metavar="TEXT",
    help="What separates classes in a cell, with --multi-label.  [default: the first of | ; , that "
    "occurs]",
)
@takes(inputs=InputOptions, options=FuseOptions)
def command(
    inputs: InputOptions,
    options: FuseOptions,
    output: OutputOptions,
    other_files: FusedFiles,
    checked: str | None,
    partitioned: bool | None,
    **kinds: bool,
) -> None:
    """Fuse the responses in FILE… into one label per item and rate the annotators.

    A FILE is a long or wide table (CSV, TSV, JSON lines, Parquet, Arrow), an export of Label
    Studio, Toloka, MTurk, Prodigy, Argilla or doccano, or a file of LLM judgements. It may also be
    a glob pattern, a folder, a .gz, .bz2, .xz or .zip file, or - for standard input. The columns
    are detected by name and content, and notes report which ones were used.

    The output has the columns item, label, confidence (the posterior probability of the label),
    margin (its lead over the second most probable class), needs_another_label (whether one more
    response could change the label), gain (by how much that response is expected to raise the
    probability of a correct label), and p_CLASS for each class if there are at most 20. Without
    -o, only a summary is printed.

    With --scores, what a score of one annotator means is learned from the scores of the others.

    With --numbers, the output has the columns item, estimate, low and high (a 95 % interval),
    ratings and spread.

    With --multi-label, the output has the columns item, labels (as a|b), probability (that the
    whole set is correct), needs_another_label and p_CLASS. An empty list, or an empty cell of a
    long CSV file, is the response that no class applies.

    Gold labels (--gold, or a column of true labels in FILE) are held fixed. The error on them is
    measured by a second fusion that does not use them.

    Checked labels (--checked) are held fixed too. If they show that another method makes fewer
    errors than the selected one, that method is used, and the summary says so.

    A long table that is larger than memory is read in partitions. The items are distributed over
    temporary files, the model is estimated from a sample of the items, and the labels are written
    one partition after another, so the order of the items changes.
    """
    refuse_combinations(EXCLUDED, needed={"separator": "multi_label"})
    kinds["abstentions"] = options.abstentions
    kind = next((KINDS[name] for name, is_given in kinds.items() if is_given), LABELS)
    must_be_whole = checked is not None or any(kinds.values()) or partitioned is not None
    reason = None if must_be_whole else inputs.reason_to_partition()
    if partitioned or reason:
        from blindfuse.cli.partitions import fuse_partitions

        output.screen.note(*filter(None, [reason]))
        fuse_partitions(inputs, options, output, other_files)
        return

    def fuse(data: Any, step: Any) -> FusionResult:
        fused = options.fuse(data, output.screen, step, kind)
        if checked is None:
            return fused
        from blindfuse.auditing.apply_checks import apply_checks
        from blindfuse.cli.audit import audit_file

        audit = audit_file(fused.fusion, checked, output.screen)
        return replace(fused, fusion=apply_checks(fused.fusion, audit))

    fuse_files(inputs, output, other_files, fuse, kind=kind.reads, separator=options.separator)
