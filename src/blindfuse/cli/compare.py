"""``blindfuse compare``: every method on the same answers."""

from typing import TYPE_CHECKING

import click

from blindfuse.cli.fuse_options import FUSE
from blindfuse.cli.input_options import InputOptions, gold_in
from blindfuse.cli.options import EXISTING, Method, answers_with, reads_answers
from blindfuse.cli.output_options import OutputOptions

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from blindfuse import Comparison


@click.command(
    epilog="""\b
Examples:
  blindfuse compare votes.csv
  blindfuse compare votes.csv --truth truth.csv
  blindfuse compare votes.csv --method dawid-skene --method glad
"""
)
@answers_with("The table")
@reads_answers
@click.option(
    "--truth", type=EXISTING, metavar="FILE", help="Known labels to count errors by: item, label."
)
@click.option("--method", type=Method(), multiple=True, help="Only these, beside fuse.")
def command(
    answers: InputOptions,
    truth: str | None,
    method: tuple[str, ...],
    answer: OutputOptions,
) -> None:
    """What every method makes of the answers in FILE…

    With known labels (--truth, or a truth in the file itself), which no method is told: the error
    on them, the best marked. Without: the share of items that are labelled otherwise than by fuse.
    """
    import polars as pl

    from blindfuse.cli.tables import as_rows
    from blindfuse.estimators.registry import METHODS
    from blindfuse.fusion.compare import compare

    screen = answer.screen
    with screen.working() as step:
        found = answers.read(screen, step)
        known = dict(found.gold) if truth is None else gold_in(truth, found, screen)
    methods = {name: METHODS[name] for name in method or METHODS if name != FUSE}
    with screen.working(len(methods) + 1) as step:
        rows = compare(found.responses, known, methods, report=step)
    ranked = sorted(rows, key=_rank) if known else rows
    frame = pl.DataFrame(ranked)
    answer.give(
        frame,
        words=lambda: _words(ranked, len(known)),
        document=lambda: {"truths": len(known), "methods": as_rows(frame)},
    )


def _words(rows: "list[Comparison]", known: int) -> "list[RenderableType]":
    from blindfuse.cli.screen import text

    words: list[RenderableType] = [_table(rows)]
    if known:
        words += ["", f"Errors are measured on {known:,} known labels, which no method was told."]
    failed = [row for row in rows if row.failed]
    return words + [text(f"No {row.method}: {row.failed}", "dim") for row in failed]


def _rank(row: "Comparison") -> tuple[float, float]:
    return (1.0 if row.error is None else row.error), row.seconds or 0.0


def _table(rows: "list[Comparison]") -> "Table":
    from blindfuse.cli.screen import table, text

    errors = [row.error for row in rows if row.error is not None]
    least = min(errors, default=None)
    columns = ["method", "error", "", "unlike fuse", "seconds"]
    shown = [
        [
            text(row.method, "bold green" if _is_best(row, least) else ""),
            _percent(row.error),
            "best" if _is_best(row, least) else "",
            _percent(row.differs),
            f"{row.seconds or 0:.2f}",
        ]
        for row in rows
    ]
    if least is None:
        columns, shown = columns[:1] + columns[3:], [row[:1] + row[3:] for row in shown]
    return table(columns, shown, right=("error", "unlike fuse", "seconds"))


def _is_best(row: "Comparison", least: float | None) -> bool:
    return least is not None and row.error == least


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"
