"""Options that several commands share; each decorator adds one group of them as one object."""

import csv
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from blindfuse.cli.fuse_options import FUSE, FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.output_files import OutputFile, refuse_overwriting
from blindfuse.cli.output_options import OutputOptions
from blindfuse.errors import BadParameter

Command = Callable[..., Any]

FORMATS = (
    *("label-studio", "toloka", "mturk", "prodigy", "argilla", "doccano"),
    *("indicators", "judges", "long", "wide"),
)
"""The formats of ``blindfuse.read``, listed here so that ``--help`` need not import it."""

REPEATS = ("most_frequent", "last", "first", "error")
"""The values of ``repeats=`` of ``blindfuse.read``, listed here for the same reason."""

EXISTING_FILE = click.Path(exists=True, dir_okay=False)


class Classes(click.ParamType[tuple[str, ...]]):
    """Class names separated by commas; a name that contains a comma is quoted."""

    name = "A,B,…"

    def convert(self, value: Any, *_: Any) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = next(csv.reader([value], skipinitialspace=True), [])
        return tuple(name.strip() for name in names)


class Method(click.ParamType[str]):
    """A method name; case, spaces, hyphens, commas and underscores are ignored."""

    name = "NAME"

    def convert(self, value: Any, *_: Any) -> str:
        if value.casefold() == FUSE:
            return FUSE
        from blindfuse.estimators.registry import find_method

        return find_method(value)


seed_option = click.option(
    "--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True, help="Random seed."
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    show_default="all cores",
    help="Maximum number of threads.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON document."
)
force_option = click.option(
    "--force",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=OutputFile.allow_overwriting,
    help="Overwrite existing files.",
)


report_option = click.option(
    "--report", type=OutputFile(("html", "htm")), help="Write an HTML report: .html."
)


def _add_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def _joined(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the names of an option that may be repeated, and lists several names each time."""
    return tuple(name for names in lists for name in names)


def refuse_excluded(excluded: Mapping[str, Collection[str]]) -> None:
    """Raise an error if options were given that exclude each other."""
    context = click.get_current_context()
    options = {str(one.name): max(one.opts, key=len) for one in context.command.params}
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


def _other_inputs() -> list[str]:
    """Return the files that options of this command name, such as gold labels."""
    context = click.get_current_context()
    names = [one.name for one in context.command.params if isinstance(one.type, click.Path)]
    return [str(context.params[name]) for name in names if context.params.get(name or "")]


def _as_object(command: Command, name: str, kind: type[Any]) -> Command:
    """Pass the options that are fields of a dataclass to a command as one object."""
    names = {field.name for field in fields(kind)}

    @wraps(command)
    def wrapped(**given: Any) -> Any:
        values = {option: given.pop(option) for option in names & given.keys()}
        return command(**{name: kind(**values)}, **given)

    return wrapped


def with_input_options(command: Command) -> Command:
    """Pass the files to read and their options to a command as ``inputs``."""
    as_object = _as_object(command, "inputs", InputOptions)

    @wraps(command)
    def wrapped(files: Any, classes: Any, missing: Any, **others: Any) -> Any:
        refuse_overwriting([*files, *_other_inputs()])
        lists = {"classes": _joined(classes) or None, "missing": _joined(missing)}
        return as_object(files=files, **lists, **others)

    return _add_options(
        wrapped,
        [
            click.argument("files", nargs=-1, required=True, metavar="FILE…"),
            click.option("--item", metavar="COLUMN", help="Column of items.  [default: detected]"),
            click.option(
                "--annotator",
                metavar="COLUMN",
                multiple=True,
                help="Column of annotators; in a wide table, repeat it for each column to read.  "
                "[default: detected]",
            ),
            click.option(
                "--label", metavar="COLUMN", help="Column of labels.  [default: detected]"
            ),
            click.option(
                "--question", metavar="NAME", help="Question to read, if the file has several."
            ),
            click.option(
                "--format",
                type=click.Choice(FORMATS),
                metavar="NAME",
                help=f"File format: {', '.join(FORMATS)}.  [default: detected]",
            ),
            click.option(
                "--classes",
                type=Classes(),
                multiple=True,
                help="All classes, in your order.  [default: the labels in the file, sorted]",
            ),
            click.option(
                "--missing",
                type=Classes(),
                multiple=True,
                help="Labels treated as missing, in addition to empty labels, NA, null and the "
                "like, and failed verdicts such as error.",
            ),
            click.option(
                "--keep-na",
                is_flag=True,
                help="Read NA, null, error and the like as classes.",
            ),
            click.option(
                "--fold-case",
                is_flag=True,
                help="Read labels that differ only by case, Unicode form or punctuation as one "
                "class.",
            ),
            click.option(
                "--repeats",
                type=click.Choice(REPEATS),
                default=REPEATS[0],
                show_default=True,
                help="The response that counts if an annotator labelled an item more than once; "
                "error refuses the file.",
            ),
        ],
    )


def with_fuse_options(command: Command) -> Command:
    """Pass the options of ``blindfuse.fuse`` to a command as ``options``."""
    return _add_options(
        _as_object(command, "options", FuseOptions),
        [
            click.option(
                "--gold",
                type=EXISTING_FILE,
                metavar="FILE",
                help="Gold labels, which are held fixed: a table with the columns item and label.",
            ),
            click.option(
                "--no-gold", is_flag=True, help="Ignore gold labels in the files of responses."
            ),
            click.option(
                "--method",
                type=Method(),
                default=FUSE,
                show_default=True,
                help="A method listed by `blindfuse methods`; fuse selects one for the data.",
            ),
            click.option("--ordered", is_flag=True, help="The classes are ordered, like grades."),
            click.option(
                "--prior-model",
                type=EXISTING_FILE,
                metavar="MODEL",
                help="A saved model of the same annotators, used as a prior.",
            ),
            seed_option,
            threads_option,
        ],
    )


def with_output_options(rows: str) -> Callable[[Command], Command]:
    """Pass ``-o``, ``--spreadsheet``, ``--json`` and ``--quiet`` to a command as ``output``.

    ``rows`` says in the help what the rows of the table are.
    """

    def decorate(command: Command) -> Command:
        return _add_options(
            _as_object(command, "output", OutputOptions),
            [
                click.option(
                    "-o",
                    "--output",
                    "path",
                    type=OutputFile(stdout=True),
                    help=f"Write {rows}: .csv, .tsv, .jsonl (or these with .gz) or .parquet; "
                    "- is standard output.",
                ),
                click.option(
                    "--spreadsheet",
                    is_flag=True,
                    help="Write cells that begin with =, +, - or @ as text ('=…), so that a "
                    "spreadsheet does not run them as formulas.",
                ),
                json_option,
                click.option("-q", "--quiet", is_flag=True, help="Print only data and errors."),
                force_option,
            ],
        )

    return decorate
