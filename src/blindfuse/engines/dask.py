"""Dask DataFrames: how Dask maps over partitions, which are pandas DataFrames, and sums results."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce
from operator import add
from typing import Any

from blindfuse.errors import BadLabels, needs_extra

with needs_extra("dask"):
    import dask
    import pandas as pd
    import pyarrow as pa
    from dask.delayed import Delayed, delayed

from blindfuse.engines.arrow import Columns, Names, encode, label_items, to_responses
from blindfuse.engines.comparisons import fuse_pairs as fuse_pairs
from blindfuse.engines.fitting import MapSum
from blindfuse.engines.fitting import fit as fit
from blindfuse.engines.fitting import predict as predict
from blindfuse.model.model import Model, Rule
from blindfuse.responses.responses import Responses

CODED = {role: role for role in Columns._fields}
"""The columns of a frame of codes."""
FAN_IN = 8
"""Number of results that one task merges."""


class DaskTable:
    """A Dask DataFrame; see :class:`~blindfuse.engines.fitting.DistributedTable`."""

    def __init__(self, table: Any, columns: Mapping[str, str]) -> None:
        self._table, self._columns = table, columns

    def sum_rows(self, function: Callable[[pa.Table], Any]) -> Any:
        shared, rows = delayed(function), delayed(_to_arrow)
        frames = self._table.to_delayed()
        return _tree_sum([shared(rows(frame, self._columns)) for frame in frames])

    @contextmanager
    def partitions(self, names: Names) -> Iterator[MapSum]:
        shared, rows = delayed(partial(to_responses, names=names)), delayed(_to_arrow)
        frames = self._shuffled_by_item(names).to_delayed()
        kept = dask.persist(*(shared(rows(frame)) for frame in frames))

        def map_sum(function: Callable[[Responses], Any]) -> Any:
            return _tree_sum(list(map(delayed(function), kept)))

        yield map_sum

    def label(self, names: Names, model: Model, rule: Rule) -> Any:
        rows, item = self._shuffled_by_item(names), self._columns["item"]
        meta = _label_items(rows._meta, names, model, rule, item)
        return rows.map_partitions(_label_items, names, model, rule, item, meta=meta)

    def _shuffled_by_item(self, names: Names) -> Any:
        """The rows as codes, with all rows of an item in one partition."""
        meta = _encode(self._table._meta, self._columns, names)
        coded = self._table.map_partitions(_encode, self._columns, names, meta=meta)
        return coded.shuffle(on="item", ignore_index=True)


def _tree_sum(results: list[Delayed]) -> Any:
    """Return the sum of the results, merged on the workers, ``FAN_IN`` at a time."""
    while len(results) > 1:
        results = [
            delayed(reduce)(add, results[start : start + FAN_IN])
            for start in range(0, len(results), FAN_IN)
        ]
    return results[0].compute()


# Functions that run on the workers.


def _encode(frame: pd.DataFrame, columns: Mapping[str, str], names: Names) -> pd.DataFrame:
    coded = encode(_to_arrow(frame, columns), names).to_pandas()
    items = frame[columns["item"]].reset_index(drop=True)
    if items.dtype == object or isinstance(items.dtype, pd.StringDtype):
        items = coded["item"].astype(items.dtype)  # trimmed
    return coded.assign(item=items)


def _label_items(
    frame: pd.DataFrame, names: Names, model: Model, rule: Rule, item: str
) -> pd.DataFrame:
    labels = label_items(_to_arrow(frame), names, model, rule).to_pandas()
    return labels.astype({"item": frame["item"].dtype}).rename(columns={"item": item})


def _to_arrow(frame: pd.DataFrame, columns: Mapping[str, str] = CODED) -> pa.Table:
    """The columns by their roles; by default those of a frame of codes."""
    arrays = {}
    for role, name in columns.items():
        try:
            arrays[role] = pa.array(frame[name], from_pandas=True)
        except pa.ArrowException as error:
            raise BadLabels(
                f"Column {name!r} mixes types ({error}). Convert all of its values to strings."
            ) from None
    return pa.table(arrays)
