"""Fit and predict on a distributed table: every pass is a sum of results over its partitions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from blindfuse.engines.arrow import AnchorOption, Columns, ColumnSummary, Names, SymbolOptions
from blindfuse.errors import BadLabels, BadParameter, suggest
from blindfuse.estimators.base import ModelEstimator, require_two_classes, shrink_model
from blindfuse.estimators.blind_ensemble import BlindEnsemble
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.em import EMEstimator, EMParameters, InitialState, initial_counts
from blindfuse.model.anchored_votes import ScoreRule, symbol_counts
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_vote_units,
    expected_counts,
    votes_from_units,
)
from blindfuse.moments.requirements import MAX_AUTO_MOMENT_BYTES, moment_bytes, require_memory
from blindfuse.moments.statistics import EMStatistics, MomentStatistics
from blindfuse.responses.responses import Responses
from blindfuse.responses.scores import MAX_LEVELS, Levels
from blindfuse.typing import Integers

SAMPLE_ITEMS = 50_000
"""Approximate maximum number of items that the driver collects to initialize EM."""


MapSum = Callable[[Callable[[Responses], Any]], Any]
"""Σ function(partition), computed on the workers and merged in a tree."""


class DistributedTable(Protocol):
    """What an engine does with its tables: it maps functions over partitions and sums results."""

    def sum_rows(self, function: Callable[[pa.Table], Any]) -> Any:
        """Return Σ function(rows), for rows whose columns are named by their roles.

        None if there are no rows.
        """

    def partitions(self, names: Names) -> AbstractContextManager[MapSum]:
        """Keep the responses on the workers, those to the same item together."""

    def label(self, names: Names, model: Model, rule: Rule) -> Any:
        """Return the labels of the items as a table of the engine."""


@dataclass(frozen=True)
class Partitions:
    """The names in a table, and sums over its partitions, each of which uses one thread."""

    names: Names
    map_sum: MapSum

    @cached_property
    def size(self) -> list[int]:
        """Numbers of items, responses, repeated labels and contradictory pairs."""
        sizes: list[int] = self.map_sum(_size).tolist()
        return sizes

    @cached_property
    def sample(self) -> Responses:
        """The responses to a sample of items, the only ones that leave their workers.

        Items are sampled by the hash of their names, so neither the sample nor its order depends on
        the partitions.
        """
        share = min(1.0, SAMPLE_ITEMS / self.size[0])
        statistics: EMStatistics = self.map_sum(partial(_sample, share=share))
        return statistics.to_responses()

    @cached_property
    def score_rule(self) -> ScoreRule | None:
        """What scores say of an item; the cuts between classes are those of the sample."""
        if self.names.fitted.anchor.kind != "order":
            return None
        return ScoreRule.of(self.sample, self.map_sum(symbol_counts))


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


def fit(
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    method: ModelEstimator | None = None,
    classes: Sequence[Any] | int | None = None,
    *,
    scores: bool = False,
    levels: Levels = MAX_LEVELS,
    abstentions: bool = False,
    anchor: AnchorOption = None,
) -> FitResult:
    """Estimate confusion matrices and the class prior from a Dask or Spark DataFrame of labels.

    The table is read twice: once for the names in it, and once for its responses, which are
    partitioned by item and kept on the workers as codes. A null label is treated as missing.

    Parameters
    ----------
    table
        one row per response, in any order. Where an annotator labelled an item more than once, the
        most frequent label counts, and a tie is treated as missing.
    item, annotator, label
        names of the columns.
    method
        a :class:`BlindEnsemble`, :class:`DawidSkene` or :class:`OneCoin`. By default,
        complete responses of few annotators are fitted by BlindEnsemble, and others by DawidSkene,
        started from BlindEnsemble on a sample of 50,000 items.
    classes
        all classes, in the order to use; by default those that occur, sorted.
    scores, levels
        whether labels are scores, and their levels, as in :meth:`blindfuse.Responses.from_scores`;
        ``classes`` are then the classes from low to high scores.
    abstentions
        whether a missing response says something, as in :func:`blindfuse.fuse`.
    anchor ``[symbol, class]``
        what labels that are not classes say about the classes, as in
        :meth:`blindfuse.Responses.with_anchor`; ``"none"`` for clusterings, whose annotators have
        labels of their own. ``classes`` are then the classes, or their number.

    Returns
    -------
    FitResult
        with the fitted ``model``.
    """
    columns = Columns(item, annotator, label)
    options = SymbolOptions(classes, scores, levels, abstentions, anchor)
    with open_partitions(table, columns, options) as partitions:
        return _fit_partitions(partitions, method)


def predict(
    model: Model,
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rule: Rule = "map",
) -> Any:
    """Return the most probable class of each item of a DataFrame, and its probability.

    Returns
    -------
    dask.dataframe.DataFrame or pyspark.sql.DataFrame
        one row per item, in any order, with the columns ``item`` (named as in the table),
        ``label`` and ``probability``; it is evaluated lazily.
    """
    columns = Columns(item, annotator, label)
    return open_table(table, columns._asdict()).label(Names.of_model(model), model, rule)


@contextmanager
def open_partitions(table: Any, columns: Columns, options: SymbolOptions) -> Iterator[Partitions]:
    """Yield the names and the partitions of a table, which stay on the workers until the end."""
    opened = open_table(table, columns._asdict())
    summary = opened.sum_rows(partial(ColumnSummary.of, options=options))
    if summary is None or not summary.rows:
        raise BadLabels("The table is empty. Check the source of the table.")
    names = summary.names(columns, options)
    with opened.partitions(names) as map_sum:
        yield Partitions(names, map_sum)


def open_table(table: Any, columns: Mapping[str, str]) -> DistributedTable:
    """Return the table of the engine that its type belongs to; ``columns`` are names by role."""
    engine: Callable[[Any, Mapping[str, str]], DistributedTable]
    if hasattr(table, "mapInArrow"):
        from blindfuse.engines.spark import SparkTable as engine
    elif hasattr(table, "map_partitions") and hasattr(table, "columns"):
        from blindfuse.engines.dask import DaskTable as engine
    else:
        raise BadLabels(
            f"A {type(table).__name__} is not a Dask or Spark DataFrame. Use blindfuse.fuse or "
            "fuse_pairs for a table in memory."
        )
    for name in columns.values():
        if name not in table.columns:
            raise BadLabels(f"The table has no column {name!r}: {suggest(name, table.columns)}")
    return engine(table, columns)


def _fit_partitions(partitions: Partitions, method: ModelEstimator | None) -> FitResult:
    """Fit the method, by default BlindEnsemble where its moments are small and EM elsewhere."""
    names = partitions.names
    require_two_classes(names.alphabet.classes)
    if not partitions.size[1]:
        raise BadLabels("The table contains no labels. Check how missing responses are marked.")
    method = method or _default_method(partitions)
    if not names.fitted.is_plain:
        method._require_symbol_support(names.fitted)
    method._check_parameters()
    if isinstance(method, BlindEnsemble):
        model = _fit_blind_ensemble(partitions, method)
    elif isinstance(method, EMEstimator):
        model = _fit_em(partitions, method)
    else:
        raise BadParameter(
            f"method={method!r} cannot be fitted to a distributed table. "
            "Pass BlindEnsemble or an EM method such as DawidSkene, or leave it out."
        )
    method._set_model(model.with_scale(names.scale))
    method._warn_unless_converged()
    return FitResult(method.model_, method, *partitions.size)


def _fit_blind_ensemble(partitions: Partitions, method: BlindEnsemble) -> Model:
    """Run Algorithm 1 on summed counts: one pass counts moments, another is for shrinkage."""
    names = partitions.names
    if names.fitted.anchor.kind == "none":
        raise BadParameter(
            "BlindEnsemble cannot be fitted to a distributed table of clusterings, because the "
            "start of each item depends on all others. Use DawidSkene."
        )
    require_memory(len(names.annotators), len(names.fitted.symbols))
    estimate = method._solve_statistics(count_moments(partitions))
    model, method.shrinkage_ = shrink_model(
        estimate,
        method.shrinkage,
        lambda: partitions.map_sum(partial(estimate.expected_counts, threads=1)).counts,
        names.fitted.anchor,
    )
    return model


def count_moments(partitions: Partitions) -> MomentStatistics:
    """Count all votes and moments; the counts equal those of one machine exactly."""
    count = partial(MomentStatistics.from_responses, threads=1, rule=partitions.score_rule)
    statistics: MomentStatistics = partitions.map_sum(count)
    return statistics


def _fit_em(partitions: Partitions, method: EMEstimator) -> Model:
    """Run EM with one pass over the partitions per iteration."""
    names, fitted = partitions.names, partitions.names.fitted
    start = _resolve_start(partitions, method)

    def e_step(parameters: EMParameters) -> ExpectedCounts:
        confusions, prior = parameters.evidence
        count = partial(expected_counts, confusions=confusions, prior=prior, threads=1)
        counts: ExpectedCounts = partitions.map_sum(count)
        return counts

    def run(rule: ScoreRule | None) -> Model:
        initial = partitions.map_sum(partial(initial_counts, start=start, rule=rule, threads=1))
        return method._run_em(e_step, initial, partitions.size[1], names.annotators, fitted)

    rules: list[ScoreRule | None] = [None]
    if not isinstance(start, Model) and fitted.anchor.kind == "order":
        rules = method._score_rules(partitions.sample, start, partitions.score_rule)
    return method._run_from_rules(run, rules)


def _default_method(partitions: Partitions) -> ModelEstimator:
    """Return BlindEnsemble for complete responses with small moments, DawidSkene for all others."""
    names, (n_items, n_responses, *_) = partitions.names, partitions.size
    if not names.fitted.is_plain:
        return DawidSkene()
    M, K = len(names.annotators), len(names.alphabet.classes)
    if n_responses == n_items * M and moment_bytes(M, K) <= MAX_AUTO_MOMENT_BYTES:
        return BlindEnsemble(moments="counts")
    return DawidSkene(start="blind")


def _resolve_start(partitions: Partitions, method: EMEstimator) -> InitialState:
    """Return the start of EM; one that must be fitted is fitted to a sample of items."""
    fitted, start = partitions.names.fitted, method.start
    if isinstance(start, Model):
        return start
    if start == "mv" or start == "shares":
        if fitted.anchor.kind != "none":
            return start
        # Where a clustering puts one item says nothing without the others.
        return DawidSkene().fit(partitions.sample).model_
    if not fitted.is_plain:
        return method._resolve_start(partitions.sample)
    votes = votes_from_units(partitions.map_sum(partial(count_vote_units, threads=1)))
    return method._resolve_start(partitions.sample, votes)


# Functions of one partition.


def _size(partition: Responses) -> Integers:
    sizes = partition.n_items, partition.n_responses, partition.repeated, partition.contradictory
    return np.array(sizes)


def _sample(partition: Responses, share: float) -> EMStatistics:
    """Return the sampled items of a partition whose item names are 64-bit hashes."""
    return EMStatistics.from_responses(partition.select_items(partition.items <= share * 2.0**64))
