"""Options that several commands share: a group is a dataclass whose fields declare them."""

import csv
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial, wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import blindfuse
from blindfuse.cli.outputs import (
    CELLS,
    FileWriter,
    OutputFile,
    check_files,
    file_extension,
    is_stdout,
    table_bytes,
    table_writer,
    write_all,
)
from blindfuse.errors import BadParameter

if TYPE_CHECKING:
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.readers.reading import Kind
    from blindfuse.responses.rows import Repeats
    from blindfuse.result import Columns

Command = Callable[..., Any]

FORMATS = (
    *("label-studio", "toloka", "mturk", "prodigy", "argilla", "doccano"),
    *("promptfoo", "inspect", "lm-eval", "langfuse", "indicators", "judges", "long", "wide"),
)
"""The formats of ``blindfuse.read``, listed here so that ``--help`` need not import it."""
EXISTING_FILE = click.Path(exists=True, dir_okay=False)
MEMORY_PER_FILE_BYTE = 4
"""Bytes of memory needed per byte of a file while it is read and fused."""


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas; a name that contains a comma is quoted."""

    name = "A,B,…"

    def convert(self, value: Any, *_: Any) -> tuple[str, ...]:
        names = next(csv.reader([value], skipinitialspace=True), [])
        return tuple(name.strip() for name in names)


def option(*names: str, kind: Callable[..., Any] = click.option, **settings: Any) -> Any:
    """Declare a field of a group as the option with these names; ``kind`` may have settings."""
    return field(metadata={"option": partial(kind, *names, **settings)})


def takes(**groups: type[Any]) -> Callable[[Command], Command]:
    """Give a command groups of options, and the values of each group as one object.

    A group is a dataclass whose fields declare them by :func:`option`. The files that the command
    writes are checked first.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(**given: Any) -> Any:
            check_files()
            for name, group in groups.items():
                names = [each.name for each in fields(group) if each.name in given]
                given[name] = group(**{each: given.pop(each) for each in names})
            return command(**given)

        decorated: Command = wrapped
        for group in reversed(groups.values()):
            for each in reversed(fields(group)):
                if each.metadata:
                    decorated = each.metadata["option"](each.name)(decorated)
        return decorated

    return decorate


def _joined(context: click.Context, parameter: click.Parameter, lists: Any) -> tuple[str, ...]:
    """Join the values of an option that may be repeated, and lists several names each time."""
    return tuple(chain.from_iterable(lists))


names_option = partial(click.option, type=Names(), multiple=True, callback=_joined)
file_option = partial(click.option, type=EXISTING_FILE, metavar="FILE")
seed_option = partial(
    click.option,
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    show_default=True,
    help="Random seed.",
)
threads_option = partial(
    click.option,
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    show_default="all cores",
    help="Maximum number of threads.",
)
json_option = partial(
    click.option, "--json", is_flag=True, help="Print the result as one JSON document."
)
report_option = partial(
    click.option, "--report", type=OutputFile(("html", "htm")), help="Write an HTML report: .html."
)
force_option = partial(
    click.option,
    "--force",
    is_flag=True,
    help="Overwrite existing files.",
)


def refuse_combinations(
    excluded: Mapping[str, Collection[str]], needed: Mapping[str, str] | None = None
) -> None:
    """Raise an error if options exclude each other, or if one is given without one it needs."""
    context = click.get_current_context()
    options = {str(each.name): max(each.opts, key=len) for each in context.command.params}
    given = {
        name
        for name in options
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        and context.params.get(name)
    }
    for name, others in excluded.items():
        for other in others:
            if {name, other} <= given:
                raise BadParameter(
                    f"{options[name]} and {options[other]} exclude each other. Leave one out."
                )
    for name, other in (needed or {}).items():
        if name in given and other not in given:
            raise BadParameter(f"{options[name]} needs {options[other]}. Add that.")


@dataclass(frozen=True)
class OutputOptions:
    """Where a command writes its result: as a table, a JSON document or text."""

    path: Path | None = option(
        "-o",
        "--output",
        type=OutputFile(stdout=True),
        help="Write the table: .csv, .tsv, .jsonl (or these with .gz) or .parquet; - is standard "
        "output.",
    )
    force: bool = option(kind=force_option)
    spreadsheet: bool = option(
        "--spreadsheet",
        is_flag=True,
        help="Write cells that begin with =, +, - or @ as text ('=…), so that a spreadsheet does "
        "not run them as formulas.",
    )
    as_json: bool = option(kind=json_option)
    quiet: bool = option("-q", "--quiet", is_flag=True, help="Print only data and errors.")

    def __post_init__(self) -> None:
        if self.as_json and is_stdout(self.path):
            raise BadParameter(
                "--json and -o - both write to standard output. Leave one of them out."
            )
        is_text = self.path is None or is_stdout(self.path) or file_extension(self.path) in CELLS
        if self.spreadsheet and not is_text:
            raise BadParameter("--spreadsheet is for .csv and .tsv files. Leave it out.")

    @cached_property
    def screen(self) -> "Screen":
        """The screen for text, notes and progress."""
        from blindfuse.cli.screen import Screen

        return Screen(quiet=self.quiet, data_on_stdout=self.as_json or is_stdout(self.path))

    def write(
        self,
        columns: "Columns",
        text: Callable[[], Iterable[Any]],
        document: Callable[[], Mapping[str, Any]],
        other_files: Mapping[Path, FileWriter] | None = None,
        kind: str = "",
    ) -> None:
        """Write the table and the other files, then print the JSON document or the text.

        A note says that items of this ``kind`` were not written if there is no path for them.
        """
        from blindfuse.cli.screen import write_json, write_stdout

        outputs = dict(other_files or {})
        if self.path is not None and not is_stdout(self.path):
            outputs[self.path] = table_writer([columns], self.path, self.spreadsheet)
        write_all(outputs)
        if is_stdout(self.path):
            write_stdout(table_bytes(columns, "csv", self.spreadsheet))
        if self.as_json:
            write_json(document())
        else:
            self.screen.show(*text())
            self.screen.note_written(*outputs)
            if kind and self.path is None:
                self.screen.note(f"No {kind} were written; add `-o fused.csv`.")


