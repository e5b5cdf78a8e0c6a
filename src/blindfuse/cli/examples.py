"""Commands that make responses whose truth is known: ``demo`` and ``simulate``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fusing import FusionResult, report_writer, summary_table
from blindfuse.cli.options import Command, force_option, report_option, seed_option
from blindfuse.cli.outputs import (
    OutputFile,
    check_files,
    is_stdout,
    table_bytes,
    table_writer,
    write_all,
)

if TYPE_CHECKING:
    from rich.table import Table

    from blindfuse import Fusion, Responses
    from blindfuse.result import Columns
    from blindfuse.typing import Array, Codes

TITLE = "Weak classifiers label tumours"
MAX_SHOWN = 8
"""Annotators that the demo lists: the least accurate ones, as estimated."""
SHARE = click.FloatRange(0, 1)


def _number(
    name: str, kind: click.ParamType[Any], default: float, text: str
) -> Callable[[Command], Command]:
    return click.option(f"--{name}", type=kind, default=default, show_default=True, help=text)


@click.command(
    epilog="""\b
Examples:
  blindfuse demo
  blindfuse demo --report report.html
"""
)
@report_option()
@force_option()
def demo_command(report: Path | None, force: bool) -> None:
    """Fuse the labels of 30 weak classifiers and 6 guessers for 569 breast tumours.

    Each classifier is trained on 4 to 20 tumours and three of 30 measurements, and labels 15 to
    25 % of the tumours as benign or malignant. The estimates made without the truth are shown
    beside the true figures.
    """
    from blindfuse import check_on_gold, fuse
    from blindfuse.cli.screen import Screen, table
    from blindfuse.datasets.tumours import tumours_crowd
    from blindfuse.report.blocks import Field

    check_files()
    screen = Screen()
    with screen.progress() as step:
        crowd = tumours_crowd()
        step("fusing the labels")
        fusion = fuse(crowd.responses)
        labels = crowd.responses.classes[crowd.truth]
        truth = dict(zip(crowd.responses.items.tolist(), labels.tolist(), strict=True))
        check = check_on_gold(fusion, truth)
        fused = FusionResult(fusion, truth, fusion, check)
        if report is not None:
            step("comparing methods for the report")
            write_all({report: report_writer(TITLE, (), fused)})
    errors = {"majority vote": check.vote_error.value, "blindfuse": check.error.value}
    rows = [{"by": method, "error": error} for method, error in errors.items()]
    fields = Field("by", "labels by"), Field("error", "wrong", ".1%")
    accuracies = _accuracies(fusion, crowd.truth)
    screen.show(summary_table(fused), "", accuracies, "", table(fields, rows))
    if report is not None:
        screen.note_written(report)


def _accuracies(fusion: "Fusion", truth: "Codes") -> "Table":
    """Return the least accurate annotators: estimated without the truth, and true."""
    from blindfuse.cli.screen import table
    from blindfuse.diagnostics.annotators import FLAGS
    from blindfuse.estimators.voting import agreement_with
    from blindfuse.report.blocks import Field, remark
    from blindfuse.result import json_rows

    names, true = fusion.responses.annotators.tolist(), agreement_with(fusion.responses, truth)
    rows = json_rows(fusion.annotator_columns())[:MAX_SHOWN]
    fields = (
        *(Field("annotator", "annotator"), Field("accuracy", "accuracy, estimated", ".0%")),
        *(Field("true", "true", ".0%"), Field("remark", "remark")),
    )
    for row in rows:
        row |= {"true": true[names.index(row["annotator"])], "remark": remark(row, FLAGS)}
    return table(fields, rows)


@click.command(
    epilog="""\b
Examples:
  blindfuse simulate -o votes.csv --truth truth.csv
  blindfuse simulate --items 5000 --annotators 30 --missing 0.8 -o votes.csv
  blindfuse simulate --adversaries 0.2 | blindfuse fuse -
"""
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(stdout=True),
    default="-",
    help="Write one row per response: .csv, .tsv, .jsonl (or these with .gz) or .parquet.  "
    "[default: standard output]",
)
@click.option(
    "--truth", type=OutputFile(), help="Write the true label of each item, in a format of -o."
)
@force_option()
@_number("items", click.IntRange(1), 1000, "Number of items.")
@_number("annotators", click.IntRange(1), 10, "Number of annotators.")
@_number("classes", click.IntRange(2), 3, "Number of classes.")
@_number("missing", SHARE, 0.0, "Probability that an annotator does not respond to an item.")
@_number(
    "skill",
    SHARE,
    0.3,
    "Skill of the annotators: 0 is random but better than chance, 1 is always right.",
)
@_number("adversaries", SHARE, 0.0, "Share of adversarial annotators, who prefer a wrong class.")
@_number("copiers", click.INT, 0, "Number of annotators who copy responses of the first one.")
@_number("copy-probability", SHARE, 0.9, "Probability that a copier copies a response.")
@seed_option()
def simulate_command(
    output: Path,
    truth: Path | None,
    force: bool,
    items: int,
    annotators: int,
    classes: int,
    copiers: int,
    seed: int,
    **shares: float,
) -> None:
    """Simulate responses of annotators with random confusion matrices.

    The copiers are the annotators a2, a3, …, who copy a1. The adversaries are the last annotators.
    """
    import numpy as np

    from blindfuse import simulate
    from blindfuse.cli.screen import write_stdout

    check_files()
    if not 0 <= copiers < annotators:
        raise click.UsageError(f"--copiers must be from 0 to {annotators - 1}.")
    groups = [range(copiers + 1)] if copiers else []
    rng = np.random.default_rng(seed)
    simulation = simulate(items, annotators, classes, rng, dependent_groups=groups, **shares)
    responses = response_columns(simulation.responses)
    tables = {} if is_stdout(output) else {output: responses}
    if truth is not None:
        names = {"item": _names("i", np.arange(items)), "label": _names("", simulation.truth)}
        tables[truth] = names
    write_all({path: table_writer([columns], path) for path, columns in tables.items()})
    if is_stdout(output):
        write_stdout(table_bytes(responses, "csv"))


def response_columns(responses: "Responses") -> "Columns":
    """Return one row per response."""
    rows = responses.by_item
    return {
        "item": _names("i", responses.item_of_response()),
        "annotator": _names("a", rows.codes),
        "label": _names("", rows.symbols),
    }


def _names(prefix: str, codes: "Array") -> "Array":
    """Return names with numbers: from 1 after a prefix, from 0 (classes) without one."""
    import numpy as np

    first = 1 if prefix else 0
    names = [f"{prefix}{number}" for number in range(first, first + int(codes.max(initial=0)) + 1)]
    return np.array(names, dtype=object)[codes]
