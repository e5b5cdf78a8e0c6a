"""``AnnotationTable``: what annotators reported for items, whatever the kind of response."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, counted, list_names
from blindfuse.responses.coding import CodedNames, as_column, as_names, positions
from blindfuse.responses.notes import names_note
from blindfuse.responses.rows import (
    Repeats,
    Rows,
    annotator_dtype,
    as_positions,
    check_repeats,
    check_rows,
    is_present,
    item_dtype,
    read_only,
    repeat_notes,
    resolve_repeats,
    row_of_entry,
    row_starts,
    select_rows,
    sort_by_row_and_code,
    sort_into_rows,
)
from blindfuse.typing import Array, Codes, Flags, Integers

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses


@dataclass(frozen=True, eq=False)
class Cells:
    """What annotators reported, in any order: the way from every input to a table.

    ``values`` are as the user gave them, or codes. ``describe`` names the place of a value, for
    errors, ``order`` are the categories that an ordered column has, ``is_wide`` says that the input
    had one column per annotator, and ``is_sorted`` that no item and annotator occur twice and their
    codes ascend.
    """

    items: CodedNames
    annotators: CodedNames
    values: Array
    describe: Callable[[int], str] = str
    notes: Sequence[str] = ()
    order: Sequence[Any] = ()
    is_wide: bool = False
    is_sorted: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class AnnotationTable:
    """Responses of M annotators to N items, sorted by item, then by annotator.

    A kind of response is a subclass, which says what ``by_item.symbols`` are: codes of labels or
    sets, or numbers. It adds the fields that give them a meaning, and its constructors convert the
    values of :class:`Cells`, call :meth:`collect`, and leave the rest to this class.

    Attributes
    ----------
    items, annotators
        names, in the order of the rows of every result.
    by_item
        :class:`~blindfuse.responses.rows.Rows` with one row per item: ``codes`` are annotators.
    repeated
        number of responses beyond the first per item and annotator, of which one is kept.
    contradictory
        number of pairs of item and annotator whose repeated responses have no most frequent one;
        they are treated as missing.
    remarks
        notes about the conversion of the user's values.
    """

    items: Array
    annotators: Array
    by_item: Rows
    repeated: int = 0
    contradictory: int = 0
    remarks: tuple[str, ...] = ()

    repeats: ClassVar[Any] = Repeats
    """The allowed values of ``repeats=``."""
    per_response: ClassVar[tuple[str, ...]] = ()
    """Fields with one entry per response, in the order of ``by_item``; they may be None."""
    noun: ClassVar[str] = "response"
    without_response: ClassVar[str] = "fused by the prior"
    """What happens to items without a response, for notes."""

    def __post_init__(self) -> None:
        for name in ("items", "annotators"):
            object.__setattr__(self, name, read_only(as_column(getattr(self, name))))
        shape = len(self.items), len(self.annotators), self.n_symbols
        object.__setattr__(self, "by_item", check_rows(Rows(*self.by_item), shape))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without cached properties; arrays are read-only again after unpickling."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return partial(type(self), **values), ()

    # Construction

    @classmethod
    def collect(
        cls, cells: Cells, values: Array, repeats: str, remarks: Sequence[str] = (), **payload: Any
    ) -> Self:
        """Create a table of cells, of which one per item and annotator is kept.

        ``values`` are the codes or numbers that the values of the cells became; those that are
        negative or NaN are missing, and their items and annotators are kept.
        """
        check_repeats(repeats, cls.repeats)
        (item, items, item_notes), (annotator, annotators, notes) = cells.items, cells.annotators
        present = is_present(values)
        if not present.all():
            item, annotator, values = item[present], annotator[present], values[present]
        item = item.astype(item_dtype(len(items)), copy=False)
        annotator = annotator.astype(annotator_dtype(len(annotators)), copy=not cells.is_sorted)
        repeated = contradictory = 0
        if cells.is_sorted:
            starts = row_starts(np.bincount(item, minlength=len(items)))
            rows = Rows(starts, annotator, values.copy())
        else:
            rows = sort_by_row_and_code(item, annotator, values, (len(items), len(annotators)))
            rows, repeated, contradictory = resolve_repeats(rows, repeats)
        if repeated and repeats == "error":
            at = int(np.argmax(np.bincount(item) > np.diff(rows.starts)))
            who = int(np.argmax(np.bincount(annotator[item == at]) > 1))
            raise BadLabels(
                f"Annotator {list_names(annotators[[who]])} responded to item "
                f"{list_names(items[[at]])} more than once. Pass "
                f"repeats={cls.repeats.__args__[0]!r}, 'last' or 'first' to keep one."
            )
        remarks = *cells.notes, *remarks, *item_notes, *notes
        return cls(items, annotators, rows, repeated, contradictory, remarks, **payload)

    # Sizes and views

    @property
    def starts(self) -> Array:
        """The responses to item n are ``starts[n]:starts[n + 1]``."""
        return self.by_item.starts

    @property
    def codes(self) -> Array:
        """The position of the annotator of each response."""
        return self.by_item.codes

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_symbols(self) -> int | None:
        """Number of different symbols; None where responses are numbers."""
        return None

    @property
    def n_responses(self) -> int:
        return len(self.by_item.codes)

    @property
    def is_complete(self) -> bool:
        """Whether every annotator responded to every item."""
        return self.n_responses == self.n_items * self.n_annotators

    @property
    def responses_per_item(self) -> Integers:
        """Number of responses to each item, ``[item]``."""
        return np.diff(self.by_item.starts)

    @cached_property
    def responses_per_annotator(self) -> Integers:
        """Number of responses of each annotator, ``[annotator]``."""
        if self.is_complete:
            return read_only(np.full(self.n_annotators, self.n_items))
        return read_only(np.bincount(self.by_item.codes, minlength=self.n_annotators))

    @cached_property
    def responses_per_symbol(self) -> Integers:
        """Number of responses that report each symbol, ``[symbol]``."""
        return read_only(np.bincount(self.by_item.symbols, minlength=self.n_symbols or 0))

    @cached_property
    def by_annotator(self) -> Rows:
        """The same responses with one row per annotator; ``codes`` are items in ascending order."""
        items = row_of_entry(self.starts, item_dtype(self.n_items))
        rows = sort_into_rows(self.codes, items, self.by_item.symbols, self.n_annotators)
        return Rows(*map(read_only, rows))

    def matrix(self) -> Array:
        """Return symbol codes ``[item, annotator]``, −1 if missing, or numbers and NaN."""
        symbols, shape = self.by_item.symbols, (self.n_items, self.n_annotators)
        if self.is_complete:
            return symbols.reshape(shape)
        missing = -1 if symbols.dtype.kind == "i" else np.nan
        matrix = np.full(shape, missing, dtype=symbols.dtype)
        matrix[self.item_of_response(), self.codes] = symbols
        return matrix

    def item_of_response(self) -> Codes:
        """Return the position of the item of each response, in the order of ``by_item``."""
        return row_of_entry(self.by_item.starts)

    # Selection

    def with_rows(
        self, items: Array, by_item: Rows, entries: Array | None = None, **changes: Any
    ) -> Self:
        """Return other responses, to these items, in the codes of this table.

        ``entries`` are the positions in this table of the responses, if they are some of its own.
        """
        values: dict[str, Any] = {"repeated": 0, "contradictory": 0, "remarks": (), **changes}
        for name in self.per_response:
            value = getattr(self, name)
            values[name] = None if entries is None or value is None else value[entries]
        return replace(self, items=items, by_item=by_item, **values)

    def select_items(self, chosen: ArrayLike) -> Self:
        """Return the responses to the items at these positions, or in this mask, in this order."""
        places = as_positions(chosen, self.n_items, "items")
        rows, entries = select_rows(self.by_item, places)
        return self.with_rows(self.items[places], rows, entries)

    def select_annotators(self, chosen: ArrayLike) -> Self:
        """Return the responses of the annotators at these positions, or in this mask."""
        places = as_positions(chosen, self.n_annotators, "annotators")
        if len(set(places.tolist())) < len(places):
            raise BadParameter("An annotator is selected more than once. Select each one once.")
        annotator_at = np.full(self.n_annotators, -1)
        annotator_at[places] = np.arange(len(places))
        item_at = np.arange(self.n_items)
        return self.rearranged(self.items, item_at, self.annotators[places], annotator_at)

    def select_responses(self, mask: Flags) -> Self:
        """Return the same items and annotators with the responses in this mask only."""
        kept = np.concatenate([[0], np.cumsum(mask)])[self.by_item.starts]
        _, codes, symbols = self.by_item
        rows = Rows(row_starts(np.diff(kept)), codes[mask], symbols[mask])
        return self.with_rows(self.items, rows, np.flatnonzero(mask))

    def rearranged(
        self, items: Array, item_at: Codes, annotators: Array, annotator_at: Codes
    ) -> Self:
        """Return the responses with items and annotators at other positions, under other names.

        The item at position n moves to ``item_at[n]``, the name of which is in ``items``. Responses
        of annotators who move to −1 are left out.
        """
        moved = annotator_at[self.codes]
        if moved.min(initial=0) < 0:
            kept = self.select_responses(moved >= 0)
            return kept.rearranged(items, item_at, annotators, annotator_at)
        starts, codes, entries = sort_by_row_and_code(
            item_at[self.item_of_response()].astype(item_dtype(len(items))),
            moved.astype(annotator_dtype(len(annotators))),
            np.arange(self.n_responses, dtype=item_dtype(self.n_responses)),
            (len(items), len(annotators)),
        )
        rows = Rows(starts, codes, self.by_item.symbols[entries])
        return self.with_rows(items, rows, entries, annotators=annotators)

    # Notes

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that a user should know before fusing them."""
        empty = self.items[self.responses_per_item == 0]
        inactive = self.annotators[self.responses_per_annotator == 0]
        return (
            *self.remarks,
            *names_note(empty, f"item{{s}} without a {self.noun}, {self.without_response}"),
            *names_note(inactive, f"annotator{{s}} without a {self.noun}"),
            *self._unreported(),
            *self.repeat_notes,
        )

    @property
    def repeat_notes(self) -> tuple[str, ...]:
        """Notes about annotators who responded to an item more than once."""
        return tuple(repeat_notes(self.repeated, self.contradictory, self.noun))

    def _unreported(self) -> list[str]:
        """Return notes about what no annotator reported."""
        return []

    def _sizes(self) -> tuple[str, str]:
        """Return the texts of ``repr`` about classes, and about the size of a response."""
        return "", ""

    def __repr__(self) -> str:
        classes, each = self._sizes()
        per_item = self.n_responses / max(self.n_items, 1)
        size = (
            f"{type(self).__name__}: {counted(self.n_items, 'item')} × "
            f"{counted(self.n_annotators, 'annotator')}, {classes}"
            f"{counted(self.n_responses, self.noun)} ({per_item:.1f} per item{each})"
        )
        return "\n  ".join([size, *self.notes])


