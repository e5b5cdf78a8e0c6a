"""Rank items by a distributed table of comparisons: equal rows are counted on the workers."""

from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from blindfuse.comparisons.ranking import Ranking
from blindfuse.comparisons.ranking import fuse_pairs as fuse_table
from blindfuse.comparisons.table import Comparisons
from blindfuse.engines.arrow import read_rows
from blindfuse.engines.fitting import open_table
from blindfuse.errors import BadLabels
from blindfuse.responses.detection import detect_columns
from blindfuse.responses.frames import FrameSample

COUNT = "n"
"""The column of how often a row occurs."""


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of some partitions, and how often each occurs; the sum is of all rows."""

    frame: pl.DataFrame

    @classmethod
    def of(cls, rows: pa.Table) -> "DistinctRows":
        """Count the equal rows of a partition."""
        frame = read_rows(rows)
        return cls(frame.group_by(frame.columns).len(COUNT))

    def __add__(self, other: "DistinctRows") -> "DistinctRows":
        frame = pl.concat([self.frame, other.frame], how="vertical_relaxed")
        return DistinctRows(frame.group_by(frame.columns[:-1]).agg(pl.sum(COUNT)))


def fuse_pairs(table: Any, **columns: str | None) -> Ranking:
    """Rank items by a Dask or Spark DataFrame with one row per comparison.

    The workers count equal rows; the counts add up, and the fit is that of
    :func:`blindfuse.fuse_pairs`. The columns ``left``, ``right``, ``winner``, ``annotator``,
    ``prompt`` and ``weight`` are detected by their names unless they are given.
    """
    return fuse_table(count_comparisons(table, **columns))


def count_comparisons(table: Any, **columns: str | None) -> Comparisons:
    """Return the comparisons of a Dask or Spark DataFrame."""
    names = pl.DataFrame(schema=list(getattr(table, "columns", [])))
    found = detect_columns(FrameSample(names, call=""), columns)
    counted = open_table(table, found).sum_rows(DistinctRows.of)
    if counted is None or not len(counted.frame):
        raise BadLabels("The table is empty. Check the source of the table.")
    frame = counted.frame.sort(pl.all())  # workers may be done in any order
    rows, n = {role: frame[role].to_numpy() for role in found}, frame[COUNT].to_numpy()
    return Comparisons.from_roles({**rows, "weight": n * rows.get("weight", 1.0)})
