"""``Numbers``: the ratings that annotators gave to items, as floats in compressed rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.kernels.hash_codes import factorize_integers
from blindfuse.kernels.ratings import add_powers, ranges
from blindfuse.kernels.sorting import count_rows
from blindfuse.kernels.threads import map_threads
from blindfuse.responses import frames
from blindfuse.responses.coding import as_column, code_names
from blindfuse.responses.detection import ColumnOptions, detect_column, is_long, long_columns
from blindfuse.responses.frame_tables import named_wide_columns, wide_values
from blindfuse.responses.inputs import (
    Names,
    Values,
    as_matrix,
    cell_description,
    check_equal_lengths,
    names_or_numbers,
    stack_columns,
)
from blindfuse.responses.numerals import as_floats
from blindfuse.responses.repeats import NumberRepeats, check_repeats, first_repeated_row
from blindfuse.responses.rows import (
    Rows,
    freeze_arrays,
    read_only,
    row_of_entry,
    row_starts,
    sort_and_deduplicate,
)
from blindfuse.responses.selection import select_rows
from blindfuse.responses.values import missing_number_note
from blindfuse.typing import Array, Codes, Flags, Floats, Integers

Result = TypeVar("Result")

MIN_ITEMS_PER_THREAD = 20_000
"""With fewer items per thread, starting the thread costs more than it saves."""


@dataclass(frozen=True, eq=False, repr=False)
class Numbers:
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

    items: Array
    annotators: Array
    starts: Array
    codes: Array
    values: Floats
    repeated: int = 0

    def __post_init__(self) -> None:
        freeze_arrays(self, ("items", "annotators", "starts", "codes", "values"))

    @classmethod
    def from_long(
        cls, items: Values, annotators: Values, values: Values, *, repeats: NumberRepeats = "mean"
    ) -> "Numbers":
        """Read three columns of equal length, with one row per rating.

        None and NaN mean that the rating is missing; its item and annotator are kept. ``repeats``
        says what counts if an annotator rated an item more than once: the mean or the median of
        these ratings, the last or the first; ``"error"`` raises an error.
        """
        check_repeats(repeats, NumberRepeats)
        columns = [as_column(frames.values(column)) for column in (items, annotators, values)]
        check_equal_lengths(dict(zip(("items", "annotators", "values"), columns, strict=True)))
        numbers = as_floats(columns[2], lambda row: f"row {row}")
        (item_codes, item_names), (annotator_codes, annotator_names) = chain.from_iterable(
            map_threads(partial(_code_columns, columns, ("item", "annotator")), 2, None, 1)
        )
        missing = np.isnan(numbers)
        if missing.any():
            item_codes, annotator_codes = item_codes[~missing], annotator_codes[~missing]
            numbers = numbers[~missing]
        rows = sort_and_deduplicate(
            item_codes,
            annotator_codes,
            numbers,
            (len(item_names), len(annotator_names)),
            repeats,
        )
        if rows.repeated and repeats == "error":
            item = first_repeated_row(item_codes, rows.starts)
            raise BadLabels(
                f"An annotator rated item {list_names(item_names[[item]])} more than once. "
                "Pass repeats='mean' to combine them, or repeats='last' or 'first' to keep one."
            )
        ordered = rows.symbols.copy() if rows.symbols is columns[2] else rows.symbols
        return cls(item_names, annotator_names, rows.starts, rows.codes, ordered, rows.repeated)

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
        frame = frames.with_index(frame)
        sample = frames.FrameSample(frame, call=" to Numbers.from_frame")
        found = long_columns(sample, ColumnOptions(item, annotator, value))
        return cls.from_long(*frames.columns(frame, list(found.values())), repeats=repeats)

    @classmethod
    def from_wide(cls, frame: Any, *, item: str | None = None) -> "Numbers":
        """Read a wide table with one row per item, in which every other column is an annotator.

        ``item`` is the column with the item names; without it, items are named by the index of
        pandas or numbered from 0.
        """
        frame, found = named_wide_columns(frame, item)
        items, columns = wide_values(frame, found)
        return cls.from_matrix(stack_columns(columns), items=items, annotators=found.annotators)

    @classmethod
    def from_matrix(
        cls, array: Any, *, items: Names | None = None, annotators: Names | None = None
    ) -> "Numbers":
        """Read ``array[item, annotator]`` of numbers; NaN and None mean no rating."""
        matrix = as_matrix(array)
        n_items, n_annotators = matrix.shape
        item_names = names_or_numbers(items, n_items, "items")
        annotator_names = names_or_numbers(annotators, n_annotators, "annotators")
        flat = as_floats(matrix.reshape(-1), cell_description(annotator_names))
        present = ~np.isnan(flat)
        counts = np.count_nonzero(present.reshape(matrix.shape), axis=1)
        codes = np.broadcast_to(np.arange(n_annotators, dtype=np.int32), matrix.shape).reshape(-1)
        return cls(item_names, annotator_names, row_starts(counts), codes[present], flat[present])

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_ratings(self) -> int:
        return len(self.values)

    @property
    def ratings_per_item(self) -> Integers:
        """Number of ratings of each item, ``[item]``."""
        return np.diff(self.starts)

    @cached_property
    def ratings_per_annotator(self) -> Integers:
        """Number of ratings by each annotator, ``[annotator]``."""
        return read_only(count_rows(self.codes, self.n_annotators))

    @cached_property
    def power_sums(self) -> Floats:
        """n, n, Σx and Σx² per annotator, ``[annotator, 4]``."""
        sums = np.zeros((self.n_annotators, 4))
        add_powers(self.codes, self.values, sums)
        return read_only(sums)

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        """The lowest and the highest rating by each annotator; (∞, −∞) without ratings."""
        low, high = (np.full(self.n_annotators, bound) for bound in (np.inf, -np.inf))
        ranges(self.codes, self.values, low, high)
        return low, high

    def item_of_rating(self) -> Codes:
        """Return the position of the item of each rating."""
        return self._item_of_rating

    @cached_property
    def _item_of_rating(self) -> Codes:
        return read_only(row_of_entry(self.starts))

    def spreads(self) -> Floats:
        """Return the standard deviation of the ratings of each item; NaN for fewer than two."""
        item, n = self.item_of_rating(), self.ratings_per_item
        means = np.bincount(item, self.values, self.n_items) / np.maximum(n, 1)
        squares = np.bincount(item, np.square(self.values - means[item]), self.n_items)
        return np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)

    def matrix(self) -> Floats:
        """Return the ratings ``[item, annotator]``, NaN where there is none."""
        matrix = np.full((self.n_items, self.n_annotators), np.nan)
        matrix[self.item_of_rating(), self.codes] = self.values
        return matrix

    def select_items(self, places: Array) -> "Numbers":
        """Return the ratings of the items at these positions, in this order."""
        rows, _ = select_rows(Rows(self.starts, self.codes, self.values), places)
        return Numbers(self.items[places], self.annotators, *rows)

    def select_ratings(self, mask: Flags) -> "Numbers":
        """Return the same items and annotators with the ratings in the mask ``[rating]`` only."""
        kept = np.concatenate([[0], np.cumsum(mask)])[self.starts]
        return self.with_rows(row_starts(np.diff(kept)), self.codes[mask], self.values[mask])

    def with_rows(self, starts: Array, codes: Array, values: Floats) -> "Numbers":
        """Return other ratings of the same items by the same annotators."""
        return Numbers(self.items, self.annotators, starts, codes, values)

    def with_values(self, values: Floats) -> "Numbers":
        """Return other ratings in the places of these."""
        other = self.with_rows(self.starts, self.codes, values)
        for name in ("ratings_per_annotator", "_item_of_rating"):  # do not depend on the values
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @property
    def rows(self) -> tuple[Array, Array, Floats]:
        """The compressed rows: ``starts``, ``codes`` and ``values``."""
        return self.starts, self.codes, self.values

    def map_items(self, work: Callable[[int, int], Result]) -> list[Result]:
        """Call ``work(first, last)`` on blocks of items, one per thread."""
        return map_threads(work, self.n_items, None, MIN_ITEMS_PER_THREAD)

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the ratings that a user should know before fusing them."""
        empty = self.items[self.ratings_per_item == 0]
        inactive = self.annotators[self.ratings_per_annotator == 0]
        remarks = [
            (len(empty), f"items without a rating, estimated by the mean: {list_names(empty)}"),
            (len(inactive), f"annotators without a rating: {list_names(inactive)}"),
            (self.repeated, "repeated ratings: one per item and annotator counts"),
        ]
        counted = [f"{count:,} {remark}" for count, remark in remarks if count]
        return (*counted, *missing_number_note(np.unique(self.values).tolist()))

    def __repr__(self) -> str:
        size = (
            f"Numbers: {self.n_items:,} items × {self.n_annotators:,} annotators, "
            f"{self.n_ratings:,} ratings ({self.n_ratings / max(self.n_items, 1):.1f} per item)"
        )
        return "\n  ".join([size, *self.notes])


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
    if not table.n_ratings:
        raise BadLabels("There are no ratings, so there is nothing to fuse. Check the input.")
    return table


def _code_columns(
    columns: list[Array], kinds: tuple[str, ...], first: int, last: int
) -> list[tuple[Array, Array]]:
    return [_code(columns[at], kinds[at]) for at in range(first, last)]


def _code(column: Array, kind: str) -> tuple[Array, Array]:
    """Return codes and names in order of first appearance; whole numbers without sorting."""
    if column.dtype.kind not in "iu":
        codes, names, _ = code_names(column, kind)
        return codes.astype(np.int32), names
    codes, firsts = factorize_integers(column)
    return codes, column[firsts]
