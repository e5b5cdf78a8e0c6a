"""``blindfuse compare``: compare all methods on the same responses."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fusing import FUSE, Method, read_gold_for
from blindfuse.cli.options import EXISTING_FILE, InputOptions, OutputOptions, takes

if TYPE_CHECKING:
    from blindfuse import Comparison


@click.command(
    epilog="""\b
Examples:
  blindfuse compare votes.csv
  blindfuse compare votes.csv --truth truth.csv
  blindfuse compare votes.csv --method dawid-skene --method glad
"""
)
@takes(output=OutputOptions, inputs=InputOptions)
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
    import numpy as np

    from blindfuse import compare
    from blindfuse.estimators.registry import METHODS
    from blindfuse.result import json_rows

    screen = output.screen
    with screen.progress() as step:
        data = inputs.read(screen, step)
        gold = dict(data.gold) if truth is None else read_gold_for(data, truth, screen)
    methods = {name: METHODS[name] for name in method or METHODS if name != FUSE}
    with screen.progress(len(methods) + 1) as step:
        rows = compare(data.responses, gold, methods, report=step)
    if gold:  # ties keep the order of the registry, and methods that failed come last
        rows.sort(key=lambda row: 1.0 if row.error is None else row.error)
    texts = ("method", "failed")
    columns = {
        name: np.array([getattr(row, name) for row in rows], object if name in texts else float)
        for name in ("method", "error", "differs", "seconds", "failed")
    }
    output.write(
        columns,
        text=lambda: _describe(rows, len(gold)),
        document=lambda: {"n_gold_items": len(gold), "methods": json_rows(columns)},
    )


def _describe(rows: "list[Comparison]", n_gold: int) -> Iterator[Any]:
    from blindfuse.cli.screen import table, text

    lowest = min((row.error for row in rows if row.error is not None), default=None)
    names = ["method", *(["error", ""] if n_gold else []), "differs from fuse", "seconds"]
    cells = []
    for row in rows:
        is_best = lowest is not None and row.error == lowest
        errors = [_percent(row.error), "best" if is_best else ""] if n_gold else []
        name = text(row.method, "bold green" if is_best else "")
        cells.append([name, *errors, _percent(row.differs), f"{row.seconds or 0:.2f}"])
    yield table(names, cells, right=("error", "differs from fuse", "seconds"))
    if n_gold:
        yield f"\nErrors on {n_gold:,} gold labels, which no method used."
    for row in rows:
        if row.failed:
            yield text(f"{row.method} was not run: {row.failed}", "dim")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"
