"""``blindfuse fuse --partitioned``: files that are larger than memory."""

from collections.abc import Iterator

from blindfuse.cli.fusing import (
    FusedFiles,
    FuseOptions,
    FusionResult,
    summary_table,
    with_responses,
)
from blindfuse.cli.options import InputOptions, OutputOptions
from blindfuse.cli.outputs import (
    COMPRESSIBLE,
    file_extension,
    is_stdout,
    table_writer,
    write_all,
)
from blindfuse.cli.screen import Screen, Step
from blindfuse.diagnostics.items import rate_items
from blindfuse.errors import BadParameter, counted
from blindfuse.fusion.fuse import fuse
from blindfuse.fusion.fuse_stream import FusedStream, fuse_stream
from blindfuse.fusion.presentation import label_columns
from blindfuse.readers.encoding import overlap_note, silence_notes
from blindfuse.readers.gold import read_gold
from blindfuse.readers.partitions import Partitions, read_partitions
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.sanity import sanity_notes
from blindfuse.result import Columns


def fuse_partitions(
    inputs: InputOptions, options: FuseOptions, output: OutputOptions, files: FusedFiles
) -> FusionResult:
    """Estimate the model from a sample of the items, then label and write each partition."""
    _refuse_unsupported(options, output, files)
    screen, fitting = output.screen, options.arguments()
    with screen.progress() as step:
        step(f"partitioning the items of {inputs.title}")
        with read_partitions(inputs.files, **inputs.reading_options()) as partitions:
            n_partitions = len(partitions.files)
            screen.note(*partitions.notes, f"split into {counted(n_partitions, 'partition')}")
            gold = _read_gold(partitions, options, screen)
            step("estimating the model from a sample of the items")
            stream = fuse_stream(partitions, gold=gold, **fitting)
            sample = stream.fusion.responses
            screen.note(
                *partitions.repeat_notes,
                *overlap_note(sample),
                *silence_notes(sample),
                *sanity_notes(sample),
            )
            result = FusionResult(stream.fusion, stream.gold)
            outputs = files.writers(result, output, inputs.title, (), step)
            if output.path is not None:
                tables = _label_columns(stream, n_partitions, step)
                outputs[output.path] = table_writer(tables, output.path, output.spreadsheet)
            write_all(outputs)
        if stream.gold:
            step("fusing without the gold labels to measure the error on them")
            result = options.check(stream.fusion, stream.gold, fuse(sample, **fitting))
    screen.show(summary_table(result))
    if sample.n_items < stream.n_items:
        screen.note(
            f"The model and this summary are based on a sample of {sample.n_items:,} items; the "
            f"model labels all {counted(stream.n_items, 'item')}"
        )
    screen.note_written(*outputs)
    return result


def _refuse_unsupported(options: FuseOptions, output: OutputOptions, files: FusedFiles) -> None:
    """Raise an error for options that need all responses at once."""
    if files.report or options.prior_model or output.as_json or is_stdout(output.path):
        raise BadParameter(
            "--report, --prior-model, --json and -o - cannot be used with partitions. Leave them "
            "out, or pass --whole."
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
    return with_responses(gold, partitions.items_among(gold), options.gold, screen)


def _label_columns(stream: FusedStream, n_partitions: int, step: Step) -> Iterator[Columns]:
    """Yield the table of the items of one partition after another."""
    gold = as_names(list(stream.gold))
    for number, chunk in enumerate(stream, 1):
        step(f"labelling partition {number:,} of {n_partitions:,}")
        items, classes = chunk.responses.items, chunk.responses.classes
        is_gold = positions(items, gold) >= 0
        rated = rate_items(chunk.responses, stream.fusion.model, chunk.posteriors, is_gold)
        yield label_columns(items, chunk.labels, chunk.posteriors, classes, rated)
