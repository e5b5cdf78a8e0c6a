"""``blindfuse fuse``: the main job."""

from pathlib import Path

import click

from blindfuse.cli.fuse_options import FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import answers_with, fuses, reads_answers
from blindfuse.cli.output_files import Target, Write, refuse_twice
from blindfuse.cli.output_options import OutputOptions
from blindfuse.cli.report import page
from blindfuse.errors import BadFile, BadParameter

TOGETHER = "MajorityVote", "LatentSubtypes"
"""Methods whose labels a model of independent annotators would not give."""


@click.command(
    epilog="""\b
Examples:
  blindfuse fuse votes.csv
  blindfuse fuse votes.csv -o fused.csv --report report.html
  blindfuse fuse "batches/*.csv.gz" --gold checked.csv -o fused.parquet
  blindfuse fuse votes.csv --item image --annotator who --label answer
  blindfuse fuse grades.csv --ordered --classes poor,fair,good
  zcat votes.csv.gz | blindfuse fuse - -o - > fused.csv
"""
)
@answers_with("One row an item")
@click.option("--report", type=Target(("html", "htm")), help="A page to look at: .html.")
@click.option("--annotators", type=Target(), help="One row an annotator, written as -o is.")
@click.option("--model", type=Target(("npz",)), help="What was learned, for predict: .npz.")
@click.option(
    "--in-parts/--whole",
    default=None,
    help="How files are read, see above.  [default: in parts if larger than memory]",
)
@reads_answers
@fuses
def command(
    answers: InputOptions,
    how: FuseOptions,
    answer: OutputOptions,
    report: Path | None,
    annotators: Path | None,
    model: Path | None,
    in_parts: bool | None,
) -> None:
    """One label an item from the answers in FILE…, and who is how good.

    A FILE may be a CSV, TSV, JSON lines, Parquet or Arrow table, long or wide, an export of Label
    Studio, Toloka, MTurk, Prodigy, Argilla or doccano, or the verdicts of LLM judges; also a
    pattern, a folder, a .gz, a .zip, or - for standard input. Columns are guessed by name, and the
    guess is said.

    The output has the columns item, label, confidence (the chance that the label is right), margin
    (to the next class), needs_another_label, and p_CLASS for each class if there are at most 20.
    Without -o there is only a summary.

    Gold labels (--gold, or a truth in the file itself) are held fixed, and the error on them is
    measured by a fusion that was not told them.

    A long table that is larger than memory is fused in parts: items are dealt into parts on disk,
    a sample of them is learned from, and labels are written part by part, in another order.
    """
    from blindfuse.cli.summary import document, summary
    from blindfuse.cli.tables import annotator_frame, fused_frame, writer

    refuse_twice(answer.output, report, annotators, model)
    why = answers.too_large() if in_parts is None else None
    if in_parts or why:
        from blindfuse.cli.fuse_partitions import fuse_in_parts

        try:
            fuse_in_parts(answers, how, answer, report, annotators, model)
        except (BadFile, BadParameter) as refusal:
            if why is None:
                raise
            raise type(refusal)(f"{refusal} {why}") from refusal
        return
    screen, also = answer.screen, dict[Path, Write]()
    with screen.working() as step:
        found = answers.read(screen, step)
        fused = how.fuse(found, screen, step)
        if annotators is not None:
            also[annotators] = writer(annotator_frame(fused.fusion), annotators)
        if model is not None:
            also[model] = fused.fusion.model.save
        if report is not None:
            step("comparing methods for the report")
            also[report] = page(answers.title, found.notes, fused)
    answer.give(
        fused_frame(fused.fusion),
        words=lambda: [summary(fused)],
        document=lambda: document(fused, found.notes),
        also=also,
    )
    if model is not None and fused.fusion.method in TOGETHER:
        screen.note(
            f"{model} holds what is known of each annotator alone; they err together, so fuse new "
            "items with these rather than predict them"
        )
    if answer.output is None and not answer.as_json:
        screen.note("no labels are written: -o fused.csv would")
