"""Spark DataFrames: how Spark maps over partitions, which are record batches, and sums results.

It uses only DataFrames and ``mapInArrow``, no RDDs, so it also works through Spark Connect.
Executors need blindfuse installed.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce
from math import isqrt
from operator import add
from typing import Any

from blindfuse.errors import needs_extra

with needs_extra("spark"):
    import pyarrow as pa
    from pyspark import TaskContext
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import DoubleType, StructField, StructType

from blindfuse.engines.arrow import Names, encode, label_items, to_responses
from blindfuse.engines.comparisons import fuse_pairs as fuse_pairs
from blindfuse.engines.fitting import MapSum
from blindfuse.engines.fitting import fit as fit
from blindfuse.engines.fitting import predict as predict
from blindfuse.model.model import Model, Rule

Batches = Iterator[pa.RecordBatch]

RESULT_SCHEMA = "number long, result binary"
"""One row per result: pickled, and numbered so that sums do not depend on the order of arrival."""

FAN_IN = 4
"""Maximum number of results that one task merges; more are merged in two stages."""


class SparkTable:
    """A Spark DataFrame; see :class:`~blindfuse.engines.fitting.DistributedTable`."""

    def __init__(self, table: Any, columns: Mapping[str, str]) -> None:
        self._rows = table.select(*(table[name].alias(role) for role, name in columns.items()))
        self._columns = columns

    def sum_rows(self, function: Callable[[pa.Table], Any]) -> Any:
        mapped = self._rows.mapInArrow(partial(_sum_of_batches, function=function), RESULT_SCHEMA)
        return _tree_sum(mapped)

    @contextmanager
    def partitions(self, names: Names) -> Iterator[MapSum]:
        convert = partial(_as_result, function=partial(to_responses, names=names))
        kept = self._shuffled_by_item(names).mapInArrow(convert, RESULT_SCHEMA).persist()

        def map_sum(function: Callable[[Any], Any]) -> Any:
            return _tree_sum(kept.mapInArrow(partial(_apply, function=function), RESULT_SCHEMA))

        try:
            yield map_sum
        finally:
            kept.unpersist()

    def label(self, names: Names, model: Model, rule: Rule) -> Any:
        schema = StructType(
            [
                StructField("item", self._item_type),
                StructField("label", from_arrow_type(pa.array(model.classes.tolist()).type)),
                StructField("probability", DoubleType()),
            ]
        )
        label = partial(label_items, names=names, model=model, rule=rule)
        rows = self._shuffled_by_item(names)
        labels = rows.mapInArrow(partial(_map_partition, function=label), schema)
        return labels.withColumnRenamed("item", self._columns["item"])

    @property
    def _item_type(self) -> Any:
        return self._rows.schema["item"].dataType

    def _shuffled_by_item(self, names: Names) -> Any:
        """The rows as codes, with all rows of an item in one partition."""
        codes = StructType.fromDDL("annotator int, label short").fields
        schema = StructType([StructField("item", self._item_type), *codes])
        coded = self._rows.mapInArrow(partial(_encode, names=names), schema)
        return coded.repartition("item")


def _tree_sum(results: Any) -> Any:
    """Return the sum of the results, None if there are none.

    √n tasks sum √n results each, and one task sums theirs.
    """
    tasks = int(results.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if tasks > FAN_IN:
        tasks = isqrt(tasks)
        group = functions.pmod("number", functions.lit(tasks))
        results = results.repartition(tasks, group).mapInArrow(_sum, RESULT_SCHEMA)
    rows = results.repartition(1).mapInArrow(_sum, RESULT_SCHEMA).collect()
    return pickle.loads(rows[0]["result"]) if rows else None


# Functions that run on the executors.


def _to_arrow(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """The rows of a partition; None if there are none."""
    rows = list(batches)
    return pa.Table.from_batches(rows) if rows else None


def _sum_of_batches(batches: Batches, function: Callable[[pa.Table], Any]) -> Batches:
    results = [function(_to_arrow([batch])) for batch in batches]
    if results:
        yield _row(_partition_number(), reduce(add, results))


def _encode(batches: Batches, names: Names) -> Batches:
    for batch in batches:
        yield from encode(_to_arrow([batch]), names).to_batches()


def _as_result(batches: Batches, function: Callable[[pa.Table], Any]) -> Batches:
    rows = _to_arrow(batches)
    if rows is not None:
        yield _row(_partition_number(), function(rows))


def _map_partition(batches: Batches, function: Callable[[pa.Table], pa.Table]) -> Batches:
    rows = _to_arrow(batches)
    if rows is not None:
        yield from function(rows).to_batches()


def _apply(batches: Batches, function: Callable[[Any], Any]) -> Batches:
    for number, partition in _unpickle(batches):
        yield _row(number, function(partition))


def _sum(batches: Batches) -> Batches:
    results = sorted(_unpickle(batches), key=lambda numbered: numbered[0])
    if results:
        yield _row(results[0][0], reduce(add, (result for _, result in results)))


def _partition_number() -> int:
    context = TaskContext.get()
    assert context is not None, "only executors call this"
    return int(context.partitionId())


def _unpickle(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each result."""
    for batch in batches:
        for number, pickled in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield number, pickle.loads(pickled)


def _row(number: int, result: Any) -> pa.RecordBatch:
    return pa.record_batch({"number": [number], "result": [pickle.dumps(result)]})
