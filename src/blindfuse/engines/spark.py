"""Fit and predict on a Spark DataFrame of labels, one row an answer.

Only DataFrames and ``mapInArrow`` are used, no RDDs, so it works through Spark Connect as well.
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

from blindfuse.engines.arrow import Columns, Names, Seen, codes_of, gathered, hashed, labelled
from blindfuse.engines.fitting import Fitted, Result, fit_parts
from blindfuse.errors import BadLabels
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model.model import Model, Rule
from blindfuse.responses.responses import Responses

Batches = Iterator[pa.RecordBatch]

PIECES = "number long, piece binary"
"""A partition's result as one row: pickled, and numbered so that sums do not depend on timing."""

FAN_IN = 4
"""Results that one task may merge at once; more are merged in two stages."""


def fit(
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    method: ModelEstimator | None = None,
    classes: Sequence[Any] | None = None,
) -> Fitted:
    """Learn about annotators and classes from a Spark DataFrame of labels.

    The table is read twice: for the names in it, and for its answers, which are then partitioned
    by item, once, and kept on the executors as codes. A null label is no answer.

    Parameters
    ----------
    table
        one row an answer, in any order. Of an annotator's several labels of an item, the one that
        comes last in the order of classes counts.
    item, annotator, label
        names of its columns.
    method
        a :class:`BlindEnsemble`, :class:`DawidSkene` or :class:`OneCoin`. Without it, complete
        answers of few annotators are fitted by BlindEnsemble from counts, and others by DawidSkene,
        started by BlindEnsemble on a sample of 50,000 items.
    classes
        all classes, in your order; otherwise those that occur, sorted.

    Returns
    -------
    Fitted
        with the ``model`` in it.
    """
    with SparkParts(table, Columns(item, annotator, label), classes) as parts:
        return fit_parts(parts, method)


def predict(
    model: Model,
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rule: Rule = "map",
) -> Any:
    """The most probable class of each item of a Spark DataFrame of labels, and how probable it is.

    Returns
    -------
    pyspark.sql.DataFrame
        one row an item, in any order, with the columns ``item`` (as named in the table),
        ``label`` and ``probability``; nothing is computed yet.
    """
    columns, names = Columns(item, annotator, label), Names(model.annotators, model.classes)
    _check(table, columns)
    schema = StructType(
        [
            StructField("item", table.schema[item].dataType),
            StructField("label", from_arrow_type(pa.array(model.classes.tolist()).type)),
            StructField("probability", DoubleType()),
        ]
    )
    rows = _by_item(table, columns, names)
    found = rows.mapInArrow(partial(_labelled, model=model, rule=rule), schema)
    return found.withColumnRenamed("item", item)


class SparkParts:
    """The answers of a Spark DataFrame, by item, kept on the executors until the block ends."""

    def __init__(self, table: Any, columns: Columns, classes: Sequence[Any] | None = None) -> None:
        _check(table, columns)
        chosen = table.select(*(table[name] for name in columns))
        pieces = chosen.mapInArrow(_seen, PIECES)
        seen = _merged(pieces, Seen(0, 0, 0, frozenset(), frozenset()))
        self.names = seen.names(columns, classes)
        rows = _by_item(table, columns, self.names)
        self._parts = rows.mapInArrow(partial(_part, names=self.names), PIECES).persist()

    def __enter__(self) -> "SparkParts":
        return self

    def __exit__(self, *why: object) -> None:
        self._parts.unpersist()

    def add_up(self, work: Callable[[Responses], Result]) -> Result:
        """Σ work(part): the work, with the model in it, is broadcast; the parts stay there."""
        total: Result = _merged(self._parts.mapInArrow(partial(_done, work=work), PIECES))
        return total


def _check(table: Any, columns: Columns) -> None:
    if not (hasattr(table, "mapInArrow") and hasattr(table, "sparkSession")):
        raise BadLabels(
            f"A {type(table).__name__} is no Spark DataFrame. Make one with "
            "spark.createDataFrame, or use blindfuse.fuse for a table in memory."
        )
    columns.check(table.columns)


def _by_item(table: Any, columns: Columns, names: Names) -> Any:
    """The rows as codes, those of an item in one partition."""
    schema = StructType(
        [
            StructField("item", table.schema[columns.item].dataType),
            *StructType.fromDDL("annotator int, label short").fields,
        ]
    )
    chosen = table.select(*(table[name] for name in columns))
    return chosen.mapInArrow(partial(_coded, names=names), schema).repartition("item")


def _merged(pieces: Any, nothing: Any = None) -> Any:
    """The sum of pieces, merged in a tree: some tasks add up some of them, one adds up those."""
    tasks = int(pieces.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if tasks > FAN_IN:
        tasks = isqrt(tasks)
        group = functions.pmod("number", functions.lit(tasks))
        pieces = pieces.repartition(tasks, group).mapInArrow(_total, PIECES)
    rows = pieces.repartition(1).mapInArrow(_total, PIECES).collect()
    return pickle.loads(rows[0]["piece"]) if rows else nothing


# What the executors do with a partition, which comes as batches of rows.


def _seen(batches: Batches) -> Batches:
    seen = [Seen.of(*batch.columns) for batch in batches]
    return _as_piece(reduce(add, seen)) if seen else iter(())


def _coded(batches: Batches, names: Names) -> Batches:
    for batch in batches:
        items, annotators, labels = batch.columns
        yield pa.record_batch(
            {
                "item": items,
                "annotator": codes_of(annotators, names.annotators, "Annotators"),
                "label": codes_of(labels, names.classes, "Labels").astype(np.int16),
            }
        )


def _part(batches: Batches, names: Names) -> Batches:
    rows = list(batches)
    return _as_piece(hashed(*_gathered(rows, names))) if rows else iter(())


def _labelled(batches: Batches, model: Model, rule: Rule) -> Batches:
    rows = list(batches)
    if not rows:
        return iter(())
    items, responses = _gathered(rows, Names(model.annotators, model.classes))
    return iter(labelled(items, responses, model, rule).to_batches())


def _done(batches: Batches, work: Callable[[Responses], Any]) -> Batches:
    for number, part in _pieces(batches):
        yield _row(number, work(part))


def _total(batches: Batches) -> Batches:
    pieces = sorted(_pieces(batches), key=lambda piece: piece[0])
    if pieces:
        yield _row(pieces[0][0], reduce(add, (piece for _, piece in pieces)))


def _gathered(rows: list[pa.RecordBatch], names: Names) -> tuple[pa.Array, Responses]:
    items, annotators, labels = pa.Table.from_batches(rows).columns
    return gathered(items, annotators.to_numpy(), labels.to_numpy(), names)


def _as_piece(result: Any) -> Batches:
    """One row with the result of a partition, under the partition's number."""
    context = TaskContext.get()
    assert context is not None, "this is done by executors only"
    yield _row(context.partitionId(), result)


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for number, piece in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield number, pickle.loads(piece)


def _row(number: int, result: Any) -> pa.RecordBatch:
    return pa.record_batch({"number": [number], "piece": [pickle.dumps(result)]})
