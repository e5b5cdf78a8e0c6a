"""Options that several commands share, gathered into one object each."""

import csv
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

import blindfuse
from blindfuse.cli.answer import Answer
from blindfuse.cli.targets import Target
from blindfuse.errors import BadFile, BadParameter, naming

if TYPE_CHECKING:
    from blindfuse.checking import GoldCheck
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.fusing import Choose

Command = Callable[..., Any]

FORMATS = (
    *("label-studio", "toloka", "mturk", "prodigy", "argilla", "doccano", "judge"),
    *("long", "wide"),
)
"""The names that ``blindfuse.read`` knows, here so that ``--help`` need not import it."""

EXISTING = click.Path(exists=True, dir_okay=False)

FUSE = "fuse"
"""The method that chooses among all."""


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
        from blindfuse.comparing import method_named

        return method_named(value)


@dataclass(frozen=True)
class Answers:
    """Files of answers, and how to read them."""

    files: Sequence[str]
    format: str | None
    item: str | None
    annotator: Sequence[str]
    label: str | None
    question: str | None
    classes: Sequence[str] | None

    def read(
        self, screen: "Screen", step: "Step", classes: Sequence[Any] | None = None
    ) -> "blindfuse.Read":
        """The answers, with notes on the screen; ``classes`` unless the user named them."""
        step(f"reading {self.title}")
        found = self._read(classes)
        screen.note(*found.notes)
        return found

    def _read(self, classes: Sequence[Any] | None) -> "blindfuse.Read":
        several = len(self.annotator) > 1
        return blindfuse.read(
            self.files,
            format=self.format,
            item=self.item,
            annotator=self.annotator if several else next(iter(self.annotator), None),
            label=self.label,
            question=self.question,
            classes=self.classes or classes,
        )

    @property
    def title(self) -> str:
        """What was read, in short."""
        first, *others = ("standard input" if file == "-" else file for file in self.files)
        return f"{first} and {len(others):,} more" if others else first


@dataclass(frozen=True)
class Fused:
    """A fusion, the gold that it was told, and how one does that was not."""

    fusion: "blindfuse.Fusion"
    gold: Mapping[Any, Any]
    check: "GoldCheck | None"


@dataclass(frozen=True)
class How:
    """How answers are fused."""

    gold: str | None
    no_gold: bool
    method: str
    ordered: bool
    known: str | None
    seed: int
    threads: int | None

    def __post_init__(self) -> None:
        takes = self._parameters()
        for name, wish in (("ordered", self.ordered), ("known", self.known)):
            if wish and takes is not None and name not in takes:
                raise BadParameter(f"{self.method} has no use for {name}=. Leave one of them out.")

    def _parameters(self) -> Collection[str] | None:
        """What the method takes; None for fuse, which takes all."""
        if self.method == FUSE:
            return None
        from blindfuse.comparing import METHODS

        return METHODS[self.method]().get_params()

    def fuse(self, found: "blindfuse.Read", screen: "Screen", step: "Step") -> Fused:
        """The fusion of these answers; with gold, one more without it, to be checked."""
        gold = self._gold(found, screen)
        step(f"fusing {found.responses.n_labels:,} labels")
        fusion = self._fuse(found.responses, gold)
        if not gold:
            return Fused(fusion, gold, None)
        from blindfuse.checking import check_on_gold

        step("fusing without gold, to measure the error on it")
        return Fused(fusion, gold, check_on_gold(self._fuse(found.responses, {}), gold))

    def _gold(self, found: "blindfuse.Read", screen: "Screen") -> dict[str, str]:
        """Known labels of items that have answers: from --gold, or else from the answers' file."""
        if self.no_gold:
            return {}
        return dict(found.gold) if self.gold is None else gold_in(self.gold, found, screen)

    def _fuse(self, responses: "blindfuse.Responses", gold: dict[str, str]) -> "blindfuse.Fusion":
        known = None if self.known is None else text_model(self.known)
        return blindfuse.fuse(
            responses,
            ordered=self.ordered,
            gold=gold,
            known=known,
            choose=self._rule(gold, known),
            seed=self.seed,
            threads=self.threads,
        )

    def _rule(self, gold: dict[str, str], known: "blindfuse.Model | None") -> "Choose | None":
        """None for fuse's own rule, or the one that takes the method that was asked for."""
        takes = self._parameters()
        if takes is None:
            return None
        from blindfuse.comparing import METHODS
        from blindfuse.fusing import by_method

        wishes = {"seed": self.seed, "ordered": self.ordered or None, "known": known}
        given = {name: wish for name, wish in wishes.items() if name in takes and wish is not None}
        return by_method(self.method, METHODS[self.method], gold=gold, **given)


def gold_in(path: str, found: "blindfuse.Read", screen: "Screen") -> dict[str, str]:
    """The known labels in a file; items without answers are noted and left out."""
    gold = blindfuse.read_gold(path)
    there = set(found.responses.items.tolist())
    lacking = [item for item in gold if item not in there]
    if len(lacking) == len(gold):
        raise BadFile(
            f"No item in {path} has answers: it names {naming(lacking, 3)}, the answers are about "
            f"{naming(found.responses.items, 3)}. Names of items must be the same."
        )
    if lacking:
        screen.note(f"{len(lacking):,} gold items have no answers: {naming(lacking)}")
    return {item: label for item, label in gold.items() if item in there}


def text_model(path: str) -> "blindfuse.Model":
    """A saved model with names as text, as they are in files."""
    from dataclasses import replace

    model = blindfuse.Model.load(path)
    names = {name: getattr(model, name).astype(str) for name in ("annotators", "classes")}
    return replace(model, **{name: array.astype(object) for name, array in names.items()})


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
        asked = Answers(files, format, item, annotator, label, question, classes)
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
        gold: Any, no_gold: Any, method: Any, ordered: Any, known: Any, seed: Any, threads: Any,
        **others: Any,
    ) -> Any:  # fmt: skip
        return command(how=How(gold, no_gold, method, ordered, known, seed, threads), **others)

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
                "--known",
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
            return command(answer=Answer(output, as_json, quiet), **others)

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
