"""``Numbers``: the ratings that annotators gave to items, as floats in compressed rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from blindfuse.errors import BadLabels, BadParameter
from blindfuse.responses import frames
from blindfuse.responses.detection import ColumnOptions, detect_column, is_long
from blindfuse.responses.inputs import Names, Values, long_cells, matrix_cells, read_long, read_wide
from blindfuse.responses.rows import NumberRepeats, Rows, read_only, row_of_entry
from blindfuse.responses.scalars import as_floats, missing_number_note
from blindfuse.responses.table import AnnotationTable, Cells
from blindfuse.typing import Codes, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(AnnotationTable):
    """Ratings of N items by M annotators on a numeric scale, sorted by item, then by annotator.

    Create one with :meth:`from_long`, :meth:`from_frame` or :meth:`from_matrix`.

    Attributes
    ----------
    items, annotators
        names, in the order of the rows of every result.
    starts ``[item + 1]``, codes ``[rating]``, values ``[rating]``
        compressed rows: the ratings of item n are the slice ``starts[n]:starts[n + 1]`` of the
        annotators' positions ``codes`` and of the ``values``.
    repeated
        number of ratings that were dropped as repetitions of an (item, annotator) pair.
    """

    repeats: ClassVar[Any] = NumberRepeats
    noun: ClassVar[str] = "rating"
    without_response: ClassVar[str] = "estimated by the mean"

    @classmethod
    def from_long(
        cls, items: Values, annotators: Values, values: Values, *, repeats: NumberRepeats = "mean"
    ) -> "Numbers":
        """Read three columns of equal length, with one row per rating.

        None and NaN mean that the rating is missing; its item and annotator are kept. ``repeats``
        says what counts if an annotator rated an item more than once: the mean or the median of
        these ratings, the last or the first; ``"error"`` raises an error.
        """
        return cls._of_cells(long_cells(items, annotators, values, "values"), repeats)

    @classmethod
    def _of_cells(cls, cells: Cells, repeats: NumberRepeats = "mean") -> "Numbers":
        """Create a table of cells with numbers."""
        return cls.collect(cells, as_floats(cells.values, cells.describe), repeats)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        annotator: str | None = None,
        value: str | None = None,
        repeats: NumberRepeats = "mean",
    ) -> "Numbers":
        """Read a long table (pandas, Polars, DuckDB, …), one row per rating; null is missing.

        Columns that are not named are detected, as in :meth:`Responses.from_frame`.
        """
        named = ColumnOptions(item, annotator, value)
        return cls._of_cells(read_long(frame, named, "Numbers.from_frame"), repeats)

    @classmethod
    def from_wide(cls, frame: Any, *, item: str | None = None) -> "Numbers":
        """Read a wide table with one row per item, in which every other column is an annotator.

        ``item`` is the column with the item names; without it, items are named by the index of
        pandas or numbered from 0.
        """
        return cls._of_cells(read_wide(frame, item))

    @classmethod
    def from_matrix(
        cls, array: Any, *, items: Names | None = None, annotators: Names | None = None
    ) -> "Numbers":
        """Read ``array[item, annotator]`` of numbers; NaN and None mean no rating."""
        return cls._of_cells(matrix_cells(array, items, annotators))

    @property
    def values(self) -> Floats:
        """The rating of each response."""
        return self.by_item.symbols

    @cached_property
    def power_sums(self) -> Floats:
        """n, Σx and Σx² per annotator, ``[annotator, 3]``."""
        powers = (np.ones(self.n_responses), self.values, self.values**2)
        sums = [np.bincount(self.codes, power, self.n_annotators) for power in powers]
        return read_only(np.column_stack(sums))

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        """The lowest and the highest rating by each annotator; (∞, −∞) without ratings."""
        low, high = (np.full(self.n_annotators, bound) for bound in (np.inf, -np.inf))
        np.minimum.at(low, self.codes, self.values)
        np.maximum.at(high, self.codes, self.values)
        return low, high

    def item_of_response(self) -> Codes:
        """Return the position of the item of each rating; it is computed once."""
        return self._items

    @cached_property
    def _items(self) -> Codes:
        return read_only(row_of_entry(self.starts))

    def item_means(self, unrated: float = 0.0) -> Floats:
        """Return the mean rating ``[item]``; ``unrated`` for items without a rating."""
        n = self.responses_per_item
        sums = np.bincount(self.item_of_response(), self.values, self.n_items)
        return np.where(n > 0, sums / np.maximum(n, 1), unrated)

    def item_medians(self, unrated: float = 0.0) -> Floats:
        """Return the median rating ``[item]``; ``unrated`` for items without a rating."""
        ordered = self.values[np.lexsort((self.values, self.item_of_response()))]
        rated = np.flatnonzero(self.responses_per_item)
        first, n = self.starts[rated], self.responses_per_item[rated]
        medians = np.full(self.n_items, unrated)
        medians[rated] = (ordered[first + (n - 1) // 2] + ordered[first + n // 2]) / 2
        return medians

    def squared_deviations(self) -> Floats:
        """Return Σ (x − mean)² over the ratings of each item, ``[item]``."""
        item = self.item_of_response()
        deviations = np.square(self.values - self.item_means()[item])
        return np.asarray(np.bincount(item, deviations, self.n_items), dtype=np.float64)

    def spreads(self) -> Floats:
        """Return the standard deviation of the ratings of each item; NaN for fewer than two."""
        n = self.responses_per_item
        variances = self.squared_deviations() / np.maximum(n - 1, 1)
        return np.where(n > 1, np.sqrt(variances), np.nan)

    def with_values(self, values: Floats) -> "Numbers":
        """Return other ratings in the places of these."""
        other = self.with_rows(self.items, Rows(self.starts, self.codes, values))
        for name in ("responses_per_annotator", "_items"):  # do not depend on the values
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the ratings that a user should know before fusing them."""
        return (*super().notes, *missing_number_note(np.unique(self.values).tolist()))


def as_numbers(items: Any, annotators: Any = None, values: Any = None) -> Numbers:
    """Convert three columns, a table or a matrix to Numbers.

    Numbers are returned unchanged. A frame with a column of annotators or of ratings is read as a
    long table, another one as a wide table, and anything else as a matrix with NaN for missing
    ratings.
    """
    if (annotators is None) != (values is None):
        raise BadParameter(
            "Pass items, annotators and values as three columns, or one table or matrix alone."
        )
    if annotators is not None:
        return Numbers.from_long(items, annotators, values)
    if isinstance(items, Numbers):
        return items
    if not frames.is_frame(items):
        return Numbers.from_matrix(items)
    sample = frames.FrameSample(frames.with_index(items))
    if is_long(sample, ColumnOptions()):
        return Numbers.from_frame(items)
    return Numbers.from_wide(items, item=detect_column("item", sample, None))


def check_numbers(items: Any, annotators: Any = None, values: Any = None) -> Numbers:
    """Return Numbers that contain at least one rating."""
    table = as_numbers(items, annotators, values)
    if not table.n_responses:
        raise BadLabels("There are no ratings, so there is nothing to fuse. Check the input.")
    return table
