"""Files larger than memory: ``blindfuse fuse --in-parts``."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from blindfuse.cli.fuse_options import FUSE, Fused, FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.output_files import PACKED, Write, ending_of, is_pipe, write_all
from blindfuse.cli.output_options import OutputOptions
from blindfuse.cli.screen import Screen, Step
from blindfuse.cli.summary import summary
from blindfuse.cli.tables import annotator_frame, item_frame, text_writer, writer
from blindfuse.diagnostics.items import rate_items
from blindfuse.errors import BadParameter
from blindfuse.fusion.fuse_stream import FusedStream, fuse_stream
from blindfuse.readers.partitions import read_in_parts


def fuse_in_parts(
    answers: InputOptions,
    how: FuseOptions,
    answer: OutputOptions,
    report: Path | None,
    annotators: Path | None,
    model: Path | None,
) -> None:
    """Learn from a sample of the items, then label part by part, straight into the output."""
    _refuse_what_needs_all(answers, how, answer, report)
    screen = answer.screen
    with screen.working() as step:
        step(f"dealing the items of {answers.title} into parts")
        with read_in_parts(
            answers.files,
            item=answers.item,
            annotator=next(iter(answers.annotator), None),
            label=answers.label,
            classes=answers.classes,
        ) as parts:
            found = ", ".join(f"{role} in {where!r}" for role, where in parts.columns.items())
            screen.note(f"read as long, in parts ({len(parts.files):,}): {found}")
            step("learning from a sample of the items")
            stream = fuse_stream(
                parts, seed=how.seed, ordered=how.ordered, threads=how.threads, selection=how.rule()
            )
            outputs: dict[Path, Write] = {}
            if answer.output is not None:
                outputs[answer.output] = _labels(stream, answer.output, len(parts.files), step)
            if annotators is not None:
                outputs[annotators] = writer(annotator_frame(stream.fusion), annotators)
            if model is not None:
                outputs[model] = stream.fusion.model.save
            write_all(outputs)
    _say(stream, how.method == FUSE, outputs, screen)


def _refuse_what_needs_all(
    answers: InputOptions, how: FuseOptions, answer: OutputOptions, report: Path | None
) -> None:
    if report or how.gold or how.prior_model or answer.as_json or is_pipe(answer.output):
        raise BadParameter(
            "--report, --gold, --prior-model, --json and -o - cannot be used with partitions. "
            "Leave them out."
        )
    if len(answers.annotator) > 1 or answers.format not in (None, "long") or answers.question:
        raise BadParameter("Only long tables of one question are read in parts.")
    if answer.output is not None and (
        ending_of(answer.output) not in PACKED or answer.output.suffix == ".gz"
    ):
        raise BadParameter(
            f"{answer.output} cannot grow part by part. Name a .csv, .tsv or .jsonl."
        )


def _labels(stream: FusedStream, target: Path, count: int, step: Step) -> Write:
    """What writes the labels of one part after another."""

    def frames() -> Iterator[pl.DataFrame]:
        for number, chunk in enumerate(stream, 1):
            step(f"labelling part {number:,} of {count:,}")
            responses = chunk.responses
            about = rate_items(responses, chunk.posteriors)
            yield item_frame(
                responses.items, chunk.labels, chunk.posteriors, responses.classes, about
            )

    return text_writer(frames(), target)


def _say(stream: FusedStream, chosen: bool, outputs: dict[Path, Write], screen: Screen) -> None:
    fusion = stream.fusion
    screen.show(summary(Fused(fusion, {}, fusion, None, chosen)))
    screen.note(
        f"{stream.n_items:,} items with {stream.n_responses:,} labels are labelled by what was "
        f"learned from {fusion.responses.n_responses:,} of them, of which the summary tells",
        *(f"{path} is written" for path in outputs),
    )
