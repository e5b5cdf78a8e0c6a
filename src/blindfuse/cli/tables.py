"""Commands that print one table about labels: ``annotators``, ``compare`` and ``next``."""

from collections.abc import Iterator
from typing import Any

import click

from blindfuse.cli.fusing import FUSE, FuseOptions, Method, read_gold_for
from blindfuse.cli.options import InputOptions, OutputOptions, file_option, takes
from blindfuse.errors import counted


@click.command(
    epilog="""\b
Examples:
  blindfuse annotators votes.csv
  blindfuse annotators votes.csv -o annotators.csv
  blindfuse annotators votes.csv --json | jq '.annotators[] | select(.flag)'
"""
)
@takes(output=OutputOptions, inputs=InputOptions, options=FuseOptions)
def annotators_command(inputs: InputOptions, options: FuseOptions, output: OutputOptions) -> None:
    """Rate the annotators in FILE… without gold labels.

    The table has one row per annotator, the least accurate first: the estimated accuracy with a
    95 % interval, the class with the lowest recall and what it is confused with, and remarks.
    Annotators with correlated errors have the same group number. Files and --json also have the
    coverage, overlap and conflict of each annotator.
    """
    from blindfuse.result import json_rows

    with output.screen.progress() as step:
        data = inputs.read(output.screen, step)
        fusion = options.fuse(data, output.screen, step).fusion
    columns = fusion.annotator_columns()
    rows = json_rows(columns)
    output.write(
        columns,
        text=lambda: _describe_annotators(fusion.diagnostics, rows),
        document=lambda: {"method": fusion.method, "annotators": rows},
    )


def _describe_annotators(diagnostics: Any, rows: list[dict[str, Any]]) -> Iterator[Any]:
    from blindfuse.cli.screen import preview, text
    from blindfuse.diagnostics.annotators import FLAGS
    from blindfuse.report.blocks import Field, remark

    for row in rows:
        row["interval"] = f"{100 * row['accuracy_low']:.0f}–{100 * row['accuracy_high']:.0f}"
        row["confusion"] = f"{row['worst_class']} → {row['confused_with']}"
        row["remark"] = remark(row, FLAGS)
    fields = (
        *(Field("annotator", "annotator"), Field("responses", "responses", ",")),
        *(Field("accuracy", "accuracy", ".1%"), Field("interval", "95 %", "#")),
        *(Field("confusion", "worst class → reported"), Field("remark", "remarks")),
    )
    yield from preview(fields, rows)
    yield ""
    for each in (diagnostics.annotators, diagnostics.coverage, diagnostics.dependence):
        yield text(each.summary())


@click.command(
    epilog="""\b
Examples:
  blindfuse compare votes.csv
  blindfuse compare votes.csv --truth truth.csv
  blindfuse compare votes.csv --method dawid-skene --method glad
"""
)
@takes(output=OutputOptions, inputs=InputOptions)
@file_option(
    "--truth",
    help="Gold labels to measure the error on: a table with the columns item and label.",
)
@click.option(
    "--method",
    "names",
    type=Method(),
    multiple=True,
    help="Compare only this method with fuse; may be repeated.  [default: all methods]",
)
def compare_command(
    inputs: InputOptions, truth: str | None, names: tuple[str, ...], output: OutputOptions
) -> None:
    """Compare all methods on the responses in FILE…

    With gold labels (--truth, or a column of true labels in FILE), the table shows the error of
    each method on them and marks the lowest; no method uses them. The table also shows the share
    of items that a method labels differently from fuse.
    """
    import numpy as np

    from blindfuse import compare
    from blindfuse.estimators.registry import METHODS
    from blindfuse.result import json_rows

    screen = output.screen
    with screen.progress() as step:
        data = inputs.read(screen, step)
        gold = dict(data.gold) if truth is None else read_gold_for(data, truth, screen)
    methods = {name: METHODS[name] for name in names or METHODS if name != FUSE}
    with screen.progress(len(methods) + 1) as step:
        compared = compare(data.responses, gold, methods, report=step)
    if gold:  # ties keep the order of the registry, and methods that failed come last
        compared.sort(key=lambda row: 1.0 if row.error is None else row.error)
    kinds = {"method": object, "error": float, "differs": float, "seconds": float, "failed": object}
    columns = {
        name: np.array([getattr(each, name) for each in compared], kind)
        for name, kind in kinds.items()
    }
    rows = json_rows(columns)
    output.write(
        columns,
        text=lambda: _describe_methods(rows, len(gold)),
        document=lambda: {"n_gold_items": len(gold), "methods": rows},
    )


def _describe_methods(rows: list[dict[str, Any]], n_gold: int) -> Iterator[Any]:
    from blindfuse.cli.screen import table, text
    from blindfuse.report.blocks import Field

    lowest = min((row["error"] for row in rows if row["error"] is not None), default=None)
    for row in rows:
        row["best"] = "best" if n_gold and row["error"] == lowest else ""
    errors = (Field("error", "error", ".2%"), Field("best", "")) if n_gold else ()
    fields = (
        *(Field("method", "method"), *errors, Field("differs", "differs from fuse", ".2%")),
        Field("seconds", "seconds", ".2f"),
    )
    yield table(fields, rows)
    if n_gold:
        yield f"\nErrors on {counted(n_gold, 'gold label')}, which no method used."
    for row in rows:
        if row["failed"]:
            yield text(f"{row['method']} was not run: {row['failed']}", "dim")


@click.command(
    epilog="""\b
Examples:
  blindfuse next votes.csv --budget 100 -o requests.csv
  blindfuse next votes.csv --budget 100 --max-per-annotator 10
"""
)
@takes(output=OutputOptions, inputs=InputOptions, options=FuseOptions)
@click.option(
    "--budget",
    type=int,
    default=100,
    show_default=True,
    metavar="N",
    help="Number of responses to request.",
)
@click.option(
    "--max-per-annotator", type=int, metavar="N", help="Maximum number of requests per annotator."
)
def next_command(
    inputs: InputOptions,
    options: FuseOptions,
    budget: int,
    max_per_annotator: int | None,
    output: OutputOptions,
) -> None:
    """Choose the N most informative responses to request for the items in FILE…

    The gain of a response is the expected decrease of the entropy of the item's label, in nats.
    The table has one row per request, the largest gain first, with at most one per item.
    """
    from blindfuse import next_labels
    from blindfuse.result import json_rows

    with output.screen.progress() as step:
        data = inputs.read(output.screen, step)
        fusion = options.fuse(data, output.screen, step).fusion
        asked = next_labels(fusion, budget, max_per_annotator=max_per_annotator)
    columns = {"item": asked.items, "annotator": asked.annotators, "gain": asked.gains}
    rows = json_rows(columns)
    output.write(
        columns, text=lambda: _describe_requests(rows, budget), document=lambda: {"requests": rows}
    )


def _describe_requests(rows: list[dict[str, Any]], budget: int) -> Iterator[Any]:
    from blindfuse.cli.screen import preview
    from blindfuse.report.blocks import Field

    if not rows:
        yield "No request would be informative: all informative annotators labelled every item."
        return
    fields = Field("item", "item"), Field("annotator", "annotator"), Field("gain", "gain", ".3f")
    yield from preview(fields, rows)
    if len(rows) < budget:
        yield f"\nOnly {counted(len(rows), 'request')} would be informative."
