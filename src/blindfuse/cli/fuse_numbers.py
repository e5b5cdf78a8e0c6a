"""``blindfuse fuse --numbers``: fuse ratings on a numeric scale into one estimate per item."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from blindfuse.cli.fuse_options import FUSE, FuseOptions
from blindfuse.cli.fused_files import FusedFiles, refuse_options
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.screen import Screen
from blindfuse.cli.tables import as_rows
from blindfuse.errors import BadFile, list_names
from blindfuse.numbers.agreement import intraclass_correlation
from blindfuse.numbers.fuse_numbers import NumberFusion, fuse_numbers
from blindfuse.numbers.table import Numbers
from blindfuse.readers.gold import read_gold_numbers
from blindfuse.readers.reading import Read
from blindfuse.report.numbers_page import number_report_html


def fuse_number_files(inputs: InputOptions, options: FuseOptions, files: FusedFiles) -> None:
    """Read ratings, fuse them, write the tables and the report, and print a summary."""
    refuse_options(
        {
            "--method": options.method != FUSE,
            "--ordered": options.ordered,
            "--classes": inputs.classes is not None,
            "--prior-model": options.prior_model is not None,
        },
        "is for classes. Leave it out, or leave out --numbers.",
    )
    screen = files.output.screen
    with screen.progress() as step:
        data = inputs.read(screen, step, kind="numbers")
        gold = _gold(data, options, screen)
        step(f"fusing {data.responses.n_ratings:,} ratings")
        fusion = fuse_numbers(data.responses, gold=gold)
    files.write(
        item_frame(fusion),
        annotators=lambda: annotator_frame(fusion),
        page=lambda: number_report_html(fusion, title=inputs.title, notes=data.notes),
        summary=summary_rows(fusion),
        document=lambda: json_document(fusion, data.notes),
        nothing_written="No estimates were written; add `-o fused.csv`.",
    )


def summary_rows(fusion: NumberFusion) -> list[tuple[str, str]]:
    """Return headings and texts: what was fused and how, and how far to trust it."""
    numbers = fusion.numbers
    size = (
        f"{numbers.n_ratings:,} ratings by {numbers.n_annotators:,} annotators of "
        f"{numbers.n_items:,} items."
    )
    return [
        ("Fused", size),
        ("Method", f"{fusion.method}. {fusion.why}"),
        *_agreement_row(fusion),
        *fusion.paragraphs(),
    ]


def item_frame(fusion: NumberFusion) -> pl.DataFrame:
    """Return one row per item: the estimate with its interval, and the spread of its ratings."""
    numbers, spread = fusion.numbers, fusion.numbers.spreads()
    return pl.DataFrame(
        {
            "item": fusion.items.tolist(),
            "estimate": fusion.values,
            "low": fusion.low,
            "high": fusion.high,
            "ratings": numbers.ratings_per_item,
            "spread": pl.Series(spread).fill_nan(None),
        }
    )


def annotator_frame(fusion: NumberFusion) -> pl.DataFrame:
    """Return one row per annotator, the least reliable first."""
    rated = fusion.annotators
    frame = pl.DataFrame(
        {
            "annotator": rated.names.tolist(),
            "ratings": rated.n_ratings,
            "bias": rated.bias,
            "scale": rated.scale,
            "noise": rated.noise,
            "reliability": rated.reliability,
            "flag": [flag or None for flag in rated.flags],
        },
        schema_overrides={"flag": pl.String},
    )
    return frame.sort("reliability", maintain_order=True)


def json_document(fusion: NumberFusion, notes: Sequence[str]) -> dict[str, Any]:
    """Return the whole result as one JSON object."""
    copies = fusion.copies
    return {
        "n_items": fusion.numbers.n_items,
        "n_annotators": fusion.numbers.n_annotators,
        "n_ratings": fusion.numbers.n_ratings,
        "method": fusion.method,
        "why": fusion.why,
        "notes": [*notes, *fusion.notes],
        "correlated_errors": [
            {"annotators": copies.names[pair].tolist(), "correlation": round(float(value), 4)}
            for pair, value in zip(copies.pairs, copies.correlation, strict=True)
        ],
        "annotators": as_rows(annotator_frame(fusion)),
        "items": as_rows(item_frame(fusion)),
    }


def _agreement_row(fusion: NumberFusion) -> list[tuple[str, str]]:
    if np.count_nonzero(fusion.numbers.ratings_per_item >= 2) < 2:
        return []
    icc = intraclass_correlation(fusion.numbers)
    text = (
        f"{icc.value:.2f} (95 % interval {icc.low:.2f} to {icc.high:.2f}) is the intraclass "
        "correlation: the share of the variance of single ratings that is between items."
    )
    return [("Agreement", text)]


def _gold(data: Read[Numbers], options: FuseOptions, screen: Screen) -> dict[str, float]:
    """Return the gold values of --gold, or else those in the file; unknown items are skipped."""
    if options.no_gold:
        return {}
    gold = dict(data.gold) if options.gold is None else read_gold_numbers(options.gold)
    items = set(data.responses.items.tolist())
    unknown = [item for item in gold if item not in items]
    if gold and len(unknown) == len(gold):
        raise BadFile(
            f"No gold item has ratings: gold values name {list_names(unknown, 3)}, the ratings "
            f"name {list_names(data.responses.items, 3)}. Use the same names in both."
        )
    if unknown:
        screen.note(f"{len(unknown):,} gold items without ratings skipped: {list_names(unknown)}")
    return {item: value for item, value in gold.items() if item in items}
