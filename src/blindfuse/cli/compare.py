"""``blindfuse compare``: compare all methods on the same responses."""

from typing import TYPE_CHECKING

import click

from blindfuse.cli.fuse_options import FUSE
from blindfuse.cli.input_options import InputOptions, read_gold_for
from blindfuse.cli.options import EXISTING_FILE, Method, with_input_options, with_output_options
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
@with_output_options("one row per method")
@with_input_options
@click.option(
    "--truth",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Gold labels to measure the error on: a table with the columns item and label.",
)
@click.option(
    "--method",
    type=Method(),
    multiple=True,
    help="Compare only this method with fuse; may be repeated.  [default: all methods]",
)
def command(
    inputs: InputOptions,
    truth: str | None,
    method: tuple[str, ...],
    output: OutputOptions,
) -> None:
    """Compare all methods on the responses in FILE…

    With gold labels (--truth, or a column of true labels in FILE), the table shows the error of
    each method on them and marks the lowest; no method uses them. The table also shows the share
    of items that a method labels differently from fuse.
    """
    import polars as pl

    from blindfuse.cli.tables import as_rows
    from blindfuse.estimators.registry import METHODS
    from blindfuse.fusion.compare import compare

    screen = output.screen
    with screen.progress() as step:
        data = inputs.read(screen, step)
        gold = dict(data.gold) if truth is None else read_gold_for(data, truth, screen)
    methods = {name: METHODS[name] for name in method or METHODS if name != FUSE}
    with screen.progress(len(methods) + 1) as step:
        rows = compare(data.responses, gold, methods, report=step)
    ranked = sorted(rows, key=_rank) if gold else rows
    frame = pl.DataFrame(ranked)
    output.write(
        frame,
        text=lambda: _text(ranked, len(gold)),
        document=lambda: {"n_gold_items": len(gold), "methods": as_rows(frame)},
    )


def _text(rows: "list[Comparison]", n_gold: int) -> "list[RenderableType]":
    from blindfuse.cli.screen import text

    blocks: list[RenderableType] = [_table(rows)]
    if n_gold:
        blocks += ["", f"Errors on {n_gold:,} gold labels, which no method used."]
    failed = [row for row in rows if row.failed]
    return blocks + [text(f"{row.method} was not run: {row.failed}", "dim") for row in failed]


def _rank(row: "Comparison") -> float:
    """Errors in ascending order; ties keep the order of the registry, failed methods come last."""
    return 1.0 if row.error is None else row.error


def _table(rows: "list[Comparison]") -> "Table":
    from blindfuse.cli.screen import table, text

    lowest = min((row.error for row in rows if row.error is not None), default=None)
    columns = ["method", "error", "", "differs from fuse", "seconds"]
    cells = []
    for row in rows:
        is_best = lowest is not None and row.error == lowest
        name = text(row.method, "bold green" if is_best else "")
        shares = _percent(row.error), "best" if is_best else "", _percent(row.differs)
        cells.append([name, *shares, f"{row.seconds or 0:.2f}"])
    if lowest is None:
        columns, cells = columns[:1] + columns[3:], [row[:1] + row[3:] for row in cells]
    return table(columns, cells, right=("error", "differs from fuse", "seconds"))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"
