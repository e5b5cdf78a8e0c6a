"""Fit a model to partitioned responses: every pass is a sum of results over the partitions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from blindfuse.engines.symbols import Names
from blindfuse.errors import BadLabels, BadParameter
from blindfuse.estimators.base import ModelEstimator, require_two_classes, shrink_model
from blindfuse.estimators.blind_ensemble import BlindEnsemble
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.em import EMEstimator, EMParameters, InitialState, initial_counts
from blindfuse.model.anchored_votes import ScoreRule, symbol_counts
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_vote_units,
    expected_counts,
    votes_from_units,
)
from blindfuse.moments.em_statistics import EMStatistics
from blindfuse.moments.moment_statistics import MomentStatistics
from blindfuse.moments.requirements import MAX_AUTO_MOMENT_BYTES, moment_bytes, require_memory
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats

SAMPLE_ITEMS = 50_000
"""Approximate maximum number of items that the driver collects to initialize EM."""


class Additive(Protocol):
    """A result that can be summed in any order."""

    def __add__(self, other: Any, /) -> Any: ...


Result = TypeVar("Result", bound=Additive)


class Partitions(Protocol):
    """Partitioned responses: each partition has all responses to its items; all share ``names``."""

    names: Names

    def map_sum(self, function: Callable[[Responses], Result]) -> Result:
        """Return Σ function(partition), computed on the workers and merged in a tree."""


@dataclass(frozen=True)
class TableSize:
    """Numbers of items, responses and repeated labels; sizes of disjoint sets of items add up."""

    n_items: int
    n_responses: int
    repeated: int
    contradictory: int

    @classmethod
    def of(cls, partition: Responses) -> "TableSize":
        """Return the size of a partition."""
        return cls(
            partition.n_items, partition.n_responses, partition.repeated, partition.contradictory
        )

    def __add__(self, other: "TableSize") -> "TableSize":
        return TableSize(
            self.n_items + other.n_items,
            self.n_responses + other.n_responses,
            self.repeated + other.repeated,
            self.contradictory + other.contradictory,
        )


@dataclass(frozen=True, repr=False)
class FitResult:
    """A fitted model, the method that fitted it, and the size of the table.

    Attributes
    ----------
    model
        the fitted model: pass it to ``predict``, save it, or use it on one machine.
    method
        the fitted estimator; its attributes describe the fit, for example ``log_likelihoods_``.
    n_items, n_responses
        size of the table.
    repeated
        number of labels beyond the first per item and annotator; the most frequent one counts.
    contradictory
        number of items and annotators without a most frequent label, treated as missing.
    """

    model: Model
    method: ModelEstimator
    n_items: int
    n_responses: int
    repeated: int
    contradictory: int

    def __repr__(self) -> str:
        repeated = f", {self.repeated:,} repeated labels" if self.repeated else ""
        if self.contradictory:
            repeated += f", {self.contradictory:,} contradictory pairs treated as missing"
        return f"{self.n_responses:,} labels of {self.n_items:,} items{repeated}\n{self.method!r}"


def fit_partitions(partitions: Partitions, method: ModelEstimator | None = None) -> FitResult:
    """Fit the method, by default BlindEnsemble where its moments are small and EM elsewhere."""
    names = partitions.names
    require_two_classes(names.alphabet.classes)
    size = partitions.map_sum(TableSize.of)
    if not size.n_responses:
        raise BadLabels("The table contains no labels. Check how missing responses are marked.")
    method = method or _default_method(names, size)
    if not names.fitted.is_plain:
        method._require_symbol_support(names.fitted)
    if isinstance(method, BlindEnsemble):
        model = fit_blind_ensemble(partitions, method, size)
    elif isinstance(method, EMEstimator):
        model = fit_em(partitions, method, size)
    else:
        raise BadParameter(
            f"method={method!r} cannot be fitted to a distributed table. "
            "Pass BlindEnsemble or an EM method such as DawidSkene, or leave it out."
        )
    method.model_ = model.with_scale(names.scale)
    return FitResult(
        method.model_,
        method,
        size.n_items,
        size.n_responses,
        size.repeated,
        size.contradictory,
    )


def fit_blind_ensemble(partitions: Partitions, method: BlindEnsemble, size: TableSize) -> Model:
    """Run Algorithm 1 on summed counts: one pass counts moments, another is for shrinkage."""
    method._check_parameters()
    names = partitions.names
    if names.fitted.anchor.kind == "none":
        raise BadParameter(
            "BlindEnsemble cannot be fitted to a distributed table of clusterings, because the "
            "start of each item depends on all others. Use DawidSkene."
        )
    require_memory(len(names.annotators), len(names.fitted.symbols))
    statistics = count_moments(partitions, _score_rule(partitions, size))
    estimate = method._solve_statistics(statistics).model
    model, method.shrinkage_ = shrink_model(
        estimate,
        method.shrinkage,
        lambda: partitions.map_sum(partial(_expected_counts, model=estimate)).counts,
        names.fitted.anchor,
    )
    return model


def count_moments(partitions: Partitions, rule: ScoreRule | None = None) -> MomentStatistics:
    """Count all votes and moments; the counts equal those of one machine exactly."""
    return partitions.map_sum(partial(_moment_statistics, rule=rule))


def fit_em(partitions: Partitions, method: EMEstimator, size: TableSize) -> Model:
    """Run EM with one pass over the partitions per iteration.

    A start that must itself be fitted is fitted to a sample of items, the only items that leave
    their workers.
    """
    method._check_parameters()
    start = _resolve_start(partitions, method, size)

    def e_step(parameters: EMParameters) -> ExpectedCounts:
        return partitions.map_sum(partial(_e_step, evidence=parameters.evidence))

    def run(rule: ScoreRule | None) -> Model:
        initial = partitions.map_sum(partial(initial_counts, start=start, rule=rule, threads=1))
        names = partitions.names
        return method._run_em(e_step, initial, size.n_responses, names.annotators, names.fitted)

    rules: list[ScoreRule | None] = [None]
    if not isinstance(start, Model) and partitions.names.fitted.anchor.kind == "order":
        rules = method._score_rules(
            _draw_sample(partitions, size), start, _score_rule(partitions, size)
        )
    return method._run_from_rules(run, rules)


def _default_method(names: Names, size: TableSize) -> ModelEstimator:
    """Return BlindEnsemble for complete responses with small moments, DawidSkene for all others."""
    if not names.fitted.is_plain:
        return DawidSkene()
    M, K = len(names.annotators), len(names.alphabet.classes)
    if size.n_responses == size.n_items * M and moment_bytes(M, K) <= MAX_AUTO_MOMENT_BYTES:
        return BlindEnsemble(moments="counts")
    return DawidSkene(start="blind")


def _resolve_start(partitions: Partitions, method: EMEstimator, size: TableSize) -> InitialState:
    """Return the start of EM; one that must be fitted is fitted to a sample of items.

    Items are sampled by the hash of their names, so the sample does not depend on the partitions.
    """
    if isinstance(method.start, Model):
        return method.start
    if method.start == "mv" or method.start == "shares":
        if partitions.names.fitted.anchor.kind != "none":
            return method.start
        return _fit_to_sample(partitions, size)
    sample = _draw_sample(partitions, size)
    if not partitions.names.fitted.is_plain:
        return method._resolve_start(sample)
    votes = votes_from_units(partitions.map_sum(_votes))
    return method._resolve_start(sample, votes)


def _fit_to_sample(partitions: Partitions, size: TableSize) -> Model:
    """Return EM on a sample: where a clustering puts one item says nothing without the others."""
    return DawidSkene().fit(_draw_sample(partitions, size)).model_


def _draw_sample(partitions: Partitions, size: TableSize) -> Responses:
    """Return the responses to a sample of items, in an order that depends on them only."""
    share = min(1.0, SAMPLE_ITEMS / size.n_items)
    return partitions.map_sum(partial(_sample, share=share)).to_responses()


def _score_rule(partitions: Partitions, size: TableSize) -> ScoreRule | None:
    """Return what scores say of an item; the cuts between classes are those of a sample."""
    if partitions.names.fitted.anchor.kind != "order":
        return None
    counts = partitions.map_sum(symbol_counts)
    return ScoreRule.of(_draw_sample(partitions, size), counts)


# Functions of one partition. The engine runs partitions in parallel, so each uses one thread.


def _moment_statistics(partition: Responses, rule: ScoreRule | None) -> MomentStatistics:
    return MomentStatistics.from_responses(partition, threads=1, rule=rule)


def _votes(partition: Responses) -> ExpectedCounts:
    return count_vote_units(partition, threads=1)


def _expected_counts(partition: Responses, model: Model) -> ExpectedCounts:
    return model.expected_counts(partition, threads=1)


def _e_step(partition: Responses, evidence: tuple[Floats, Floats]) -> ExpectedCounts:
    return expected_counts(partition, *evidence, threads=1)


def _sample(partition: Responses, share: float) -> EMStatistics:
    """Return the sampled items of a partition whose item names are 64-bit hashes."""
    return EMStatistics.from_responses(partition.select_items(partition.items <= share * 2.0**64))
