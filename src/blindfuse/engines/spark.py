"""Fit and predict on a Spark DataFrame of labels with one row per response.

It uses only DataFrames and ``mapInArrow``, no RDDs, so it also works through Spark Connect.
Executors need blindfuse installed.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from math import isqrt
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DoubleType, StructField, StructType

from blindfuse.engines.arrow import (
    Columns,
    ColumnSummary,
    encode_annotators,
    encode_labels,
    group_by_item,
    label_items,
    trim_names,
    with_hashed_items,
)
from blindfuse.engines.fitting import FitResult, Result, fit_partitions
from blindfuse.engines.symbols import AnchorOption, Names, SymbolOptions
from blindfuse.errors import BadLabels
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model.model import Model, Rule
from blindfuse.responses.responses import Responses
from blindfuse.responses.scores import MAX_LEVELS, Levels

Batches = Iterator[pa.RecordBatch]

RESULT_SCHEMA = "number long, result binary"
"""One row per result: pickled, and numbered so that sums do not depend on the order of arrival."""

FAN_IN = 4
"""Maximum number of results that one task merges; more are merged in two stages."""


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
    """Estimate confusion matrices and the class prior from a Spark DataFrame of labels.

    The table is read twice: once for the names in it, and once for its responses, which are
    partitioned by item and kept on the executors as codes. A null label is treated as missing.

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
    options = SymbolOptions(classes, scores, levels, abstentions, anchor)
    with SparkPartitions(table, Columns(item, annotator, label), options) as partitions:
        return fit_partitions(partitions, method)


def predict(
    model: Model,
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rule: Rule = "map",
) -> Any:
    """Return the most probable class of each item of a Spark DataFrame, and its probability.

    Returns
    -------
    pyspark.sql.DataFrame
        one row per item, in any order, with the columns ``item`` (named as in the table),
        ``label`` and ``probability``; it is evaluated lazily.
    """
    columns, names = Columns(item, annotator, label), Names.of_model(model)
    _check(table, columns)
    schema = StructType(
        [
            StructField("item", table.schema[item].dataType),
            StructField("label", from_arrow_type(pa.array(model.classes.tolist()).type)),
            StructField("probability", DoubleType()),
        ]
    )
    rows = _shuffle_by_item(table, columns, names)
    labels = rows.mapInArrow(partial(_label_items, model=model, rule=rule), schema)
    return labels.withColumnRenamed("item", item)


class SparkPartitions:
    """The responses of a Spark DataFrame, partitioned by item, cached until the block ends."""

    def __init__(self, table: Any, columns: Columns, options: SymbolOptions | None = None) -> None:
        _check(table, columns)
        options = (options or SymbolOptions()).check()
        chosen = table.select(*(table[name] for name in columns))
        summaries = chosen.mapInArrow(partial(_summarize, options=options), RESULT_SCHEMA)
        summary = _tree_sum(summaries, ColumnSummary.empty())
        self.names = summary.names(columns, options)
        rows = _shuffle_by_item(table, columns, self.names)
        self._partitions = rows.mapInArrow(
            partial(_to_responses, names=self.names), RESULT_SCHEMA
        ).persist()

    def __enter__(self) -> "SparkPartitions":
        return self

    def __exit__(self, *exception: object) -> None:
        self._partitions.unpersist()

    def map_sum(self, function: Callable[[Responses], Result]) -> Result:
        """Return Σ function(partition); the function is broadcast, the responses stay in place."""
        apply = partial(_apply, function=function)
        total: Result = _tree_sum(self._partitions.mapInArrow(apply, RESULT_SCHEMA))
        return total


def _check(table: Any, columns: Columns) -> None:
    if not (hasattr(table, "mapInArrow") and hasattr(table, "sparkSession")):
        raise BadLabels(
            f"A {type(table).__name__} is not a Spark DataFrame. Create one with "
            "spark.createDataFrame, or use blindfuse.fuse for a table in memory."
        )
    columns.check(table.columns)


def _shuffle_by_item(table: Any, columns: Columns, names: Names) -> Any:
    """Return the rows as codes, with all rows of an item in one partition."""
    schema = StructType(
        [
            StructField("item", table.schema[columns.item].dataType),
            *StructType.fromDDL("annotator int, label short").fields,
        ]
    )
    chosen = table.select(*(table[name] for name in columns))
    return chosen.mapInArrow(partial(_encode, names=names), schema).repartition("item")


def _tree_sum(results: Any, default: Any = None) -> Any:
    """Return the sum of the results, or ``default`` if there are none.

    √n tasks sum √n results each, and one task sums theirs.
    """
    tasks = int(results.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if tasks > FAN_IN:
        tasks = isqrt(tasks)
        group = functions.pmod("number", functions.lit(tasks))
        results = results.repartition(tasks, group).mapInArrow(_sum, RESULT_SCHEMA)
    rows = results.repartition(1).mapInArrow(_sum, RESULT_SCHEMA).collect()
    return pickle.loads(rows[0]["result"]) if rows else default


# Functions that run on the executors; a partition is an iterator of record batches.


def _summarize(batches: Batches, options: SymbolOptions) -> Batches:
    summaries = [_summarize_batch(batch, options) for batch in batches]
    return _as_row(reduce(add, summaries)) if summaries else iter(())


def _summarize_batch(batch: pa.RecordBatch, options: SymbolOptions) -> ColumnSummary:
    items, annotators, labels = batch.columns
    return ColumnSummary.of(items, annotators, labels, options)


def _encode(batches: Batches, names: Names) -> Batches:
    for batch in batches:
        items, annotators, labels = batch.columns
        codes = encode_annotators(annotators, names)
        yield pa.record_batch(
            {
                "item": trim_names(items),
                "annotator": codes,
                "label": encode_labels(labels, codes, names).astype(np.int16),
            }
        )


def _to_responses(batches: Batches, names: Names) -> Batches:
    rows = list(batches)
    return _as_row(with_hashed_items(*_group_by_item(rows, names))) if rows else iter(())


def _label_items(batches: Batches, model: Model, rule: Rule) -> Batches:
    rows = list(batches)
    if not rows:
        return iter(())
    items, responses = _group_by_item(rows, Names.of_model(model))
    return iter(label_items(items, responses, model, rule).to_batches())


def _apply(batches: Batches, function: Callable[[Responses], Any]) -> Batches:
    for number, partition in _unpickle(batches):
        yield _row(number, function(partition))


def _sum(batches: Batches) -> Batches:
    results = sorted(_unpickle(batches), key=lambda numbered: numbered[0])
    if results:
        yield _row(results[0][0], reduce(add, (result for _, result in results)))


def _group_by_item(rows: list[pa.RecordBatch], names: Names) -> tuple[pa.Array, Responses]:
    items, annotators, labels = pa.Table.from_batches(rows).columns
    return group_by_item(items, annotators.to_numpy(), labels.to_numpy(), names)


def _as_row(result: Any) -> Batches:
    """Yield one row with the result of a partition and the number of the partition."""
    context = TaskContext.get()
    assert context is not None, "only executors call this"
    yield _row(context.partitionId(), result)


def _unpickle(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each result."""
    for batch in batches:
        for number, pickled in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield number, pickle.loads(pickled)


def _row(number: int, result: Any) -> pa.RecordBatch:
    return pa.record_batch({"number": [number], "result": [pickle.dumps(result)]})
