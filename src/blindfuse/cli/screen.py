"""Standard output and standard error of the commands.

Data go to standard output, notes and progress to standard error. Text for people (a summary, a
table) goes to standard output, or to standard error if standard output has data. Names in the data
are untrusted: they are never interpreted as markup, and control characters are shown as escapes.
"""

import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from blindfuse.errors import counted

if TYPE_CHECKING:
    from blindfuse.report.blocks import Field

MAX_ROWS = 20
"""Rows of a table on the terminal; files have all."""
UNBROKEN = "\ue000"
"""A private character in place of a space at which no line may break; nothing else prints it."""
Step = Callable[[str], None]
"""A function that is called with a description when the next step of the work starts."""


class Screen:
    """Prints text, notes and progress for people; nothing if ``quiet``."""

    def __init__(self, *, quiet: bool = False, data_on_stdout: bool = False) -> None:
        self.quiet = quiet
        self.data_on_stdout = data_on_stdout
        self._stderr = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._text = Console(stderr=data_on_stdout, highlight=False, markup=False, emoji=False)

    def note(self, *notes: str) -> None:
        """Print remarks about the input or output to standard error."""
        if not self.quiet:
            for note in notes:
                self._stderr.print(Text(f"· {printable(note)}", "dim"), soft_wrap=True)

    def note_written(self, *paths: object) -> None:
        """Print which files were written."""
        self.note(*(f"Wrote {path}" for path in paths))

    def show(self, *blocks: RenderableType) -> None:
        """Print text, such as a summary or a table."""
        if self.quiet:
            return
        with self._text.capture() as captured:
            self._text.print(*blocks, sep="\n")
        lines = (line.rstrip() for line in captured.get().replace(UNBROKEN, " ").splitlines())
        click.echo("\n".join(lines), err=self.data_on_stdout)

    @contextmanager
    def progress(self, steps: int | None = None) -> Iterator[Step]:
        """Show the current step of longer work on a terminal, with a bar if ``steps`` is known.

        What the library warns of meanwhile is shown as notes, and on a terminal what it logs.
        """
        logger, handler = logging.getLogger("blindfuse"), logging.Handler()
        handler.emit = lambda record: self.note(record.getMessage())  # type: ignore[method-assign]
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO if self._stderr.is_terminal else logging.WARNING)
        try:
            with warnings.catch_warnings(record=True) as caught, self._progress(steps) as step:
                warnings.simplefilter("always", UserWarning)
                yield step
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
        self.note(*dict.fromkeys(str(warning.message) for warning in caught))

    @contextmanager
    def _progress(self, steps: int | None) -> Iterator[Step]:
        if self.quiet or not self._stderr.is_terminal:
            yield lambda step: None
            return
        bar = [BarColumn(), MofNCompleteColumn()] if steps is not None else []
        columns = SpinnerColumn(), TextColumn("{task.description}"), *bar, TimeElapsedColumn()
        with Progress(*columns, console=self._stderr, transient=True) as progress:
            task = progress.add_task("", total=steps, completed=-1)
            yield lambda step: progress.update(task, description=printable(step), advance=1)


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output unchanged."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_json(document: Any) -> None:
    """Write one JSON document to standard output."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    write_stdout(f"{text}\n".encode(errors="backslashreplace"))


def table(fields: Sequence["Field"], rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return a table of these fields of the rows; formatted fields are aligned to the right."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for each in fields:
        side: Any = "right" if each.format else "left"
        grid.add_column(each.title, justify=side, no_wrap=bool(each.format), overflow="fold")
    for row in rows:
        grid.add_row(*(text(each.show(row).replace("\u00a0", " ")) for each in fields))
    return grid


def preview(
    fields: Sequence["Field"], rows: Sequence[Mapping[str, Any]]
) -> Iterator[RenderableType]:
    """Yield the first rows as a table, and how many there are besides."""
    yield table(fields, rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        yield f"\n{counted(len(rows) - MAX_ROWS, 'more row')}; -o writes all of them to a file."


def paragraph_table(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table with headings on the left and text on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for heading, sentence in rows:
        grid.add_row(heading, text(sentence))
    return grid


def text(value: object, style: str = "") -> Text:
    """Return any value as text without markup or control characters."""
    return Text(printable(str(value)).replace(" %", f"{UNBROKEN}%"), style)


def printable(string: str) -> str:
    """Return the string with every non-printable character shown as an escape."""
    if string.isprintable():
        return string
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in string
    )
