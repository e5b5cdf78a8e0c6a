"""``blindfuse fuse``: fuse responses into one label per item."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blindfuse.cli.fuse_options import FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import (
    EXISTING_FILE,
    with_fuse_options,
    with_input_options,
    with_output_options,
)
from blindfuse.cli.output_files import FileWriter, OutputFile
from blindfuse.cli.output_options import OutputOptions
from blindfuse.cli.report import report_writer
from blindfuse.errors import BadFile, BadParameter

if TYPE_CHECKING:
    pass


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
@with_output_options("one row per item")
@click.option("--report", type=OutputFile(("html", "htm")), help="Write an HTML report: .html.")
@click.option(
    "--annotators", type=OutputFile(), help="Write one row per annotator, in a format of -o."
)
@click.option(
    "--model", type=OutputFile(("npz",)), help="Save the model for `blindfuse predict`: .npz."
)
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
@with_input_options
@with_fuse_options
def command(
    inputs: InputOptions,
    options: FuseOptions,
    output: OutputOptions,
    report: Path | None,
    annotators: Path | None,
    model: Path | None,
    checked: str | None,
    partitioned: bool | None,
    numbers: bool,
    scores: bool,
    abstentions: bool,
    multi_label: bool,
    separator: str | None,
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
    from blindfuse.cli.summary import json_document, summary_table
    from blindfuse.cli.tables import annotator_frame, fused_frame, writer

    if separator is not None and not multi_label:
        raise BadParameter("--separator is for --multi-label. Add that, or leave it out.")
    kinds = {
        "--numbers": numbers,
        "--multi-label": multi_label,
        "--scores": scores,
        "--abstentions": abstentions,
    }
    given = [name for name, is_given in kinds.items() if is_given]
    if len(given) > 1:
        raise BadParameter(f"{' and '.join(given)} exclude each other. Leave one out.")
    if given and partitioned:
        raise BadParameter(f"{given[0]} reads no partitions. Leave one of the options out.")
    if (numbers or multi_label) and (model is not None or checked is not None):
        raise BadParameter(
            f"{given[0]} saves no model and reads no checked labels. Leave that out."
        )
    options = replace(options, abstentions=abstentions)
    if numbers or multi_label:
        from blindfuse.cli.fused_files import FusedFiles

        files = FusedFiles(output, report, annotators)
        if numbers:
            from blindfuse.cli.fuse_numbers import fuse_number_files

            fuse_number_files(inputs, options, files)
        else:
            from blindfuse.cli.fuse_sets import fuse_set_files

            fuse_set_files(inputs, options, files, separator)
        return
    if partitioned and checked is not None:
        raise BadParameter("checked= cannot be used in partitions. Leave one of the options out.")
    whole = checked is not None or scores or abstentions
    reason = inputs.reason_to_partition() if partitioned is None and not whole else None
    if partitioned or reason:
        from blindfuse.cli.fuse_partitions import fuse_partitions

        try:
            fuse_partitions(inputs, options, output, report, annotators, model)
        except (BadFile, BadParameter) as refusal:
            if reason is None:
                raise
            raise type(refusal)(f"{refusal} {reason}") from refusal
        return
    screen, other_files = output.screen, dict[Path, FileWriter]()
    with screen.progress() as step:
        data = inputs.read(screen, step, kind="scores" if scores else "labels")
        fused = options.fuse(data, screen, step)
        if checked is not None:
            from blindfuse.auditing.apply_checks import apply_checks
            from blindfuse.cli.checked_files import audit_file

            result = audit_file(fused.fusion, checked, screen)
            fused = replace(fused, fusion=apply_checks(fused.fusion, result))
        if annotators is not None:
            other_files[annotators] = writer(
                annotator_frame(fused.fusion), annotators, output.spreadsheet
            )
        if model is not None:
            other_files[model] = fused.fusion.save
        if report is not None:
            step("comparing methods for the report")
            other_files[report] = report_writer(inputs.title, data.notes, fused)
    output.write(
        fused_frame(fused.fusion),
        text=lambda: [summary_table(fused)],
        document=lambda: json_document(fused, data.notes),
        other_files=other_files,
    )
    if output.path is None and not output.as_json:
        screen.note("No labels were written; add `-o fused.csv`.")
