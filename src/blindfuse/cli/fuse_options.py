"""``FuseOptions``: how a command fuses the responses that it has read."""

import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import blindfuse
from blindfuse.cli.input_options import gold_in
from blindfuse.errors import BadParameter

if TYPE_CHECKING:
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.fusion.choice import SelectionRule
    from blindfuse.fusion.gold_check import GoldCheck

FUSE = "fuse"
"""The method that chooses among all."""


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
class FuseOptions:
    """How answers are fused."""

    gold: str | None
    no_gold: bool
    method: str
    ordered: bool
    prior_model: str | None
    seed: int
    threads: int | None

    def __post_init__(self) -> None:
        takes = self._parameters()
        for name, wish in (("ordered", self.ordered), ("prior_model", self.prior_model)):
            if wish and takes is not None and name not in takes:
                raise BadParameter(f"{self.method} has no use for {name}=. Leave one of them out.")

    def _parameters(self) -> Collection[str] | None:
        """What the method takes; None for fuse, which takes all."""
        if self.method == FUSE:
            return None
        from blindfuse.estimators.registry import METHODS

        return METHODS[self.method]().get_params()

    def fuse(self, found: "blindfuse.Read", screen: "Screen", step: "Step") -> Fused:
        """The fusion of these answers; with gold, one more without it, to be checked."""
        gold = self._gold(found, screen)
        step(f"fusing {found.responses.n_responses:,} labels")
        with _warnings_noted(screen):
            fusion = self._fuse(found.responses, gold)
        if not gold:
            return Fused(fusion, gold, fusion, None, self.method == FUSE)
        from blindfuse.fusion.gold_check import check_on_gold

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
        prior_model = None if self.prior_model is None else text_model(self.prior_model)
        return blindfuse.fuse(
            responses,
            ordered=self.ordered,
            gold=gold,
            prior_model=prior_model,
            selection=self.rule(gold, prior_model),
            seed=self.seed,
            threads=self.threads,
        )

    def rule(
        self,
        gold: Mapping[str, str] = MappingProxyType({}),
        prior_model: "blindfuse.Model | None" = None,
    ) -> "SelectionRule | None":
        """None for fuse's own rule, or the one that takes the method that was asked for."""
        takes = self._parameters()
        if takes is None:
            return None
        from blindfuse.estimators.registry import METHODS
        from blindfuse.fusion.selection import select_method

        wishes = {"seed": self.seed, "ordered": self.ordered or None, "prior_model": prior_model}
        given = {name: wish for name, wish in wishes.items() if name in takes and wish is not None}
        return select_method(self.method, METHODS[self.method], gold=gold, **given)


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