@dataclass(frozen=True)
class FileOptions:
    """The files that a command reads; the fields of subclasses are options of ``read``."""

    files: Sequence[str] = option(kind=click.argument, nargs=-1, required=True, metavar="FILE…")

    def read(
        self,
        screen: "Screen",
        step: "Step",
        classes: Sequence[Any] | None = None,
        *,
        kind: "Kind" = "labels",
        are_known: bool = False,
        **options: Any,
    ) -> "blindfuse.Read[Any]":
        """Read the responses and print the notes; ``classes`` apply unless the user named some.

        Where ``are_known``, as those of a model and as numbers of clusters, it need not be asked
        whether they are classes. Other options are those of ``blindfuse.read``.
        """
        step(f"reading {self.title}")
        data = blindfuse.read(self.files, kind=kind, **options, **self.reading_options(classes))
        left_out = data.questions if are_known else ()
        screen.note(*(note for note in data.notes if note not in left_out))
        return data

    def reading_options(self, classes: Sequence[Any] | None = None) -> dict[str, Any]:
        """Return the keyword arguments of ``blindfuse.read``."""
        return {each.name: getattr(self, each.name) for each in fields(self)[1:]}

    @property
    def title(self) -> str:
        """A short name for the files."""
        names = [os.fsencode(Path(file).name).decode("utf-8", "replace") for file in self.files]
        first, *others = ("standard input" if name == "-" else name for name in names)
        return f"{first} and {len(others):,} more" if others else first


def _column(name: str, what: str) -> Any:
    return option(f"--{name}", metavar="COLUMN", help=f"Column of {what}.  [default: detected]")


@dataclass(frozen=True)
class ComparisonOptions(FileOptions):
    """The files of comparisons that a command reads, and the columns in them."""

    left: str | None = _column("left", "the first item")
    right: str | None = _column("right", "the second item")
    winner: str | None = _column("winner", "winners")
    annotator: str | None = _column("annotator", "judges")
    prompt: str | None = _column("prompt", "what the items were compared on")
    weight: str | None = _column("weight", "the number of comparisons that a row stands for")
    missing: Sequence[str] = option(
        "--missing",
        kind=names_option,
        help="Winners treated as missing, in addition to empty ones, NA, null and the like, and "
        "failed verdicts such as error.",
    )


@dataclass(frozen=True)
class InputOptions(FileOptions):
    """The files of responses that a command reads, the columns in them, and what labels mean."""

    item: str | None = _column("item", "items")
    annotator: Sequence[str] = option(
        "--annotator",
        metavar="COLUMN",
        multiple=True,
        help="Column of annotators; in a wide table, repeat it for each column to read.  "
        "[default: detected]",
    )
    label: str | None = _column("label", "labels")
    question: str | None = option(
        "--question", metavar="NAME", help="Question to read, if there are several."
    )
    format: str | None = option(
        "--format",
        type=click.Choice(FORMATS),
        metavar="NAME",
        help=f"File format: {', '.join(FORMATS)}.  [default: detected]",
    )
    classes: Sequence[str] = option(
        "--classes",
        kind=names_option,
        help="All classes, in your order.  [default: the labels in the file, sorted]",
    )
    missing: Sequence[str] = option(
        "--missing",
        kind=names_option,
        help="Labels treated as missing, in addition to empty labels, NA, null and the like, "
        "and failed verdicts such as error.",
    )
    keep_na: bool = option(
        "--keep-na", is_flag=True, help="Read NA, null, error and the like as classes."
    )
    fold_case: bool = option(
        "--fold-case",
        is_flag=True,
        help="Read labels that differ only by case, Unicode form or punctuation as one class.",
    )
    repeats: "Repeats" = option(
        "--repeats",
        type=click.Choice(["most_frequent", "last", "first", "error"]),
        default="most_frequent",
        show_default=True,
        help="The response that counts if an annotator labelled an item more than once; error "
        "refuses the file.",
    )

    def reading_options(self, classes: Sequence[Any] | None = None) -> dict[str, Any]:
        """Return the keyword arguments of ``blindfuse.read`` and ``read_partitions``."""
        options = super().reading_options()
        columns = self.annotator if len(self.annotator) > 1 else next(iter(self.annotator), None)
        return {**options, "annotator": columns, "classes": self.classes or classes}

    def reason_to_partition(self) -> str | None:
        """Return why the files are read in partitions; None if they fit into memory."""
        files = [Path(file) for file in self.files]
        size = sum(file.stat().st_size for file in files if file.is_file())
        free = free_memory()
        if free is None or size * MEMORY_PER_FILE_BYTE <= free:
            return None
        return (
            f"{size / 1e9:,.1f} GB are read in partitions, because only {free / 1e9:,.1f} GB of "
            "memory are free; --whole reads them at once"
        )


def free_memory() -> float | None:
    """Return the bytes of memory that are available; None where Linux does not report them."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = dict(line.split(":", 1) for line in lines)
        return float(sizes["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return None
