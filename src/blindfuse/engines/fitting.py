"""Fitting answers that lie in parts on many machines: passes over the parts that add up."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from blindfuse.engines.arrow import Names
from blindfuse.errors import BadParameter
from blindfuse.estimators.base import ModelEstimator, require_classes, shrink_model
from blindfuse.estimators.blind_ensemble import BlindEnsemble
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.em import Begin, EMEstimator, Parameters
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_vote_units,
    expected_counts,
    votes_from_units,
)
from blindfuse.moments.em_statistics import EMStatistics
from blindfuse.moments.moment_statistics import MomentStatistics
from blindfuse.moments.requirements import CHOSEN_MOMENT_BYTES, moment_bytes, require_memory
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

SAMPLE = 50_000
"""Items that are brought together for the start of EM, at most about so many."""


class Additive(Protocol):
    """What adds up, in any order."""

    def __add__(self, other: Any, /) -> Any: ...


Result = TypeVar("Result", bound=Additive)


class Parts(Protocol):
    """Answers in parts, each with all answers about its items, all with the same names."""

    names: Names

    def add_up(self, work: Callable[[Responses], Result]) -> Result:
        """Σ work(part), done where the parts are and merged in a tree."""


@dataclass(frozen=True)
class Size:
    """How much there is; that of other items can be added."""

    n_items: int
    n_responses: int
    repeated: int

    @classmethod
    def of(cls, part: Responses) -> "Size":
        """Measure these answers."""
        return cls(part.n_items, part.n_responses, part.repeated)

    def __add__(self, other: "Size") -> "Size":
        return Size(
            self.n_items + other.n_items,
            self.n_responses + other.n_responses,
            self.repeated + other.repeated,
        )


@dataclass(frozen=True, repr=False)
class Fitted:
    """What was learned, from how much, and how.

    Attributes
    ----------
    model
        to hand to ``predict``, to save, or to use on one machine.
    method
        the method that found it; its attributes tell how that went.
    n_items, n_responses
        of the table.
    repeated
        labels that do not count, because their (item, annotator) pair came again.
    """

    model: Model
    method: ModelEstimator
    n_items: int
    n_responses: int
    repeated: int

    def __repr__(self) -> str:
        again = f", {self.repeated:,} repeated labels dropped" if self.repeated else ""
        return f"{self.n_responses:,} labels of {self.n_items:,} items{again}\n{self.method!r}"


def fit_parts(parts: Parts, method: ModelEstimator | None = None) -> Fitted:
    """Fit a method, or the one that suits: the paper's from counts, or EM."""
    require_classes(parts.names.classes)
    size = parts.add_up(Size.of)
    method = method or _suitable(parts.names, size)
    if isinstance(method, BlindEnsemble):
        method.model_ = fit_counts(parts, method)
    elif isinstance(method, EMEstimator):
        method.model_ = fit_em(parts, method, size)
    else:
        raise BadParameter(
            f"method={method!r} cannot be fitted in parts. "
            "Pass BlindEnsemble or an EM method such as DawidSkene, or leave it out."
        )
    return Fitted(method.model_, method, size.n_items, size.n_responses, size.repeated)


def fit_counts(parts: Parts, method: BlindEnsemble) -> Model:
    """Algorithm 1 from counts: one pass to count, one for shrinkage."""
    require_memory(*map(len, parts.names))
    estimate = method.estimate(count(parts)).model
    model, method.pseudo_counts_ = shrink_model(
        estimate, method.shrinkage, lambda: parts.add_up(partial(_expected, model=estimate)).counts
    )
    return model


def count(parts: Parts) -> MomentStatistics:
    """All votes and moments, exactly those that one machine would count."""
    return parts.add_up(_counted)


def fit_em(parts: Parts, method: EMEstimator, size: Size) -> Model:
    """EM as map and reduce: one pass an iteration.

    A start that is itself fitted is fitted to a sample of items; no other items are brought here.
    """
    begin = _begin(parts, method, size)
    sums = parts.add_up(partial(_first_sums, method=_in_one_thread(method), begin=begin))

    def e_step(parameters: Parameters) -> ExpectedCounts:
        return parts.add_up(partial(_posteriors, evidence=parameters.evidence))

    return method.estimate(e_step, sums, size.n_responses, *parts.names)


def _suitable(names: Names, size: Size) -> ModelEstimator:
    """Complete answers of few annotators are told by their counts; all others need EM."""
    M, K = map(len, names)
    if size.n_responses == size.n_items * M and moment_bytes(M, K) <= CHOSEN_MOMENT_BYTES:
        return BlindEnsemble(moments="counts")
    return DawidSkene(start="blind")


def _begin(parts: Parts, method: EMEstimator, size: Size) -> Begin:
    """The start, fitted if need be to items drawn by hash: the same ones, wherever they are."""
    method.check()
    if isinstance(method.start, Model) or method.start == "mv" or method.start == "shares":
        return method.start
    share = min(1.0, SAMPLE / size.n_items)
    drawn = parts.add_up(partial(_drawn, share=share))
    return method.begin(drawn.items(), votes_from_units(parts.add_up(_votes)))


# What is done with a part. The engine runs parts side by side, so each takes one thread.


def _counted(part: Responses) -> MomentStatistics:
    return MomentStatistics.of(part, threads=1)


def _votes(part: Responses) -> ExpectedCounts:
    return count_vote_units(part, threads=1)


def _expected(part: Responses, model: Model) -> ExpectedCounts:
    return model.sums(part, threads=1)


def _first_sums(part: Responses, method: EMEstimator, begin: Begin) -> ExpectedCounts:
    return method.first_sums(part, begin)


def _posteriors(part: Responses, evidence: tuple[Floats, Floats]) -> ExpectedCounts:
    return expected_counts(part, *evidence, threads=1)


def _drawn(part: Responses, share: float) -> EMStatistics:
    """Of a part whose items are hashes."""
    return EMStatistics.of(part.select_items(part.items <= share * 2.0**64))


def _in_one_thread(method: EMEstimator) -> EMEstimator:
    return type(method)(**{**method.get_params(), "threads": 1})
