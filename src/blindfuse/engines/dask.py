"""Fit and predict on a Dask DataFrame of labels with one row per response."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from dask.delayed import Delayed, delayed

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

FAN_IN = 8
"""Number of results that one task merges."""


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
    """Estimate confusion matrices and the class prior from a Dask DataFrame of labels.

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
    options = SymbolOptions(classes, scores, levels, abstentions, anchor)
    partitions = DaskPartitions(table, Columns(item, annotator, label), options)
    return fit_partitions(partitions, method)


def predict(
    model: Model,
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rule: Rule = "map",
) -> Any:
    """Return the most probable class of each item of a Dask DataFrame, and its probability.

    Returns
    -------
    dask.dataframe.DataFrame
        one row per item, in any order, with the columns ``item`` (named as in the table),
        ``label`` and ``probability``; it is evaluated lazily.
    """
    columns = Columns(item, annotator, label)
    _check(table, columns)
    rows = _shuffle_by_item(table, columns, Names.of_model(model))
    meta = _label_items(rows._meta, model, rule, item)
    return rows.map_partitions(_label_items, model, rule, item, meta=meta)


class DaskPartitions:
    """The responses of a Dask DataFrame, partitioned by item and kept on the workers."""

    def __init__(self, table: Any, columns: Columns, options: SymbolOptions | None = None) -> None:
        _check(table, columns)
        options = (options or SymbolOptions()).check()
        summary = _tree_sum(
            [delayed(_summarize)(frame, columns, options) for frame in table.to_delayed()]
        ).compute()
        self.names = summary.names(columns, options)
        names = delayed(self.names)
        frames = _shuffle_by_item(table, columns, self.names).to_delayed()
        self._partitions: Sequence[Delayed] = dask.persist(
            *(delayed(_to_responses)(frame, names) for frame in frames)
        )

    def map_sum(self, function: Callable[[Responses], Result]) -> Result:
        """Return Σ function(partition); the function is sent to the workers, not the responses."""
        delayed_function = delayed(function)
        results = [delayed(_apply)(delayed_function, partition) for partition in self._partitions]
        total: Result = _tree_sum(results).compute()
        return total


def _check(table: Any, columns: Columns) -> None:
    if not isinstance(table, dd.DataFrame):
        raise BadLabels(
            f"A {type(table).__name__} is not a Dask DataFrame. Create one with "
            "dask.dataframe.from_pandas, or use blindfuse.fuse for a table in memory."
        )
    columns.check(list(table.columns))


def _shuffle_by_item(table: Any, columns: Columns, names: Names) -> Any:
    """Return the rows as codes, with all rows of an item in one partition."""
    coded = table.map_partitions(_encode, columns, names, meta=_encode(table._meta, columns, names))
    return coded.shuffle(on="item", ignore_index=True)


def _tree_sum(results: Sequence[Delayed]) -> Delayed:
    """Return the sum of the results, merged on the workers, ``FAN_IN`` at a time."""
    while len(results) > 1:
        results = [
            delayed(_sum)(list(results[start : start + FAN_IN]))
            for start in range(0, len(results), FAN_IN)
        ]
    return results[0]


# Functions that run on the workers; a partition is a pandas DataFrame.


def _summarize(frame: pd.DataFrame, columns: Columns, options: SymbolOptions) -> ColumnSummary:
    items, annotators, labels = (_to_arrow(frame, name) for name in columns)
    return ColumnSummary.of(items, annotators, labels, options)


def _encode(frame: pd.DataFrame, columns: Columns, names: Names) -> pd.DataFrame:
    annotators = encode_annotators(_to_arrow(frame, columns.annotator), names)
    labels = encode_labels(_to_arrow(frame, columns.label), annotators, names)
    items = _trim(frame[columns.item].reset_index(drop=True))
    rows = {"item": items, "annotator": annotators, "label": labels.astype(np.int16)}
    return pd.DataFrame(rows)


def _trim(names: pd.Series) -> pd.Series:
    """Return names without outer white space; other types, and categories, stay as they are."""
    if not (names.dtype == object or isinstance(names.dtype, pd.StringDtype)):
        return names
    array = _to_arrow(names.to_frame("item"), "item")
    return trim_names(array).to_pandas().astype(names.dtype)


def _to_responses(frame: pd.DataFrame, names: Names) -> Responses:
    return with_hashed_items(*_group_by_item(frame, names))


def _group_by_item(frame: pd.DataFrame, names: Names) -> tuple[pa.Array, Responses]:
    annotators, labels = frame["annotator"].to_numpy(), frame["label"].to_numpy()
    return group_by_item(_to_arrow(frame, "item"), annotators, labels, names)


def _label_items(frame: pd.DataFrame, model: Model, rule: Rule, item: str) -> pd.DataFrame:
    items, responses = _group_by_item(frame, Names.of_model(model))
    labels = label_items(items, responses, model, rule).to_pandas()
    return labels.astype({"item": frame["item"].dtype}).rename(columns={"item": item})


def _apply(function: Callable[[Responses], Result], partition: Responses) -> Result:
    return function(partition)


def _sum(results: list[Any]) -> Any:
    return reduce(add, results)


def _to_arrow(frame: pd.DataFrame, name: str) -> pa.Array:
    try:
        return pa.array(frame[name], from_pandas=True)
    except pa.ArrowException as error:
        raise BadLabels(
            f"Column {name!r} mixes types ({error}). Convert all of its values to strings."
        ) from None
