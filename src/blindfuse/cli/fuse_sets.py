"""``blindfuse fuse --multi-label``: fuse sets of classes into one set per item."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from blindfuse.cli.fuse_options import FUSE, FuseOptions
from blindfuse.cli.fused_files import FusedFiles, refuse_options
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.screen import Screen
from blindfuse.cli.tables import MAX_POSTERIOR_COLUMNS, as_rows
from blindfuse.errors import BadFile, list_names
from blindfuse.readers.gold import read_gold_texts
from blindfuse.readers.reading import Read
from blindfuse.report.sets_page import set_agreement, set_report_html
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.set_values import choose_separator, parse_set
from blindfuse.sets.fuse_sets import fuse_sets
from blindfuse.sets.set_fusion import SetFusion

SEPARATOR = "|"
"""What separates the classes in the column labels."""


def fuse_set_files(
    inputs: InputOptions, options: FuseOptions, files: FusedFiles, separator: str | None
) -> None:
    """Read sets, fuse them, write the tables and the report, and print a summary."""
    refuse_options(
        {
            "--method": options.method != FUSE,
            "--ordered": options.ordered,
            "--prior-model": options.prior_model is not None,
        },
        "is for one label per item. Leave it out, or leave out --multi-label.",
    )
    screen = files.output.screen
    with screen.progress() as step:
        data = inputs.read(screen, step, kind="sets", separator=separator)
        gold = _gold(data, options, separator, screen)
        step(f"fusing {data.responses.n_responses:,} responses")
        fusion = fuse_sets(data.responses, gold=gold, seed=options.seed, threads=options.threads)
    files.write(
        item_frame(fusion),
        annotators=lambda: annotator_frame(fusion),
        page=lambda: set_report_html(fusion, title=inputs.title, notes=data.notes),
        summary=summary_rows(fusion),
        document=lambda: json_document(fusion, data.notes),
        nothing_written="No sets were written; add `-o fused.csv`.",
    )


def summary_rows(fusion: SetFusion) -> list[tuple[str, str]]:
    """Return headings and texts: what was fused and how, and how far to trust it."""
    table = fusion.responses
    size = (
        f"{table.n_responses:,} responses by {table.n_annotators:,} annotators to "
        f"{table.n_items:,} items, sets of {table.n_classes:,} classes."
    )
    method = fusion.method[0].upper() + fusion.method[1:]
    return [
        ("Fused", size),
        ("Method", f"{method}. {fusion.why}"),
        *_agreement_rows(fusion),
        *fusion.paragraphs(),
    ]


def item_frame(fusion: SetFusion) -> pl.DataFrame:
    """Return one row per item: its labels, their probability and the posteriors of all classes."""
    classes = [str(name) for name in fusion.classes.tolist()]
    columns: dict[str, Any] = {
        "item": fusion.items.tolist(),
        "labels": [_join(members, classes) for members in fusion.sets],
        "probability": fusion.confidence,
        "needs_another_label": fusion.needs_another_label,
    }
    if len(classes) <= MAX_POSTERIOR_COLUMNS:
        columns |= {f"p_{name}": fusion.posteriors[:, k] for k, name in enumerate(classes)}
    return pl.DataFrame(columns)


def _join(members: Sequence[Any], classes: Sequence[str]) -> str:
    """Return classes as ``a|b``, or as a JSON list if a class contains the separator."""
    names = list(map(str, members))
    if any(SEPARATOR in name for name in classes):
        return json.dumps(names, ensure_ascii=False)
    return SEPARATOR.join(names)


def annotator_frame(fusion: SetFusion) -> pl.DataFrame:
    """Return one row per annotator, the lowest F1 first."""
    rated = fusion.annotators
    frame = pl.DataFrame(
        {
            "annotator": rated.names.tolist(),
            "responses": rated.n_responses,
            "classes_per_response": rated.mean_size,
            "recall": rated.recall,
            "recall_low": rated.recall_low,
            "recall_high": rated.recall_high,
            "precision": rated.precision,
            "f1": rated.f1,
            "flag": [flag or None for flag in rated.flags],
        },
        schema_overrides={"flag": pl.String},
    )
    return frame.fill_nan(None).sort("f1", maintain_order=True, nulls_last=False)


def json_document(fusion: SetFusion, notes: Sequence[str]) -> dict[str, Any]:
    """Return the whole result as one JSON object; labels are lists."""
    rows = as_rows(item_frame(fusion))
    items = [
        {**row, "labels": [str(one) for one in members]}
        for row, members in zip(rows, fusion.sets, strict=True)
    ]
    agreement = {name: value._asdict() for name, value in set_agreement(fusion)}
    return {
        "n_items": fusion.responses.n_items,
        "n_annotators": fusion.responses.n_annotators,
        "n_responses": fusion.responses.n_responses,
        "classes": [str(name) for name in fusion.classes.tolist()],
        "method": fusion.method,
        "why": fusion.why,
        "agreement": agreement,
        "notes": list(notes),
        "related_classes": [
            {"classes": [str(one), str(other)], "correlation": round(value, 4)}
            for one, other, value in fusion.related_classes()
        ],
        "annotators": as_rows(annotator_frame(fusion)),
        "items": items,
    }


def _agreement_rows(fusion: SetFusion) -> list[tuple[str, str]]:
    return [
        (
            "Agreement",
            f"{value.value:.2f} (95 % interval {value.low:.2f} to {value.high:.2f}) is {name}: 1 "
            "is perfect, 0 is chance; sets that overlap count as partly equal.",
        )
        for name, value in set_agreement(fusion)
    ]


def _gold(
    data: Read[ResponseSets], options: FuseOptions, separator: str | None, screen: Screen
) -> Mapping[str, Sequence[str]]:
    """Return the gold sets of --gold, or else those in the file; unknown items are skipped."""
    if options.no_gold:
        return {}
    if options.gold is None:
        return data.gold
    texts = read_gold_texts(options.gold)
    used = choose_separator(texts.values(), separator)
    classes = set(data.responses.classes.tolist())
    gold = {item: parse_set(text, used, classes) or [] for item, text in texts.items()}
    items = set(data.responses.items.tolist())
    unknown = [item for item in gold if item not in items]
    if gold and len(unknown) == len(gold):
        raise BadFile(
            f"No gold item has responses: {options.gold} names {list_names(unknown, 3)}, the "
            f"responses name {list_names(data.responses.items, 3)}. Use the same names in both."
        )
    if unknown:
        screen.note(
            f"{len(unknown):,} gold items without responses were skipped: {list_names(unknown)}"
        )
    return {item: members for item, members in gold.items() if item in items}
