"""Results as tables with names, and tables as files."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse.cli.output_files import Write, ending_of
from blindfuse.diagnostics.items import Items
from blindfuse.fusion.fuse import Fusion

MOST_COLUMNS = 20
"""Up to so many classes each have a column of posteriors; beyond, nobody would read them."""
DIGITS = 6
"""Decimals in text; Parquet keeps all."""


def item_frame(
    items: NDArray[Any],
    labels: NDArray[Any],
    posteriors: NDArray[np.float64],
    classes: NDArray[Any],
    about: Items,
) -> pl.DataFrame:
    """One row an item: its label, how sure that is, and the posteriors of all classes."""
    columns: dict[str, Any] = {
        "item": items.tolist(),
        "label": labels.tolist(),
        "confidence": about.posterior,
        "margin": about.margin,
        "needs_another_label": about.needs,
    }
    if len(classes) <= MOST_COLUMNS:
        columns |= {f"p_{name}": posteriors[:, k] for k, name in enumerate(classes.tolist())}
    return pl.DataFrame(columns)


def fused_frame(fusion: Fusion) -> pl.DataFrame:
    """One row an item of a fusion."""
    return item_frame(
        fusion.responses.items,
        fusion.labels,
        fusion.posteriors,
        fusion.responses.classes,
        fusion.diagnostics.items,
    )


def annotator_frame(fusion: Fusion) -> pl.DataFrame:
    """One row an annotator, the least accurate first."""
    about = fusion.diagnostics.annotators
    flags = {"adversary": about.adversary, "spammer": about.spammer, "constant": about.constant}
    groups = enumerate(fusion.diagnostics.dependence.groups, 1)
    group_of = {m: group for group, members in groups for m in members}
    frame = pl.DataFrame(
        {
            "annotator": about.names.tolist(),
            "labels": about.labels,
            "accuracy": about.accuracy,
            "accuracy_low": about.low,
            "accuracy_high": about.high,
            "worst_class": about.classes[about.worst].tolist(),
            "taken_for": about.classes[about.taken_for].tolist(),
            "flag": [
                next((name for name, flagged in flags.items() if flagged[m]), None)
                for m in range(len(about.names))
            ],
            "errs_with_group": [group_of.get(m) for m in range(len(about.names))],
        },
        schema_overrides={"flag": pl.String, "errs_with_group": pl.Int64},
    )
    return frame.sort("accuracy", maintain_order=True)


def writer(frame: pl.DataFrame, target: Path) -> Write:
    """What writes the table as the target's name ends."""
    if ending_of(target) != "parquet":
        return text_writer([frame], target)
    return lambda place: frame.write_parquet(place)


def text_writer(frames: Iterable[pl.DataFrame], target: Path) -> Write:
    """What writes tables of the same columns, one after another, to one file of text."""
    ending = ending_of(target)
    is_packed = target.name.lower().endswith(".gz")
    packing: Literal["gzip", "uncompressed"] = "gzip" if is_packed else "uncompressed"

    def write(place: Path) -> None:
        with place.open("wb") as file:
            for at, frame in enumerate(map(_rounded, frames)):
                if ending in ("jsonl", "ndjson"):
                    frame.write_ndjson(file, compression=packing)
                else:
                    separator = "\t" if ending == "tsv" else ","
                    frame.write_csv(
                        file, separator=separator, include_header=at == 0, compression=packing
                    )

    return write


def as_csv(frame: pl.DataFrame) -> bytes:
    """The table as a pipe takes it."""
    buffer = BytesIO()
    _rounded(frame).write_csv(buffer)
    return buffer.getvalue()


def as_rows(frame: pl.DataFrame) -> Sequence[dict[str, Any]]:
    """The table as JSON takes it."""
    return _rounded(frame).to_dicts()


def _rounded(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.selectors.float().round(DIGITS))
