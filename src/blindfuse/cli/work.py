"""What most commands begin with: answers are read, and fused."""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import blindfuse
from blindfuse.cli.machine import free_memory
from blindfuse.errors import BadFile, BadParameter, naming

if TYPE_CHECKING:
    from blindfuse.checking import GoldCheck
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.rules import Choose

ROOM = 4
"""Bytes of memory that a byte of a file may take while it is read and fused."""

FUSE = "fuse"
"""The method that chooses among all."""


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

    def too_large(self) -> str | None:
        """Why the files are not read whole, if that would take more memory than there is."""
        files = [Path(file) for file in self.files]
        size = sum(file.stat().st_size for file in files if file.is_file())
        free = free_memory()
        if size * ROOM <= free:
            return None
        return (
            f"{size / 1e9:,.1f} GB are read in parts, because {free / 1e9:,.1f} GB of memory are "
            "free. --whole reads them at once all the same."
        )

    @property
    def title(self) -> str:
        """What was read, in short."""
        first, *others = (
            "standard input" if file == "-" else Path(file).name for file in self.files
        )
        return f"{first} and {len(others):,} more" if others else first


@dataclass(frozen=True)
class Fused:
    """A fusion, the gold that it was told, and how a ``blind`` one does that was not.

    Without gold both are one, and there is nothing to check. ``chosen`` tells whether ``fuse``
    chose the method itself.
    """

    fusion: "blindfuse.Fusion"
    gold: Mapping[Any, Any]
    blind: "blindfuse.Fusion"
    check: "GoldCheck | None"
    chosen: bool


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
        with _warnings_noted(screen):
            fusion = self._fuse(found.responses, gold)
        if not gold:
            return Fused(fusion, gold, fusion, None, self.method == FUSE)
        from blindfuse.checking import check_on_gold

        step("fusing without gold, to measure the error on it")
        with _warnings_noted(screen):
            blind = self._fuse(found.responses, {})
        return Fused(fusion, gold, blind, check_on_gold(blind, gold), self.method == FUSE)

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
            choose=self.rule(gold, known),
            seed=self.seed,
            threads=self.threads,
        )

    def rule(
        self, gold: Mapping[str, str] = MappingProxyType({}), known: "blindfuse.Model | None" = None
    ) -> "Choose | None":
        """None for fuse's own rule, or the one that takes the method that was asked for."""
        takes = self._parameters()
        if takes is None:
            return None
        from blindfuse.comparing import METHODS
        from blindfuse.rules import by_method

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
    model = blindfuse.Model.load(path)
    names = {name: getattr(model, name).astype(str) for name in ("annotators", "classes")}
    return replace(model, **{name: array.astype(object) for name, array in names.items()})


@contextmanager
def _warnings_noted(screen: "Screen") -> Iterator[None]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        yield
    screen.note(*(str(warning.message) for warning in told))
