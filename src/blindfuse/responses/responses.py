"""``Responses``: the symbols that annotators reported for items, as integer codes with names."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadParameter
from blindfuse.responses import frames
from blindfuse.responses.anchor import IDENTITY, Anchor, check_alphabet
from blindfuse.responses.coded_table import CodedTable, table_from_codes
from blindfuse.responses.coding import as_column, smallest_integer_dtype
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.frame_tables import named_wide_columns
from blindfuse.responses.inputs import Names, Values, as_matrix, label_options
from blindfuse.responses.label_tables import frame_table, long_table, matrix_table, wide_table
from blindfuse.responses.notes import names_note
from blindfuse.responses.recoding import concatenate, keep_annotators, recode
from blindfuse.responses.repeats import Repeats, repeat_notes
from blindfuse.responses.rows import (
    Rows,
    check_rows,
    freeze_rows,
    read_only,
    row_of_entry,
    sort_into_rows,
)
from blindfuse.responses.sanity import sanity_notes
from blindfuse.responses.scores import (
    MAX_LEVELS,
    SCORE_CLASSES,
    Levels,
    score_columns,
    score_table,
)
from blindfuse.responses.selection import as_positions, select_rows
from blindfuse.responses.symbols import (
    add_abstentions,
    cluster_responses,
    probability_table,
    with_alphabet,
)
from blindfuse.typing import Array, Codes, Integers


@dataclass(frozen=True, eq=False, repr=False)
class Responses(CodedTable):
    """Responses of M annotators to N items in K classes, sorted by item, then by annotator.

    Create one with :meth:`from_matrix`, :meth:`from_long`, :meth:`from_frame` or :meth:`from_wide`.
    Annotators report one of R symbols. For plain labels these are the classes; they differ for
    :meth:`from_scores`, :meth:`from_probabilities`, :meth:`from_clusters` and
    :meth:`with_abstentions`.

    Attributes
    ----------
    items, annotators, classes
        names, in the order of the rows of every result.
    by_item
        :class:`~blindfuse.responses.rows.Rows` with one row per item: ``codes`` are annotators,
        ``symbols`` are symbol codes.
    repeated
        number of responses beyond the first per item and annotator, of which one is kept.
    contradictory
        number of pairs of item and annotator whose repeated responses have no most frequent one;
        they are treated as missing.
    remarks
        notes about the conversion of the user's values to codes.
    symbols
        names of what annotators can report; the classes if not given.
    anchor
        :class:`~blindfuse.responses.anchor.Anchor`: what the symbols say about the classes.
    probabilities ``[response, class]``
        in the order of ``by_item``, if annotators gave probabilities; the symbol is then the most
        probable class. None for other responses.
    """

    def __post_init__(self) -> None:
        report_classes = self.symbols is None or self.symbols is self.classes
        for name in ("items", "annotators", "classes"):
            object.__setattr__(self, name, read_only(as_column(getattr(self, name))))
        symbols = self.classes if report_classes else read_only(as_column(self.symbols))
        object.__setattr__(self, "symbols", symbols)
        shape = len(self.items), len(self.annotators), len(symbols)
        object.__setattr__(self, "by_item", check_rows(Rows(*self.by_item), shape))
        if symbols is not self.classes or not self.is_plain:
            check_alphabet(self.alphabet, self.responses_per_symbol)
        if self.is_plain:  # one array, so that plain labels are recognised without a comparison
            object.__setattr__(self, "symbols", self.classes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without cached properties; arrays are read-only again after unpickling."""
        return Responses, _field_values(self)

    # Construction

    @classmethod
    def _checked(cls, table: CodedTable) -> "Responses":
        """Return the responses of a table of codes, which is checked."""
        return cls(*_field_values(table))

    @classmethod
    def from_matrix(
        cls,
        array: Values,
        missing: Any = -1,
        *,
        items: Names | None = None,
        annotators: Names | None = None,
        classes: Names | None = None,
        keep_na: bool = False,
        fold_case: bool = False,
    ) -> "Responses":
        """Read ``array[item, annotator]`` of labels.

        None, NaN, ``missing`` and masked entries mean no response. ``missing``, ``keep_na`` and
        ``fold_case`` are those of :meth:`from_long`.
        """
        options = label_options(classes, missing, keep_na, fold_case)
        return cls._checked(matrix_table(as_matrix(array), items, annotators, options))

    @classmethod
    def from_long(
        cls,
        items: Values,
        annotators: Values,
        labels: Values,
        *,
        classes: Names | None = None,
        missing: Any = None,
        keep_na: bool = False,
        fold_case: bool = False,
        repeats: Repeats = "most_frequent",
    ) -> "Responses":
        """Read three columns of equal length, with one row per response.

        Labels are converted as those of files: outer white space is removed, and None, NaN, texts
        such as ``NA`` or ``null`` and failed verdicts such as ``error`` are missing. The item and
        the annotator of a missing response are kept.

        Parameters
        ----------
        classes
            the classes, in the order you want; by default the labels that occur, sorted.
        missing
            a value, or a list of values, that is treated as missing, too.
        keep_na
            whether ``NA``, ``null``, ``error`` and the like are classes.
        fold_case
            whether labels that differ only by case or Unicode form are one class.
        repeats
            which response counts if an annotator labelled an item more than once: the most
            frequent one (a tie is treated as missing), the ``"last"`` or the ``"first"``;
            ``"error"`` raises an error.
        """
        options = label_options(classes, missing, keep_na, fold_case)
        return cls._checked(long_table([items, annotators, labels], options, repeats))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        annotator: str | Sequence[str] | None = None,
        label: str | None = None,
        classes: Names | None = None,
        missing: Any = None,
        keep_na: bool = False,
        fold_case: bool = False,
        repeats: Repeats = "most_frequent",
    ) -> "Responses":
        """Read a long or a wide table of pandas, Polars, PyArrow or DuckDB.

        A long table has one row per response, a wide table one row per item and one column per
        annotator. Columns are detected by name and by content, as in files, and ``notes`` say what
        was detected. A named index of pandas counts as a column.

        Parameters
        ----------
        item, annotator, label
            names of columns; by default they are detected. For a wide table, ``annotator`` may be
            a list of columns.
        classes, missing, keep_na, fold_case, repeats
            as in :meth:`from_long`.
        """
        options = label_options(classes, missing, keep_na, fold_case)
        return cls._checked(
            frame_table(frame, ColumnOptions(item, annotator, label), options, repeats)
        )

    @classmethod
    def from_wide(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        classes: Names | None = None,
        missing: Any = None,
        keep_na: bool = False,
        fold_case: bool = False,
    ) -> "Responses":
        """Read a wide table with one row per item, in which every column is an annotator.

        ``item`` is the column with the item names; without it, items are named by the index of
        pandas or numbered from 0. The other parameters are those of :meth:`from_long`.
        """
        options = label_options(classes, missing, keep_na, fold_case)
        return cls._checked(wide_table(*named_wide_columns(frame, item), options))

    @classmethod
    def from_scores(
        cls,
        items: Any,
        annotators: Values | None = None,
        scores: Values | None = None,
        *,
        classes: Names | int = SCORE_CLASSES,
        levels: Levels = MAX_LEVELS,
        item: str | None = None,
        annotator: str | Sequence[str] | None = None,
        label: str | None = None,
        repeats: Repeats = "most_frequent",
    ) -> "Responses":
        """Read scores on a scale, such as 0 to 10, for items that belong to one of K classes.

        Symbols are levels of the score, in order; annotators may differ in scale and strictness.
        Pass three columns, a frame (long or wide), or a matrix ``[item, annotator]``. None and NaN
        mean no response.

        Parameters
        ----------
        classes
            the classes from low to high scores, or their number.
        levels
            maximum number of symbols. Where no more values occur, each is a symbol; otherwise
            scores are divided at quantiles of the crowd, or of each annotator where scales differ
            plainly, which ``notes`` say. A list is taken as the edges between levels. Pass the
            ``scale`` of a :class:`Model` to divide new scores as those that it was fitted to.
        item, annotator, label
            columns of a frame, as in :meth:`from_frame`.
        repeats
            as in :meth:`from_long`.
        """
        options = ColumnOptions(item, annotator, label)
        columns, notes = score_columns(items, annotators, scores, options)
        return cls._checked(score_table(columns, classes, levels, repeats, notes))

    @classmethod
    def from_probabilities(
        cls,
        array: ArrayLike,
        *,
        classes: Names | None = None,
        items: Names | None = None,
        annotators: Names | None = None,
    ) -> "Responses":
        """Read ``array[item, annotator, class]`` of probabilities, as ``predict_proba`` returns.

        Rows of NaN mean no response. Methods that need labels see the most probable class; ``fuse``
        averages the probabilities.
        """
        return cls._checked(probability_table(array, classes, (items, annotators)))

    @classmethod
    def from_clusters(
        cls, data: Any, *, classes: Names | int, missing: Any = -1, **options: Any
    ) -> "Responses":
        """Read clusterings: a matrix ``[item, annotator]`` or a frame of cluster numbers.

        Every annotator has clusters of its own: the same number means nothing across annotators.
        ``classes`` is the number of classes to find, or their names; ``options`` are those of
        :meth:`from_matrix` or :meth:`from_frame`.
        """
        read = cls.from_frame if frames.is_frame(data) else cls.from_matrix
        plain = data if isinstance(data, Responses) else read(data, missing=missing, **options)
        return cluster_responses(plain, classes)

    @classmethod
    def from_codes(
        cls,
        item_codes: Array,
        annotator_codes: Array,
        symbol_codes: Array,
        *,
        items: Names,
        annotators: Names,
        classes: Names,
        repeats: Repeats = "most_frequent",
        remarks: Sequence[str] = (),
        symbols: Names | None = None,
        anchor: Anchor = IDENTITY,
    ) -> "Responses":
        """Create responses from codes, which are positions in the given names.

        A negative symbol code marks a missing response. Without ``symbols``, symbol codes are
        positions in ``classes``; with them, ``anchor`` says what they mean.
        """
        codes = item_codes, annotator_codes, symbol_codes
        alphabet = classes, symbols, anchor
        return cls._checked(
            table_from_codes(codes, (items, annotators), alphabet, repeats, remarks)
        )

    # Sizes and views

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @property
    def is_plain(self) -> bool:
        """Whether annotators report classes, so that symbols and classes are the same."""
        return self.anchor.kind == "identity"

    @property
    def n_responses(self) -> int:
        return len(self.by_item.symbols)

    @property
    def is_complete(self) -> bool:
        """Whether every annotator labelled every item; then ``by_item.symbols`` is the matrix."""
        return self.n_responses == self.n_items * self.n_annotators

    @cached_property
    def by_annotator(self) -> Rows:
        """The same responses with one row per annotator; ``codes`` are items in ascending order."""
        starts, annotators, symbols = self.by_item
        item_type = smallest_integer_dtype(self.n_items, np.int32, np.int64)
        items = row_of_entry(starts, item_type)
        return freeze_rows(*sort_into_rows(annotators, items, symbols, self.n_annotators))

    @property
    def responses_per_item(self) -> Integers:
        """Number of responses to each item, ``[item]``."""
        return np.diff(self.by_item.starts)

    def item_of_response(self) -> Codes:
        """Return the position of the item of each response, in the order of ``by_item``."""
        return row_of_entry(self.by_item.starts)

    @cached_property
    def responses_per_annotator(self) -> Integers:
        """Number of responses of each annotator, ``[annotator]``."""
        if self.is_complete:
            return read_only(np.full(self.n_annotators, self.n_items))
        return read_only(np.bincount(self.by_item.codes, minlength=self.n_annotators))

    @cached_property
    def responses_per_symbol(self) -> Integers:
        """Number of responses that report each symbol, ``[symbol]``."""
        return read_only(np.bincount(self.by_item.symbols, minlength=self.n_symbols))

    def matrix(self) -> Array:
        """Return symbol codes ``[item, annotator]``, −1 if missing."""
        if self.is_complete:
            return self.by_item.symbols.reshape(self.n_items, self.n_annotators)
        matrix = np.full((self.n_items, self.n_annotators), -1, dtype=self.by_item.symbols.dtype)
        matrix[self.item_of_response(), self.by_item.codes] = self.by_item.symbols
        return matrix

    # Selection and recoding

    def select_items(self, chosen: ArrayLike) -> "Responses":
        """Return the responses to the items at these positions, or in this mask, in this order."""
        places = as_positions(chosen, self.n_items, "items")
        rows, entries = select_rows(self.by_item, places)
        selected = self.with_rows(self.items[places], rows)
        if self.probabilities is None:
            return selected
        return replace(selected, probabilities=self.probabilities[entries])

    def select_annotators(self, chosen: ArrayLike) -> "Responses":
        """Return the responses of the annotators at these positions, or in this mask."""
        places = as_positions(chosen, self.n_annotators, "annotators")
        if len(set(places.tolist())) < len(places):
            raise BadParameter("An annotator is selected more than once. Select each one once.")
        return Responses._checked(keep_annotators(self, places))

    def concatenated(self, *others: "Responses") -> "Responses":
        """Concatenate the items of several tables; items are numbered anew.

        The result has the annotators, symbols and classes of all tables.
        """
        return Responses._checked(concatenate([self, *others]))

    def recoded(
        self,
        annotators: Array,
        classes: Array,
        symbols: Array | None = None,
    ) -> "Responses":
        """Return the same responses, coded by these annotators, classes and symbols.

        Names are matched, so that new items can be compared with a model that has another order.
        All annotators and symbols with responses must be among the given ones; without
        ``symbols``, symbols are the classes.
        """
        table = recode(self, annotators, classes, symbols)
        return self if table is self else Responses._checked(table)

    def with_rows(self, items: Array, by_item: Rows) -> "Responses":
        """Return responses to other items in the codes of this table."""
        return Responses(
            items,
            self.annotators,
            self.classes,
            by_item,
            symbols=self.symbols,
            anchor=self.anchor,
        )

    def with_abstentions(self, annotators: Names | None = None) -> "Responses":
        """Return the responses with "no response" as one more symbol.

        For annotators who had the choice on every item, such as labelling functions: that they do
        not respond says something about the class. ``annotators`` names those who had the choice;
        by default all. Do not use it for sparse crowds, where most annotators never saw the item.
        """
        return add_abstentions(self, annotators)

    def with_anchor(self, classes: Names | int, anchor: ArrayLike | Anchor) -> "Responses":
        """Return the responses with other classes, of which the reported labels are symbols.

        ``anchor[symbol, class]`` are the votes of a symbol for each class, in the order of
        ``self.symbols`` and ``classes``; a row of zeros says nothing, as for "unsure".
        """
        given = anchor if isinstance(anchor, Anchor) else Anchor.by_matrix(anchor)
        return with_alphabet(self, classes, given)

    # Notes

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that a user should know before fusing them."""
        empty = self.items[self.responses_per_item == 0]
        inactive = self.annotators[self.responses_per_annotator == 0]
        unreported = self.symbols[self.responses_per_symbol == 0]
        kind = "class{es}" if self.is_plain else "symbol{s}"
        counted = [
            *names_note(empty, "item{s} without a response, labelled by the prior"),
            *names_note(inactive, "annotator{s} without a response"),
            *names_note(unreported, f"{kind} that no annotator reported"),
        ]
        return (*self.remarks, *counted, *self.repeat_notes, *sanity_notes(self))

    @property
    def repeat_notes(self) -> tuple[str, ...]:
        """Notes about annotators who labelled an item more than once."""
        return tuple(repeat_notes(self.repeated, self.contradictory))

    def __repr__(self) -> str:
        symbols = "" if self.is_plain else f"{self.n_symbols:,} symbols, "
        lines = [
            f"Responses: {self.n_items:,} items × {self.n_annotators:,} annotators, "
            f"{self.n_classes:,} classes, {symbols}{self.n_responses:,} responses "
            f"({self.n_responses / max(self.n_items, 1):.1f} per item)",
            *self.notes,
        ]
        return "\n  ".join(lines)


def as_responses(data: Any, classes: Array | None = None) -> Responses:
    """Convert a table or matrix to Responses.

    Responses are returned unchanged. A frame is read by :meth:`Responses.from_frame`, anything else
    as a matrix with −1 for missing responses.
    """
    if isinstance(data, Responses):
        return data
    if frames.is_frame(data):
        return Responses.from_frame(data, classes=classes)
    return Responses.from_matrix(data, classes=classes)


def _field_values(table: CodedTable) -> tuple[Any, ...]:
    """The fields, in the order of the constructor."""
    return tuple(getattr(table, field.name) for field in fields(CodedTable))
