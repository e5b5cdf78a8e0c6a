"""``FuseOptions``: how a command fuses the responses that it has read."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import blindfuse
from blindfuse.cli.input_options import read_gold_for
from blindfuse.errors import BadParameter

if TYPE_CHECKING:
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.estimators.base import Estimator
    from blindfuse.fusion.gold_check import GoldCheck

FUSE = "fuse"
"""The value of --method for which ``blindfuse.fuse`` selects the method."""


@dataclass(frozen=True)
class FusionResult:
    """A fusion with the gold labels it used, and its error on them.

    Attributes
    ----------
    fusion
        the fusion that used the gold labels.
    gold
        the gold labels, ``{item: label}``; empty if there are none.
    blind
        the fusion without the gold labels; the same as ``fusion`` if there are none.
    gold_check
        the error of ``blind`` on the gold labels; None if there are none.
    automatic
        whether ``blindfuse.fuse`` selected the method.
    """

    fusion: "blindfuse.Fusion"
    gold: Mapping[Any, Any]
    blind: "blindfuse.Fusion"
    gold_check: "GoldCheck | None"
    automatic: bool


@dataclass(frozen=True)
class FuseOptions:
    """The options of ``blindfuse.fuse``; ``gold`` and ``prior_model`` are paths."""

    gold: str | None
    no_gold: bool
    method: str
    ordered: bool
    prior_model: str | None
    seed: int
    threads: int | None
    abstentions: bool = False

    def __post_init__(self) -> None:
        if self.method == FUSE:
            return
        from blindfuse.estimators.registry import METHODS

        accepted = METHODS[self.method]().get_params()
        for name, value in (("ordered", self.ordered), ("prior_model", self.prior_model)):
            if value and name not in accepted:
                raise BadParameter(
                    f"{self.method} does not use {name}=. Leave one of the two options out."
                )

    def fuse(self, data: "blindfuse.Read[Any]", screen: "Screen", step: "Step") -> FusionResult:
        """Fuse the responses; with gold labels, fuse them a second time without, for the error."""
        gold = self._read_gold(data, screen)
        automatic = self.method == FUSE
        step(f"fusing {data.responses.n_responses:,} responses")
        with _warnings_as_notes(screen):
            fusion = self._fuse(data.responses, gold)
        if not gold:
            return FusionResult(fusion, gold, fusion, None, automatic)
        from blindfuse.fusion.gold_check import check_on_gold

        step("fusing without the gold labels to measure the error on them")
        with _warnings_as_notes(screen):
            blind = self._fuse(data.responses, {})
        return FusionResult(fusion, gold, blind, check_on_gold(blind, gold), automatic)

    def _read_gold(self, data: "blindfuse.Read[Any]", screen: "Screen") -> dict[str, str]:
        """Return the gold labels of --gold, or else those in the file of responses."""
        if self.no_gold:
            return {}
        return dict(data.gold) if self.gold is None else read_gold_for(data, self.gold, screen)

    def _fuse(self, responses: "blindfuse.Responses", gold: dict[str, str]) -> "blindfuse.Fusion":
        prior_model = None if self.prior_model is None else load_text_model(self.prior_model)
        return blindfuse.fuse(
            responses,
            ordered=self.ordered,
            abstentions=self.abstentions,
            gold=gold,
            prior_model=prior_model,
            method=self.estimator(prior_model),
            seed=self.seed,
            threads=self.threads,
        )

    def estimator(self, prior_model: "blindfuse.Model | None" = None) -> "Estimator | None":
        """Return the method of --method with its parameters; None for the rule of fuse."""
        if self.method == FUSE:
            return None
        from blindfuse.estimators.registry import METHODS

        method = METHODS[self.method]()
        options = {"seed": self.seed, "ordered": self.ordered or None, "prior_model": prior_model}
        accepted = {
            name: value
            for name, value in options.items()
            if name in method.get_params() and value is not None
        }
        return method.set_params(**accepted)


def load_text_model(path: str) -> "blindfuse.Model":
    """Load a model and convert its names to text, because names read from files are text."""
    return blindfuse.Model.load(path).with_text_names()


@contextmanager
def _warnings_as_notes(screen: "Screen") -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    screen.note(*(str(warning.message) for warning in caught))
