"""Results as data frames, and data frames as files."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import polars as pl

from blindfuse.cli.output_files import FileWriter, file_extension
from blindfuse.diagnostics.items import Items
from blindfuse.fusion.fuse import Fusion
from blindfuse.typing import Array, Floats

MAX_POSTERIOR_COLUMNS = 20
"""Number of classes up to which every class has a column of posteriors."""
DECIMALS = 6
"""Decimals in text files; Parquet files are not rounded."""


def item_frame(
    items: Array,
    labels: Array,
    posteriors: Floats,
    classes: Array,
    rated: Items,
) -> pl.DataFrame:
    """Return one row per item: its label, the confidence and the posteriors of all classes."""
    columns: dict[str, Any] = {
        "item": items.tolist(),
        "label": labels.tolist(),
        "confidence": rated.confidence,
        "margin": rated.margin,
        "needs_another_label": rated.needs_another_label,
        "gain": rated.gain,
    }
    if len(classes) <= MAX_POSTERIOR_COLUMNS:
        columns |= {f"p_{name}": posteriors[:, k] for k, name in enumerate(classes.tolist())}
    return pl.DataFrame(columns)


def fused_frame(fusion: Fusion) -> pl.DataFrame:
    """Return one row per item of a fusion."""
    return item_frame(
        fusion.responses.items,
        fusion.labels,
        fusion.posteriors,
        fusion.responses.classes,
        fusion.item_ratings,
    )


def annotator_frame(fusion: Fusion) -> pl.DataFrame:
    """Return one row per annotator, the least accurate first."""
    diagnostics = fusion.diagnostics
    rated, coverage = diagnostics.annotators, diagnostics.coverage
    positions = range(len(rated.names))
    groups = enumerate(diagnostics.dependence.groups, 1)
    group_of = {m: group for group, members in groups for m in members}
    frame = pl.DataFrame(
        {
            "annotator": rated.names.tolist(),
            "responses": rated.n_responses,
            "accuracy": rated.accuracy,
            "accuracy_low": rated.low,
            "accuracy_high": rated.high,
            **({} if rated.roc_area is None else {"roc_area": rated.roc_area}),
            "coverage": coverage.coverage,
            "overlap": coverage.overlap,
            "conflict": coverage.conflict,
            "worst_class": rated.classes[rated.worst_class].tolist(),
            "confused_with": rated.classes[rated.confused_with].tolist(),
            "flag": [next(iter(rated.flags_of(m)), None) for m in positions],
            "dependent_group": [group_of.get(m) for m in positions],
        },
        schema_overrides={"flag": pl.String, "dependent_group": pl.Int64},
    )
    return frame.sort("accuracy", maintain_order=True)


def writer(frame: pl.DataFrame, target: Path, spreadsheet: bool = False) -> FileWriter:
    """Return a function that writes the frame in the format of the target's extension."""
    if file_extension(target) != "parquet":
        return text_writer([frame], target, spreadsheet)
    return lambda path: write_buffered(path, [frame.write_parquet])


def text_writer(
    frames: Iterable[pl.DataFrame], target: Path, spreadsheet: bool = False
) -> FileWriter:
    """Return a function that writes frames with the same columns to one text file.

    With ``spreadsheet``, CSV and TSV have no cell that a spreadsheet runs as a formula.
    """
    extension = file_extension(target)
    is_gzip = target.name.lower().endswith(".gz")
    compression: Literal["gzip", "uncompressed"] = "gzip" if is_gzip else "uncompressed"

    def write_frame(number: int, frame: pl.DataFrame, file: BytesIO) -> None:
        if extension in ("jsonl", "ndjson"):
            frame.write_ndjson(file, compression=compression)
        else:
            separator = "\t" if extension == "tsv" else ","
            cells = without_formulas(frame) if spreadsheet else frame
            cells.write_csv(
                file, separator=separator, include_header=number == 0, compression=compression
            )

    return lambda path: write_buffered(
        path,
        (partial(write_frame, *numbered) for numbered in enumerate(map(_rounded, frames))),
    )


def write_buffered(path: Path, writers: Iterable[Callable[[BytesIO], Any]]) -> None:
    """Write what each function writes to a buffer.

    Polars reports a full disk as an error of the Parquet format, and cannot open a path that is
    not UTF-8, so Python writes the file.
    """
    with path.open("wb") as file:
        for write in writers:
            buffer = BytesIO()
            write(buffer)
            file.write(buffer.getbuffer())


def as_csv(frame: pl.DataFrame, spreadsheet: bool = False) -> bytes:
    """Return the frame as CSV, for a pipe."""
    buffer = BytesIO()
    _rounded(without_formulas(frame) if spreadsheet else frame).write_csv(buffer)
    return buffer.getvalue()


def as_rows(frame: pl.DataFrame) -> Sequence[dict[str, Any]]:
    """Return the frame as a list of objects, for JSON."""
    return _rounded(frame).to_dicts()


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with an apostrophe before texts that a spreadsheet runs as formulas."""
    text = pl.selectors.string()
    is_formula = text.str.contains(r"^[=+\-@\t\r]")
    safe = frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
    return safe.rename({name: f"'{name}" for name in frame.columns if name[:1] in "=+-@\t\r"})


def _rounded(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.selectors.float().round(DECIMALS))
