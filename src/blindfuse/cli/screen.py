"""What goes where: data to standard output, notes and progress to standard error.

Words for a person (a summary, a table) go to standard output, or to standard error when data is
there. Names are hostile: nothing in them is taken for markup, and what a terminal would obey is
shown as an escape.
"""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

import click
from rich import box
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

PATIENCE = 1.0
"""Seconds of work before progress is shown."""

Step = Callable[[str], None]


class Screen:
    """Where a command speaks; ``quiet`` says nothing but data and errors."""

    def __init__(self, *, quiet: bool = False, data: bool = False) -> None:
        self.quiet = quiet
        self.data = data
        self.errors = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self.words = Console(stderr=data, highlight=False, markup=False, emoji=False)

    def note(self, *notes: str) -> None:
        """Remarks on what was read or written."""
        if not self.quiet:
            for note in notes:
                self.errors.print(Text(f"· {printable(note)}", "dim"), soft_wrap=True)

    def show(self, *parts: RenderableType) -> None:
        """Words for a person."""
        if self.quiet:
            return
        with self.words.capture() as captured:
            self.words.print(*parts, sep="\n")
        lines = (line.rstrip() for line in captured.get().splitlines())
        click.echo("\n".join(lines), err=self.data)

    @contextmanager
    def working(self, steps: int | None = None) -> Iterator[Step]:
        """Tell the step that work has come to, when it takes long and somebody watches.

        With a number of steps there is a bar, for it is known how far the work is.
        """
        if self.quiet or not self.errors.is_terminal:
            yield lambda step: None
            return
        columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
        if steps is not None:
            columns += [BarColumn(), MofNCompleteColumn()]
        progress = Progress(*columns, TimeElapsedColumn(), console=self.errors, transient=True)
        task = progress.add_task("", total=steps, completed=-1)
        showing = Timer(PATIENCE, progress.start)
        showing.daemon = True
        showing.start()
        try:
            yield lambda step: progress.update(task, description=printable(step), advance=1)
        finally:
            showing.cancel()
            showing.join()
            progress.stop()


def write_data(data: bytes) -> None:
    """To standard output, as it is."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_json(document: Any) -> None:
    """One JSON document to standard output."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    write_data(f"{text}\n".encode(errors="backslashreplace"))


def table(
    columns: Iterable[str], rows: Iterable[Iterable[object]], right: Collection[str] = ()
) -> Table:
    """A table; columns in ``right`` have numbers, aligned to the right."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for column in columns:
        numbers = column in right
        shown.add_column(
            column, justify="right" if numbers else "left", no_wrap=numbers, overflow="fold"
        )
    for row in rows:
        shown.add_row(*(cell if isinstance(cell, Text) else text(cell) for cell in row))
    return shown


def text(value: object, style: str = "") -> Text:
    """Any value as text that means nothing to a terminal."""
    return Text(printable(str(value)), style)


def printable(words: str) -> str:
    """With every character that a terminal would obey shown as an escape."""
    if words.isprintable():
        return words
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in words
    )
