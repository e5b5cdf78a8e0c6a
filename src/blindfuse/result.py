"""``Result``: what every fusion says about itself, whatever kind of responses was fused.

The command line, JSON documents and the report know results by this protocol only. A new kind of
responses is shown by its own ``item_columns``, ``annotator_columns`` and ``paragraphs``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from blindfuse.errors import capitalize
from blindfuse.typing import Array, Floats

Columns = dict[str, Array]
"""A table as arrays by column, in order; values that are missing are NaN, None or masked."""

MAX_POSTERIOR_COLUMNS = 20
"""Number of classes up to which every class has a column of posteriors."""
DECIMALS = 6
"""Decimals in JSON documents and text files; Parquet files are not rounded."""


@dataclass(frozen=True)
class Paragraph:
    """One fact about a result, as text.

    ``warning`` says whether it is a reason to distrust the result. The command line prints a
    ``detail`` only if it is a warning. A ``lead`` is what most readers want to know, and comes
    first.
    """

    heading: str
    text: str
    warning: bool = False
    detail: bool = False
    lead: bool = False


class Result(Protocol):
    """A fusion of labels, sets, numbers or clusterings.

    ``kind`` is the plural of what an item gets, and names the module of the report; ``size`` is a
    sentence that says what was fused. ``paragraphs`` say how far the result can be
    trusted, and ``item_columns`` and ``annotator_columns`` are the tables that files have.
    """

    @property
    def kind(self) -> str: ...

    @property
    def items(self) -> Array: ...

    @property
    def size(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def why(self) -> str: ...

    @property
    def notes(self) -> Sequence[str]: ...

    def paragraphs(self) -> Sequence[Paragraph]: ...

    def summary(self) -> str: ...

    def item_columns(self) -> Columns: ...

    def annotator_columns(self) -> Columns: ...

    def to_json(self) -> dict[str, Any]: ...


def summarize(result: Result, table: object) -> str:
    """Return what was fused, by which method and why, and how far to trust it, as lines of text."""
    lines = (f"{each.heading}: {each.text}" for each in result.paragraphs())
    return "\n".join([repr(table), f"{capitalize(result.method)}. {result.why}", "", *lines])


def sorted_columns(columns: Columns, by: str) -> Columns:
    """Return the table in ascending order of a column; rows without a value in it come first."""
    values = np.asarray(columns[by], dtype=np.float64)
    order = np.argsort(np.nan_to_num(values, nan=-np.inf), kind="stable")
    return {name: column[order] for name, column in columns.items()}


def posterior_columns(classes: Array, posteriors: Floats) -> Columns:
    """Return a column ``p_CLASS`` per class, unless there are too many classes."""
    if len(classes) > MAX_POSTERIOR_COLUMNS:
        return {}
    return {f"p_{name}": posteriors[:, k] for k, name in enumerate(classes.tolist())}


def optional_texts(texts: Sequence[str | None]) -> Array:
    """Return texts as a column, with None for those that are empty."""
    return np.array([text or None for text in texts], dtype=object)


def counts(numbers: Floats) -> Array:
    """Return sums of weights as a column, which has integers if all of them are whole."""
    return numbers.astype(np.int64) if np.all(numbers == np.round(numbers)) else numbers


def json_rows(columns: Columns) -> list[dict[str, Any]]:
    """Return a table as a list of objects for JSON, with rounded numbers and null for NaN."""
    values = (_json_values(column) for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _json_values(column: Array) -> list[Any]:
    if column.dtype.kind == "f":
        column = np.ma.masked_invalid(np.round(column, DECIMALS))
    return column.tolist()  # type: ignore[no-any-return]
