"""``blindfuse fuse --partitioned``: files that are larger than memory."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from blindfuse.cli.fuse_options import FUSE, FuseOptions, FusionResult
from blindfuse.cli.fused_files import summary_table
from blindfuse.cli.input_options import InputOptions, gold_with_responses
from blindfuse.cli.output_files import (
    COMPRESSIBLE,
    FileWriter,
    file_extension,
    is_stdout,
    write_all,
)
from blindfuse.cli.output_options import OutputOptions
from blindfuse.cli.screen import Screen, Step
from blindfuse.cli.tables import data_frame, text_writer, writer
from blindfuse.diagnostics.items import rate_items
from blindfuse.errors import BadParameter
from blindfuse.fusion.fuse import fuse
from blindfuse.fusion.fuse_stream import FusedStream, fuse_stream
from blindfuse.fusion.gold_check import check_on_gold
from blindfuse.fusion.presentation import label_columns
from blindfuse.readers.gold import read_gold
from blindfuse.readers.partitions import Partitions, read_partitions
from blindfuse.readers.reading import overlap_note, unlabelled_item_note
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.sanity import sanity_notes


def fuse_partitions(
    inputs: InputOptions,
    options: FuseOptions,
    output: OutputOptions,
    report: Path | None,
    annotators: Path | None,
    model: Path | None,
) -> None:
    """Estimate the model from a sample of the items, then label and write each partition."""
    _refuse_unsupported(options, output, report)
    screen = output.screen
    with screen.progress() as step:
        step(f"partitioning the items of {inputs.title}")
        with read_partitions(inputs.files, **inputs.reading_options()) as partitions:
            n_partitions = len(partitions.files)
            screen.note(*partitions.notes, f"split into {n_partitions:,} partitions")
            gold = _read_gold(partitions, options, screen)
            step("estimating the model from a sample of the items")
            stream = fuse_stream(
                partitions,
                gold=gold,
                seed=options.seed,
                ordered=options.ordered,
                threads=options.threads,
                method=options.estimator(),
            )
            sample = stream.fusion.responses
            screen.note(
                *partitions.repeat_notes,
                *overlap_note(sample),
                *unlabelled_item_note(sample),
                *sanity_notes(sample),
            )
            outputs: dict[Path, FileWriter] = {}
            if output.path is not None:
                outputs[output.path] = _label_writer(
                    stream, output.path, n_partitions, step, output.spreadsheet
                )
            if annotators is not None:
                frame = data_frame(stream.fusion.annotator_columns())
                outputs[annotators] = writer(frame, annotators, output.spreadsheet)
            if model is not None:
                outputs[model] = stream.fusion.save
            write_all(outputs)
        if gold:
            step("fusing without the gold labels to measure the error on them")
        result = _check_gold(stream, options)
    _show(stream, result, screen)
    screen.note_written(*outputs)


def _refuse_unsupported(options: FuseOptions, output: OutputOptions, report: Path | None) -> None:
    """Raise an error for options that need all responses at once."""
    if report or options.prior_model or output.as_json or is_stdout(output.path):
        raise BadParameter(
            "--report, --prior-model, --json and -o - cannot be used with partitions. Leave them "
            "out."
        )
    if output.path is not None and (
        file_extension(output.path) not in COMPRESSIBLE or output.path.suffix == ".gz"
    ):
        raise BadParameter(
            f"{output.path} cannot be written in partitions. Use .csv, .tsv or .jsonl."
        )


def _read_gold(partitions: Partitions, options: FuseOptions, screen: Screen) -> dict[str, str]:
    """Return the gold labels of --gold, or else those in the files, as for whole files."""
    if options.no_gold:
        return {}
    if options.gold is None:
        return dict(partitions.gold)
    gold = read_gold(options.gold, classes=partitions.classes)
    return gold_with_responses(gold, partitions.items_among(gold), options.gold, screen)


def _check_gold(stream: FusedStream, options: FuseOptions) -> FusionResult:
    """Return the fusion of the sample, and the error on gold labels of one that ignores them."""
    fusion, automatic = stream.fusion, options.method == FUSE
    if not stream.gold:
        return FusionResult(fusion, {}, fusion, None, automatic)
    blind = fuse(
        fusion.responses,
        seed=options.seed,
        ordered=options.ordered,
        threads=options.threads,
        method=options.estimator(),
    )
    check = check_on_gold(blind, stream.gold)
    return FusionResult(fusion, stream.gold, blind, check, automatic)


def _label_writer(
    stream: FusedStream, target: Path, n_partitions: int, step: Step, spreadsheet: bool
) -> FileWriter:
    """Return a function that writes the labels of one partition after another."""

    gold = as_names(list(stream.gold))

    def frames() -> Iterator[pl.DataFrame]:
        for number, chunk in enumerate(stream, 1):
            step(f"labelling partition {number:,} of {n_partitions:,}")
            responses = chunk.responses
            is_gold = positions(responses.items, gold) >= 0
            ratings = rate_items(responses, stream.fusion.model, chunk.posteriors, is_gold)
            rows = responses.items, chunk.labels, chunk.posteriors, responses.classes, ratings
            yield data_frame(label_columns(*rows))

    return text_writer(frames(), target, spreadsheet)


def _show(stream: FusedStream, result: FusionResult, screen: Screen) -> None:
    fusion = stream.fusion
    screen.show(summary_table(result.fusion, result.gold_summary))
    screen.note(
        f"The model and this summary are based on a sample of the items, with "
        f"{fusion.responses.n_responses:,} of {stream.n_responses:,} responses; the model labels "
        f"all {stream.n_items:,} items",
    )
