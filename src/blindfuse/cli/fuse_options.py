"""``FuseOptions``: how a command fuses the responses that it has read."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import blindfuse
from blindfuse.cli.input_options import read_gold_for
from blindfuse.errors import BadParameter

if TYPE_CHECKING:
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.estimators.base import Estimator
    from blindfuse.fusion.compare import GoldCheck
    from blindfuse.readers.reading import Kind

FUSE = "fuse"
"""The value of --method for which ``blindfuse.fuse`` selects the method."""


@dataclass(frozen=True)
class FusedKind:
    """How responses of a kind are fused, and what the results are called.

    ``reads`` is the ``kind`` of ``blindfuse.read``, ``function`` the name of the function that
    fuses them, and ``options`` those that it takes besides ``gold``.
    """

    reads: "Kind"
    results: str
    function: str
    options: tuple[str, ...] = ()


LABELS = FusedKind(
    *("labels", "labels", "fuse"),
    options=("ordered", "abstentions", "prior_model", "method", "seed", "threads"),
)
KINDS = {
    "numbers": FusedKind("numbers", "estimates", "fuse_numbers"),
    "multi_label": FusedKind("sets", "sets", "fuse_sets", ("seed", "threads")),
    "scores": replace(LABELS, reads="scores"),
    "abstentions": LABELS,
}
"""The kinds of responses by the option of ``blindfuse fuse``."""


@dataclass(frozen=True)
class FusionResult:
    """A fusion with the gold labels it used, and its error on them.

    Attributes
    ----------
    fusion
        the result, see :class:`blindfuse.result.Result`; it used the gold labels.
    gold
        the gold labels, ``{item: label}``; empty if there are none.
    blind
        the fusion without the gold labels; the same as ``fusion`` if there are none.
    gold_check
        the error of ``blind`` on the gold labels; None if there are none.
    automatic
        whether ``blindfuse.fuse`` selected the method.
    """

    fusion: Any
    gold: Mapping[Any, Any]
    blind: Any
    gold_check: "GoldCheck | None" = None
    automatic: bool = True


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
    separator: str | None = None

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

    def fuse(
        self,
        data: "blindfuse.Read[Any]",
        screen: "Screen",
        step: "Step",
        kind: FusedKind = LABELS,
    ) -> FusionResult:
        """Fuse the responses; labels with gold labels a second time without, for the error."""
        gold: Mapping[Any, Any] = {}
        if not self.no_gold and self.gold is None:
            items = set(data.responses.items.tolist()) if data.gold else ()
            gold = {item: label for item, label in data.gold.items() if item in items}
        elif self.gold is not None and not self.no_gold:
            gold = read_gold_for(data, self.gold, screen, kind.reads, self.separator)
        step("fusing the responses")
        with _warnings_as_notes(screen):
            fusion = self._fuse(data.responses, gold, kind)
        if not gold or kind.function != LABELS.function:
            return FusionResult(fusion, gold, fusion, automatic=self.method == FUSE)
        step("fusing without the gold labels to measure the error on them")
        with _warnings_as_notes(screen):
            blind = self._fuse(data.responses, {}, kind)
        return self.check(fusion, gold, blind)

    def check(self, fusion: Any, gold: Mapping[Any, Any], blind: Any) -> FusionResult:
        """Return the fusion with the error of ``blind`` on gold labels that it was not given."""
        from blindfuse.fusion.compare import check_on_gold

        return FusionResult(fusion, gold, blind, check_on_gold(blind, gold), self.method == FUSE)

    def _fuse(self, responses: Any, gold: Mapping[Any, Any], kind: FusedKind) -> Any:
        options = self.arguments()
        taken = {name: options[name] for name in kind.options}
        return getattr(blindfuse, kind.function)(responses, gold=gold, **taken)

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``blindfuse.fuse``, but for the gold labels."""
        prior_model = None if self.prior_model is None else load_text_model(self.prior_model)
        return {
            "ordered": self.ordered,
            "abstentions": self.abstentions,
            "prior_model": prior_model,
            "method": self.estimator(prior_model),
            "seed": self.seed,
            "threads": self.threads,
        }

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
