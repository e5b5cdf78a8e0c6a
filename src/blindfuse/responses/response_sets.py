"""``ResponseSets``: responses that are sets of classes, as codes of distinct sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses import frames
from blindfuse.responses.coding import (
    CodedNames,
    as_column,
    check_classes,
    code_names,
    smallest_integer_dtype,
)
from blindfuse.responses.detection import (
    ColumnOptions,
    gold_column,
    is_long,
    long_columns,
    require_column,
)
from blindfuse.responses.inputs import Names, Values, check_equal_lengths, label_options
from blindfuse.responses.notes import count_note, names_note
from blindfuse.responses.repeats import Repeats, check_repeats, first_repeated_row, repeat_notes
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import (
    annotator_dtype,
    freeze_arrays,
    read_only,
    row_of_entry,
    row_starts,
    sort_and_deduplicate,
)
from blindfuse.responses.set_coding import (
    CodedSets,
    Members,
    as_ticks,
    code_sets,
    distinct_rows,
    join_rows,
)
from blindfuse.responses.values import LabelOptions
from blindfuse.responses.wide_detection import wide_columns
from blindfuse.typing import Array, Codes, Floats, Integers


@dataclass(frozen=True, eq=False, repr=False)
class ResponseSets:
    """Sets of K classes that M annotators reported for N items, sorted by item, then annotator.

    Create one with :meth:`from_long`, :meth:`from_frame` or :meth:`from_indicators`. An empty set
    is a response: the annotator saw the item and named no class.

    Attributes
    ----------
    items, annotators, classes
        names, in the order of the rows of every result.
    starts ``[item + 1]``, codes ``[response]``, symbols ``[response]``
        compressed rows: the responses to item n are the slice ``starts[n]:starts[n + 1]`` of the
        annotators' positions ``codes`` and of the positions ``symbols`` of their sets.
    members ``[set, class]``
        whether each distinct set contains each class.
    repeated, contradictory, remarks
        as in :class:`Responses`.
    """

    items: Array
    annotators: Array
    classes: Array
    starts: Array
    codes: Array
    symbols: Array
    members: Members
    repeated: int = 0
    contradictory: int = 0
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = ("items", "annotators", "classes", "starts", "codes", "symbols", "members")
        freeze_arrays(self, names)

    @classmethod
    def from_long(
        cls,
        items: Values,
        annotators: Values,
        sets: Sequence[Any] | Array,
        *,
        classes: Names | None = None,
        separator: str | None = None,
        missing: Any = None,
        keep_na: bool = False,
        fold_case: bool = False,
        repeats: Repeats = "most_frequent",
    ) -> "ResponseSets":
        """Read three columns of equal length, with one row per response.

        A set is a list, a tuple, a set, an object ``{class: true}``, or a text: ``a|b``, ``a;b``
        or a list as JSON writes it. None and NaN are missing, and so are texts such as ``NA``.

        Parameters
        ----------
        classes
            all classes, in the order you want; by default those that occur, sorted.
        separator
            what separates the classes in a text; by default the first of ``|``, ``;`` and ``,``
            that occurs.
        missing, keep_na, fold_case
            as in :meth:`Responses.from_long`, for each class in a set.
        repeats
            which set counts if an annotator labelled an item more than once, as in
            :meth:`Responses.from_long`. If no row names two classes, the rows are read as one per
            class, and all of them count.
        """
        options = label_options(classes, missing, keep_na, fold_case)
        return cls._from_columns([items, annotators, sets], options, separator, repeats)

    @classmethod
    def _from_columns(
        cls,
        columns: Sequence[Any],
        options: LabelOptions,
        separator: str | None,
        repeats: Repeats,
    ) -> "ResponseSets":
        """Read the items, the annotators and the sets of a long table."""
        items, annotators = (as_column(frames.values(column)) for column in columns[:2])
        values = frames.values(columns[2])
        cells = list(values.tolist() if isinstance(values, np.ndarray) else values)
        check_equal_lengths({"items": items, "annotators": annotators, "sets": cells})
        coded = code_sets(cells, options, separator, lambda row: f"row {row}")
        return cls.from_codes(
            code_names(items, "item"), code_names(annotators, "annotator"), coded, repeats
        )

    @classmethod
    def from_codes(
        cls,
        item: CodedNames,
        annotator: CodedNames,
        coded: CodedSets,
        repeats: Repeats,
        *,
        rows_may_be_classes: bool = True,
    ) -> "ResponseSets":
        """Create responses from codes of items, annotators and sets; a negative code is missing.

        ``rows_may_be_classes`` says that several rows of an item and annotator may be one set.
        """
        check_repeats(repeats, Repeats)
        present = coded.codes >= 0
        pairs = item.codes[present], annotator.codes[present]
        symbols, members, notes = coded.codes[present], coded.members, [*coded.notes]
        is_joined = rows_may_be_classes and repeats == "most_frequent"
        if is_joined and members.sum(axis=1).max(initial=0) <= 1:
            pairs, symbols, members, joined = join_rows(pairs, symbols, members)
            notes += count_note(
                joined,
                "response{s} with one row per class: all rows of an item and annotator are one set",
            )
        sizes = len(item.names), len(annotator.names)
        rows = sort_and_deduplicate(
            pairs[0].astype(smallest_integer_dtype(sizes[0], np.int32, np.int64)),
            pairs[1].astype(annotator_dtype(sizes[1])),
            symbols.astype(np.int32),
            sizes,
            repeats,
        )
        if rows.repeated and repeats == "error":
            at = first_repeated_row(pairs[0], rows.starts)
            raise BadLabels(
                f"An annotator labelled item {list_names(item.names[[at]])} more than once. "
                "Pass repeats='most_frequent', 'last' or 'first' to keep one."
            )
        return cls(
            *(item.names, annotator.names, coded.classes),
            *(rows.starts, rows.codes, rows.symbols, members),
            *(rows.repeated, rows.contradictory),
            remarks=(*notes, *item.notes, *annotator.notes),
        )

    @classmethod
    def from_indicators(
        cls,
        items: Values,
        annotators: Values,
        indicators: Any,
        *,
        classes: Names,
        repeats: Repeats = "most_frequent",
    ) -> "ResponseSets":
        """Read one row per response with one column of 0 and 1 per class, ``[response, class]``.

        A row without any value (None or NaN) is missing.
        """
        names = check_classes(classes)
        ticks = as_ticks(indicators, len(names))
        item = code_names(as_column(frames.values(items)), "item")
        annotator = code_names(as_column(frames.values(annotators)), "annotator")
        check_equal_lengths(
            {"items": item.codes, "annotators": annotator.codes, "indicators": ticks}
        )
        empty = np.isnan(ticks).all(axis=1)
        members, codes = distinct_rows(np.nan_to_num(ticks) == 1)
        codes[empty] = -1
        coded = CodedSets(codes, names, members, [])
        return cls.from_codes(item, annotator, coded, repeats, rows_may_be_classes=False)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        annotator: str | Sequence[str] | None = None,
        label: str | None = None,
        indicators: Sequence[str] | None = None,
        classes: Names | None = None,
        separator: str | None = None,
        missing: Any = None,
        keep_na: bool = False,
        fold_case: bool = False,
        repeats: Repeats = "most_frequent",
    ) -> "ResponseSets":
        """Read a long or a wide table of pandas, Polars, PyArrow or DuckDB.

        A long table has one row per response, with a column of sets, or with one column of 0 and 1
        per class (``indicators``). A wide table has one row per item and one column of sets per
        annotator. Columns are detected as in :meth:`Responses.from_frame`.
        """
        frame = frames.with_index(frame)
        sample = frames.FrameSample(frame, call=" to ResponseSets.from_frame")
        options = ColumnOptions(item, annotator, label)
        if indicators is not None:
            named = annotator if isinstance(annotator, str) else None
            who = require_column("annotator", sample, named, indicators)
            what = require_column("item", sample, item, [*indicators, who])
            items, annotators, *columns = frames.columns(frame, [what, who, *indicators])
            ticks = np.stack([column.astype(object) for column in columns], axis=1)
            names = indicators if classes is None else classes
            return cls.from_indicators(items, annotators, ticks, classes=names, repeats=repeats)
        labels = label_options(classes, missing, keep_na, fold_case)
        if is_long(sample, options):
            found = long_columns(sample, options)
            columns = frames.columns(frame, list(found.values()))
            return cls._from_columns(columns, labels, separator, repeats)
        wide = wide_columns(sample, options, gold_column([sample], options.annotators))
        cells = frames.columns(frame, wide.annotators)
        n_rows = len(cells[0])
        items = np.arange(n_rows) if wide.item is None else frames.columns(frame, [wide.item])[0]
        values: list[Any] = [
            np.tile(items, len(cells)),
            np.repeat(np.array(wide.annotators, dtype=object), n_rows),
            [cell for column in cells for cell in column.tolist()],
        ]
        read = cls._from_columns(values, labels, separator, repeats)
        return replace(read, remarks=(*wide.notes, *read.remarks))

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
    def n_responses(self) -> int:
        return len(self.symbols)

    @property
    def responses_per_item(self) -> Integers:
        """Number of responses to each item, ``[item]``."""
        return np.diff(self.starts)

    @cached_property
    def responses_per_annotator(self) -> Integers:
        """Number of responses of each annotator, ``[annotator]``."""
        return read_only(np.bincount(self.codes, minlength=self.n_annotators))

    @cached_property
    def responses_per_set(self) -> Integers:
        """Number of responses that are each distinct set, ``[set]``."""
        return read_only(np.bincount(self.symbols, minlength=len(self.members)))

    @cached_property
    def responses_per_class(self) -> Integers:
        """Number of responses that contain each class, ``[class]``."""
        return read_only(self.responses_per_set @ self.members.astype(np.int64))

    def item_of_response(self) -> Codes:
        """Return the position of the item of each response."""
        return row_of_entry(self.starts)

    def indicators(self) -> Members:
        """Return whether each response contains each class, ``[response, class]``."""
        return np.asarray(self.members[self.symbols])

    def shares(self) -> Floats:
        """Return the share of the responses to each item that contain each class."""
        item, n = self.item_of_response(), np.maximum(self.responses_per_item, 1)
        votes = [
            np.bincount(item, self.members[self.symbols, k], self.n_items)
            for k in range(self.n_classes)
        ]
        return np.asarray(np.stack(votes, axis=1) / n[:, None])

    @property
    def are_single(self) -> bool:
        """Whether every response contains exactly one class."""
        used = self.members[self.responses_per_set > 0]
        return bool((used.sum(axis=1) == 1).all())

    def single_choices(self) -> Responses:
        """Return responses of one class each as :class:`Responses`."""
        return self._responses(self.members.argmax(axis=1)[self.symbols], self.classes)

    def sample_items(self, max_cells: int) -> "ResponseSets":
        """Return the responses to evenly spaced items, with at most about this many cells.

        A cell is what one response says about one class.
        """
        step = 1 + self.n_responses * self.n_classes // max_cells
        if step == 1:
            return self
        item = self.item_of_response()
        kept = item % step == 0
        counts = self.responses_per_item[::step]
        return replace(
            self,
            items=self.items[::step],
            starts=row_starts(counts),
            codes=self.codes[kept],
            symbols=self.symbols[kept],
        )

    def select_classes(self, places: Array) -> "ResponseSets":
        """Return the same responses with the classes at these positions only."""
        return replace(self, classes=self.classes[places], members=self.members[:, places])

    def question(self, k: int) -> Responses:
        """Return the responses to "does class k apply?", with the classes "no" and "yes"."""
        return self._responses(self.members[:, k].astype(np.int8)[self.symbols], ["no", "yes"])

    def _responses(self, symbols: Array, classes: Names) -> Responses:
        return Responses.from_codes(
            *(self.item_of_response(), self.codes, symbols),
            items=self.items,
            annotators=self.annotators,
            classes=classes,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that a user should know before fusing them."""
        empty = self.items[self.responses_per_item == 0]
        inactive = self.annotators[self.responses_per_annotator == 0]
        unreported = self.classes[self.responses_per_class == 0]
        counted = [
            *names_note(empty, "item{s} without a response, fused by the prior"),
            *names_note(inactive, "annotator{s} without a response"),
            *names_note(unreported, "class{es} that no response contains"),
        ]
        return (*self.remarks, *counted, *repeat_notes(self.repeated, self.contradictory))

    def __repr__(self) -> str:
        size = self.responses_per_class.sum() / max(self.n_responses, 1)
        lines = [
            f"ResponseSets: {self.n_items:,} items × {self.n_annotators:,} annotators, "
            f"{self.n_classes:,} classes, {self.n_responses:,} responses "
            f"({self.n_responses / max(self.n_items, 1):.1f} per item, {size:.1f} classes each)",
            *self.notes,
        ]
        return "\n  ".join(lines)


def as_response_sets(items: Any, annotators: Any = None, sets: Any = None) -> ResponseSets:
    """Convert three columns or a frame to ResponseSets, which are returned unchanged."""
    if (annotators is None) != (sets is None):
        raise BadParameter("Pass items, annotators and sets as three columns, or one table alone.")
    if annotators is not None:
        return ResponseSets.from_long(items, annotators, sets)
    return items if isinstance(items, ResponseSets) else ResponseSets.from_frame(items)
