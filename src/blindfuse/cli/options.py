"""Options that several commands share, gathered into one object each."""

import csv
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from blindfuse.cli.fuse_options import FUSE, FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.output_files import Target
from blindfuse.cli.output_options import OutputOptions

Command = Callable[..., Any]

FORMATS = (
    *("label-studio", "toloka", "mturk", "prodigy", "argilla", "doccano", "judge"),
    *("long", "wide"),
)
"""The names that ``blindfuse.read`` knows, here so that ``--help`` need not import it."""

EXISTING = click.Path(exists=True, dir_okay=False)


class Classes(click.ParamType[tuple[str, ...]]):
    """Names with commas between them; one with a comma in it stands in quotes."""

    name = "A,B,…"

    def convert(self, value: Any, *_: Any) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(next(csv.reader([value], skipinitialspace=True), []))


class Method(click.ParamType[str]):
    """A method by any spelling of its name."""

    name = "NAME"

    def convert(self, value: Any, *_: Any) -> str:
        if value.casefold() == FUSE:
            return FUSE
        from blindfuse.estimators.registry import find_method

        return find_method(value)


seeded = click.option("--seed", type=int, default=0, show_default=True, help="Of what is random.")


def _applied(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reads_answers(command: Command) -> Command:
    """Give a command ``answers``."""

    @wraps(command)
    def gathered(
        files: Any, format: Any, item: Any, annotator: Any, label: Any, question: Any, classes: Any,
        **others: Any,
    ) -> Any:  # fmt: skip
        asked = InputOptions(files, format, item, annotator, label, question, classes)
        return command(answers=asked, **others)

    return _applied(
        gathered,
        [
            click.argument("files", nargs=-1, required=True, metavar="FILE…"),
            click.option("--item", metavar="COLUMN", help="Where the item is; guessed by name."),
            click.option(
                "--annotator",
                metavar="COLUMN",
                multiple=True,
                help="Where the annotator is; of a wide table several, one each.",
            ),
            click.option("--label", metavar="COLUMN", help="Where the label is."),
            click.option("--question", metavar="NAME", help="Which one, if several are asked."),
            click.option(
                "--format", type=click.Choice(FORMATS), help="What wrote the file; seen by itself."
            ),
            click.option(
                "--classes", type=Classes(), help="All classes, in your order; else as they sort."
            ),
        ],
    )


def fuses(command: Command) -> Command:
    """Give a command ``how``."""

    @wraps(command)
    def gathered(
        gold: Any, no_gold: Any, method: Any, ordered: Any, prior_model: Any, seed: Any,
        threads: Any, **others: Any,
    ) -> Any:  # fmt: skip
        return command(
            how=FuseOptions(gold, no_gold, method, ordered, prior_model, seed, threads), **others
        )

    return _applied(
        gathered,
        [
            click.option(
                "--gold",
                type=EXISTING,
                metavar="FILE",
                help="Known labels, held fixed: item, label.",
            ),
            click.option("--no-gold", is_flag=True, help="Leave alone a truth in the file itself."),
            click.option(
                "--method",
                type=Method(),
                default=FUSE,
                show_default=True,
                help="A name of `blindfuse methods`; fuse chooses by what the answers justify.",
            ),
            click.option("--ordered", is_flag=True, help="Classes are ordered, as grades are."),
            click.option(
                "--prior-model",
                type=EXISTING,
                metavar="MODEL",
                help="A model of annotators known before.",
            ),
            seeded,
            click.option("--threads", type=click.IntRange(1), help="At most so many; else all."),
        ],
    )


def answers_with(help: str, **more: Any) -> Callable[[Command], Command]:
    """Give a command ``answer``, with this help of its table; ``more`` are options of ``-o``."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def gathered(output: Any, as_json: Any, quiet: Any, **others: Any) -> Any:
            return command(answer=OutputOptions(output, as_json, quiet), **others)

        table = f"{help}: .csv, .tsv, .jsonl (each also .gz) or .parquet; - for a pipe."
        return _applied(
            gathered,
            [
                click.option("-o", "--output", type=Target(pipe=True), help=table, **more),
                as_json,
                click.option("-q", "--quiet", is_flag=True, help="Only data and errors."),
                force,
            ],
        )

    return decorate


as_json = click.option("--json", "as_json", is_flag=True, help="The answer as one JSON document.")
force = click.option(
    "--force",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=Target.allow,
    help="Overwrite files.",
)
