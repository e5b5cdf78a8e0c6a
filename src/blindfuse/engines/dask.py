"""Fit and predict on a Dask DataFrame of labels, one row an answer."""

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

from blindfuse.engines.arrow import Columns, Names, Seen, codes_of, gathered, hashed, labelled
from blindfuse.engines.fitting import Fitted, Result, fit_parts
from blindfuse.errors import BadLabels
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model.model import Model, Rule
from blindfuse.responses.responses import Responses

FAN_IN = 8
"""Results that are merged at once."""


def fit(
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    method: ModelEstimator | None = None,
    classes: Sequence[Any] | None = None,
) -> Fitted:
    """Learn about annotators and classes from a Dask DataFrame of labels.

    The table is read twice: for the names in it, and for its answers, which are then sorted by
    item, once, and kept on the workers as codes. A null label is no answer.

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
    return fit_parts(DaskParts(table, Columns(item, annotator, label), classes), method)


def predict(
    model: Model,
    table: Any,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rule: Rule = "map",
) -> Any:
    """The most probable class of each item of a Dask DataFrame of labels, and how probable it is.

    Returns
    -------
    dask.dataframe.DataFrame
        one row an item, in any order, with the columns ``item`` (as named in the table),
        ``label`` and ``probability``; nothing is computed yet.
    """
    columns = Columns(item, annotator, label)
    _check(table, columns)
    rows = _by_item(table, columns, Names(model.annotators, model.classes))
    meta = _labelled(rows._meta, model, rule, item)
    return rows.map_partitions(_labelled, model, rule, item, meta=meta)


class DaskParts:
    """The answers of a Dask DataFrame, by item, kept on the workers."""

    def __init__(self, table: Any, columns: Columns, classes: Sequence[Any] | None = None) -> None:
        _check(table, columns)
        seen = _merged([delayed(_seen)(frame, columns) for frame in table.to_delayed()]).compute()
        self.names = seen.names(columns, classes)
        names = delayed(self.names)
        frames = _by_item(table, columns, self.names).to_delayed()
        self._parts: Sequence[Delayed] = dask.persist(
            *(delayed(_part)(frame, names) for frame in frames)
        )

    def add_up(self, work: Callable[[Responses], Result]) -> Result:
        """Σ work(part): the work travels once to each worker, the parts stay there."""
        shared = delayed(work)
        total: Result = _merged([delayed(_done)(shared, part) for part in self._parts]).compute()
        return total


def _check(table: Any, columns: Columns) -> None:
    if not isinstance(table, dd.DataFrame):
        raise BadLabels(
            f"A {type(table).__name__} is no Dask DataFrame. Make one with "
            "dask.dataframe.from_pandas, or use blindfuse.fuse for a table in memory."
        )
    columns.check(list(table.columns))


def _by_item(table: Any, columns: Columns, names: Names) -> Any:
    """The rows as codes, those of an item in one partition."""
    coded = table.map_partitions(_coded, columns, names, meta=_coded(table._meta, columns, names))
    return coded.shuffle(on="item", ignore_index=True)


def _merged(results: Sequence[Delayed]) -> Delayed:
    """The sum of results, merged a few at a time where they are."""
    while len(results) > 1:
        results = [
            delayed(_total)(list(results[at : at + FAN_IN]))
            for at in range(0, len(results), FAN_IN)
        ]
    return results[0]


# What the workers do with a partition, which comes as a pandas DataFrame.


def _seen(frame: pd.DataFrame, columns: Columns) -> Seen:
    return Seen.of(*(_arrow(frame, name) for name in columns))


def _coded(frame: pd.DataFrame, columns: Columns, names: Names) -> pd.DataFrame:
    annotators = codes_of(_arrow(frame, columns.annotator), names.annotators, "Annotators")
    labels = codes_of(_arrow(frame, columns.label), names.classes, "Labels")
    items = frame[columns.item].reset_index(drop=True)
    rows = {"item": items, "annotator": annotators, "label": labels.astype(np.int16)}
    return pd.DataFrame(rows)


def _part(frame: pd.DataFrame, names: Names) -> Responses:
    return hashed(*_gathered(frame, names))


def _gathered(frame: pd.DataFrame, names: Names) -> tuple[pa.Array, Responses]:
    annotators, labels = frame["annotator"].to_numpy(), frame["label"].to_numpy()
    return gathered(_arrow(frame, "item"), annotators, labels, names)


def _labelled(frame: pd.DataFrame, model: Model, rule: Rule, item: str) -> pd.DataFrame:
    items, responses = _gathered(frame, Names(model.annotators, model.classes))
    found = labelled(items, responses, model, rule).to_pandas()
    return found.astype({"item": frame["item"].dtype}).rename(columns={"item": item})


def _done(work: Callable[[Responses], Result], part: Responses) -> Result:
    return work(part)


def _total(results: list[Any]) -> Any:
    return reduce(add, results)


def _arrow(frame: pd.DataFrame, name: str) -> pa.Array:
    try:
        return pa.array(frame[name], from_pandas=True)
    except pa.ArrowException as why:
        raise BadLabels(
            f"Column {name!r} mixes types ({why}). Turn all of its values into text."
        ) from None