# Gold labels


def check_gold(gold: Mapping[Any, Any] | None, what: str = "gold labels") -> None:
    """Raise BadParameter if gold labels, or labels called ``what``, are not a dictionary."""
    if gold is not None and not isinstance(gold, Mapping):
        raise BadParameter(
            f"{what} must be a dictionary {{item: label}}, not a {type(gold).__name__}. "
            "Name the items: dict(zip(items, labels)), or series.to_dict() for a pandas Series."
        )


def gold_positions(table: AnnotationTable, gold: Mapping[Any, Any], kind: str = "Gold") -> Codes:
    """Return the positions of the gold items among the items."""
    names = as_names(list(gold))
    places = positions(names, table.items)
    if np.any(places < 0):
        raise BadLabels(
            f"{kind} items {list_names(names[places < 0])} are not among the items. Leave them out."
        )
    return places


def gold_codes(
    responses: "Responses", gold: Mapping[Any, Any] | None, kind: str = "Gold"
) -> tuple[Codes, Codes]:
    """Return the positions of the gold items among the items, and the codes of their classes."""
    check_gold(gold)
    if not gold:  # saves the look-up of all item names
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    item_at, labels = gold_positions(responses, gold, kind), as_names(list(gold.values()))
    class_at = positions(labels, responses.classes)
    if np.any(class_at < 0):
        unknown = dict.fromkeys(labels[class_at < 0].tolist())
        raise BadLabels(
            f"{kind} labels {list_names(unknown)} are not among the classes "
            f"{list_names(responses.classes)}. Add them to classes=."
        )
    return item_at, class_at
