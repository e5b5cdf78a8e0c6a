"""Responses: who said what about which item, as integer codes with the names beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadLabels, BadParameter, naming
from blindfuse.responses import frames
from blindfuse.responses.coding import (
    as_column,
    as_names,
    as_values,
    code_labels,
    code_names,
    given,
    key,
    positions,
    smallest_integer,
    union,
)
from blindfuse.responses.packing import Packed, pack
from blindfuse.responses.rows import (
    Repeats,
    Rows,
    frozen,
    grouped,
    read_only,
    sorted_once,
    starts_of,
)

Names = Sequence[Any] | NDArray[Any]
Values = ArrayLike | Sequence[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Responses:
    """Answers of M annotators to N items in K classes, sorted by item, then by annotator.

    Make one with :meth:`from_matrix`, :meth:`from_long`, :meth:`from_frame` or :meth:`from_wide`.

    Attributes
    ----------
    items, annotators, classes
        names, in the order of the rows of every result.
    by_item
        ``Rows`` with one row an item; ``labels`` are class codes.
    repeated
        how many answers were dropped because their (item, annotator) pair came again.
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]
    by_item: Rows
    repeated: int = 0

    def __post_init__(self) -> None:
        for name in ("items", "annotators", "classes"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, "by_item", frozen(*self.by_item))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without what can be found again, and read-only again when it comes back."""
        return Responses, (self.items, self.annotators, self.classes, self.by_item, self.repeated)

    @classmethod
    def from_matrix(
        cls,
        array: Values,
        missing: Any = -1,
        *,
        items: Names | None = None,
        annotators: Names | None = None,
        classes: Names | None = None,
    ) -> "Responses":
        """From a table ``array[item, annotator]`` of labels; ``missing`` or None is no answer."""
        matrix = _as_matrix(array)
        n_items, n_annotators = matrix.shape
        annotator_names = _names_or_numbers(annotators, n_annotators, "annotators")

        def place(at: int) -> str:
            row, column = divmod(at, n_annotators)
            return f"row {row}, column {naming(annotator_names[[column]])}"

        _refuse_class_as_missing(classes, missing)
        labels, names = code_labels(matrix.reshape(-1), classes, missing, place)
        annotator_type = smallest_integer(n_annotators, np.int16, np.int32)
        columns = np.arange(n_annotators, dtype=annotator_type)
        annotator_codes = np.broadcast_to(columns, matrix.shape).reshape(-1)
        answered = labels >= 0
        if answered.all():
            counts = np.full(n_items, n_annotators)
        else:
            counts = np.count_nonzero(answered.reshape(matrix.shape), axis=1)
            labels, annotator_codes = labels[answered], annotator_codes[answered]
        return cls(
            items=_names_or_numbers(items, n_items, "items"),
            annotators=annotator_names,
            classes=names,
            by_item=frozen(starts_of(counts), annotator_codes, labels),
        )

    @classmethod
    def from_long(
        cls,
        items: Values,
        annotators: Values,
        labels: Values,
        *,
        classes: Names | None = None,
        missing: Any = None,
        repeats: Repeats = "last",
    ) -> "Responses":
        """From three columns of equal length, one row an answer.

        A label of None is no answer: its item and annotator are kept all the same. ``repeats``
        says which answer counts when an annotator labelled an item more than once.
        """
        columns = [as_column(frames.values(column)) for column in (items, annotators, labels)]
        lengths = [f"{len(column):,}" for column in columns]
        if len(set(lengths)) > 1:
            raise BadLabels(
                "items, annotators and labels need one entry an answer each, but have "
                f"{lengths[0]}, {lengths[1]} and {lengths[2]}."
            )
        _refuse_class_as_missing(classes, missing)
        label_codes, class_names = code_labels(columns[2], classes, missing, lambda i: f"row {i}")
        item_codes, item_names = code_names(columns[0], "item")
        annotator_codes, annotator_names = code_names(columns[1], "annotator")
        return cls.from_codes(
            item_codes,
            annotator_codes,
            label_codes,
            items=item_names,
            annotators=annotator_names,
            classes=class_names,
            repeats=repeats,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str = "item",
        annotator: str = "annotator",
        label: str = "label",
        classes: Names | None = None,
        missing: Any = None,
        repeats: Repeats = "last",
    ) -> "Responses":
        """From a long table (pandas, Polars, DuckDB, …), one row an answer; null is no answer."""
        columns = frames.columns(frame, [item, annotator, label])
        return cls.from_long(*columns, classes=classes, missing=missing, repeats=repeats)

    @classmethod
    def from_wide(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        classes: Names | None = None,
        missing: Any = None,
    ) -> "Responses":
        """From a wide table: one row an item, one column an annotator, null is no answer.

        ``item`` names a column of item names; without it, items are numbered.
        """
        annotators = [name for name in frames.column_names(frame) if name != item]
        columns = frames.columns(frame, annotators if item is None else [item, *annotators])
        names = None if item is None else columns.pop(0)
        return cls.from_matrix(
            _side_by_side(columns), missing, items=names, annotators=annotators, classes=classes
        )

    @classmethod
    def from_codes(
        cls,
        item_codes: NDArray[Any],
        annotator_codes: NDArray[Any],
        label_codes: NDArray[Any],
        *,
        items: Names,
        annotators: Names,
        classes: Names,
        repeats: Repeats = "last",
    ) -> "Responses":
        """From codes into the given names; a label code below zero is no answer."""
        if repeats not in get_args(Repeats):
            raise BadParameter(f"repeats={repeats!r} is none of {naming(get_args(Repeats))}.")
        item_names, annotator_names, class_names = (
            as_names(items),
            as_names(annotators),
            given(classes),
        )
        answered = label_codes >= 0
        if not answered.all():
            item_codes, annotator_codes = item_codes[answered], annotator_codes[answered]
            label_codes = label_codes[answered]
        _refuse_outside(item_codes, item_names, "item")
        _refuse_outside(annotator_codes, annotator_names, "annotator")
        _refuse_outside(label_codes, class_names, "label")
        by_item, repeated = sorted_once(
            item_codes,
            annotator_codes.astype(smallest_integer(len(annotator_names), np.int16, np.int32)),
            label_codes.astype(smallest_integer(len(class_names), np.int8, np.int16)),
            (len(item_names), len(annotator_names)),
            repeats,
        )
        if repeated and repeats == "error":
            item = int(np.argmax(np.bincount(item_codes) > np.diff(by_item.starts)))
            his = annotator_codes[item_codes == item]
            annotator = int(np.argmax(np.bincount(his) > 1))
            raise BadLabels(
                f"Annotator {naming(annotator_names[[annotator]])} labelled item "
                f"{naming(item_names[[item]])} more than once. "
                "Pass repeats='last' or repeats='first' to keep one."
            )
        return cls(
            items=item_names,
            annotators=annotator_names,
            classes=class_names,
            by_item=by_item,
            repeated=repeated,
        )

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
        return len(self.by_item.labels)

    @property
    def is_complete(self) -> bool:
        """Whether every annotator answered every item; then ``by_item.labels`` is the matrix."""
        return self.n_responses == self.n_items * self.n_annotators

    @cached_property
    def by_annotator(self) -> Rows:
        """The same answers with one row an annotator, ``codes`` are items in ascending order."""
        starts, annotators, labels = self.by_item
        item_type = smallest_integer(self.n_items, np.int32, np.int64)
        items = np.repeat(np.arange(self.n_items, dtype=item_type), np.diff(starts))
        return frozen(*grouped(annotators, items, labels, self.n_annotators))

    @property
    def responses_per_item(self) -> NDArray[np.integer[Any]]:
        """How many answers each item has, ``(N,)``."""
        return np.diff(self.by_item.starts)

    def item_of_response(self) -> NDArray[np.intp]:
        """The position of the item of each answer, in the order of ``by_item``."""
        return np.repeat(np.arange(self.n_items), self.responses_per_item)

    @cached_property
    def responses_per_annotator(self) -> NDArray[np.integer[Any]]:
        """How many answers each annotator gave, ``(M,)``."""
        if self.is_complete:
            return read_only(np.full(self.n_annotators, self.n_items))
        return read_only(np.bincount(self.by_item.codes, minlength=self.n_annotators))

    @cached_property
    def responses_per_class(self) -> NDArray[np.integer[Any]]:
        """How many answers named each class, ``(K,)``."""
        return read_only(np.bincount(self.by_item.labels, minlength=self.n_classes))

    def matrix(self) -> NDArray[Any]:
        """Class codes ``[item, annotator]``, −1 for no answer."""
        if self.is_complete:
            return self.by_item.labels.reshape(self.n_items, self.n_annotators)
        table = np.full((self.n_items, self.n_annotators), -1, dtype=self.by_item.labels.dtype)
        table[self.item_of_response(), self.by_item.codes] = self.by_item.labels
        return table

    @cached_property
    def packed(self) -> Packed | None:
        """Complete answers, several annotators' as one code; None where that saves nothing."""
        return pack(self.matrix(), self.n_classes) if self.is_complete else None

    def select_items(self, chosen: ArrayLike) -> "Responses":
        """The responses to the items at these positions (or in this mask), in this order."""
        picks = _picks(chosen, self.n_items, "items")
        counts = self.responses_per_item[picks]
        first = np.repeat(self.by_item.starts[picks] - (np.cumsum(counts) - counts), counts)
        answers = first + np.arange(counts.sum())
        return Responses(
            items=self.items[picks],
            annotators=self.annotators,
            classes=self.classes,
            by_item=frozen(
                starts_of(counts), self.by_item.codes[answers], self.by_item.labels[answers]
            ),
        )

    def select_annotators(self, chosen: ArrayLike) -> "Responses":
        """The responses of the annotators at these positions (or in this mask), in this order."""
        picks = _picks(chosen, self.n_annotators, "annotators")
        if len(set(picks.tolist())) < len(picks):
            raise BadParameter("An annotator is chosen more than once. Choose each once.")
        return self._recoded(picks, self.annotators[picks], np.arange(self.n_classes), self.classes)

    def joined(self, *others: "Responses") -> "Responses":
        """The items of all, in turn and numbered anew, with the annotators and classes of all."""
        annotators, classes = self.annotators, self.classes
        for other in others:
            annotators = union(annotators, other.annotators, "annotators")
            classes = union(classes, other.classes, "classes")
        parts = [part.recoded(annotators, classes).by_item for part in (self, *others)]
        counts = np.concatenate([np.diff(part.starts) for part in parts])
        return Responses(
            items=np.arange(len(counts)),
            annotators=annotators,
            classes=classes,
            by_item=frozen(
                starts_of(counts),
                np.concatenate([part.codes for part in parts]),
                np.concatenate([part.labels for part in parts]),
            ),
        )

    def recoded(self, annotators: NDArray[Any], classes: NDArray[Any]) -> "Responses":
        """The same answers in the codes of these annotators and classes, which must hold them all.

        This is how new items meet a model: by name, whatever their order.
        """
        if annotators is self.annotators and classes is self.classes:
            return self
        annotators, classes = as_names(annotators), given(classes)
        annotator_at = positions(self.annotators, annotators)
        class_at = positions(self.classes, classes)
        if _in_place(annotator_at, len(annotators)) and _in_place(class_at, len(classes)):
            return self
        unknown = (annotator_at < 0) & (self.responses_per_annotator > 0)
        _refuse_unknown(self.annotators[unknown], annotators, "annotator")
        unknown = (class_at < 0) & (self.responses_per_class > 0)
        _refuse_unknown(self.classes[unknown], classes, "class")
        picks = np.full(len(annotators), -1)
        picks[annotator_at[annotator_at >= 0]] = np.flatnonzero(annotator_at >= 0)
        return self._recoded(picks, annotators, class_at, classes)

    def _recoded(
        self,
        picks: NDArray[Any],
        annotators: NDArray[Any],
        class_at: NDArray[Any],
        classes: NDArray[Any],
    ) -> "Responses":
        """Answers of the annotators ``picks`` (−1: one not here), labels through ``class_at``."""
        code_of = np.full(self.n_annotators, -1)
        code_of[picks[picks >= 0]] = np.flatnonzero(picks >= 0)
        codes = code_of[self.by_item.codes]
        kept = codes >= 0
        return Responses.from_codes(
            self.item_of_response()[kept],
            codes[kept],
            class_at[self.by_item.labels[kept]],
            items=self.items,
            annotators=annotators,
            classes=classes,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about these answers before fusing them."""
        unanswered = self.items[self.responses_per_item == 0]
        silent = self.annotators[self.responses_per_annotator == 0]
        unreported = self.classes[self.responses_per_class == 0]
        remarks = [
            (
                len(unanswered),
                f"items without an answer, labelled by the prior: {naming(unanswered)}",
            ),
            (len(silent), f"annotators without an answer: {naming(silent)}"),
            (len(unreported), f"classes that nobody reported: {naming(unreported)}"),
            (self.repeated, "answers dropped, because their (item, annotator) pair came again"),
        ]
        return tuple(f"{count:,} {what}" for count, what in remarks if count)

    def __repr__(self) -> str:
        lines = [
            f"Responses: {self.n_items:,} items × {self.n_annotators:,} annotators, "
            f"{self.n_classes:,} classes, {self.n_responses:,} labels "
            f"({self.n_responses / max(self.n_items, 1):.1f} an item)",
            *self.notes,
        ]
        return "\n  ".join(lines)


def as_responses(data: Any, classes: NDArray[Any] | None = None) -> Responses:
    """Whatever a caller has, as Responses.

    Responses stay as they are; a frame with the columns ``item``, ``annotator`` and ``label`` is
    long, any other frame is wide; anything else is a matrix with −1 for no answer.
    """
    if isinstance(data, Responses):
        return data
    if not frames.is_frame(data):
        return Responses.from_matrix(data, classes=classes)
    if {"item", "annotator", "label"} <= set(frames.column_names(data)):
        return Responses.from_frame(data, classes=classes)
    return Responses.from_wide(data, classes=classes)


def _as_matrix(array: Any) -> NDArray[Any]:
    """A two-dimensional array, or an error that says which row is ragged."""
    if frames.is_frame(array):
        return _side_by_side(frames.columns(array, frames.column_names(array)))
    try:
        matrix = as_values(array)
    except ValueError:  # rows that are arrays of different shapes
        matrix = np.fromiter(array, dtype=object)
    if matrix.ndim == 2 and matrix.shape[1]:
        return matrix
    widths = [_width(row) for row in matrix.tolist()] if matrix.ndim == 1 else []
    odd = next((row for row, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None:
        raise BadLabels(
            f"Row {odd} has {widths[odd]} labels where row 0 has {widths[0]}: every row needs one "
            "entry an annotator, with the missing marker where there is no answer."
        )
    raise BadLabels(
        f"A matrix [item, annotator] is needed, not an array of shape {matrix.shape}. "
        "For a long table use Responses.from_long or from_frame."
    )


def _width(row: Any) -> int:
    try:
        return 1 if isinstance(row, str) else len(row)
    except TypeError:
        return 1


def _side_by_side(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns as a matrix; of objects if their types differ, for True is not 1."""
    if not columns:
        raise BadLabels("The wide table has no annotator column. One column each is needed.")
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)


def _names_or_numbers(names: Names | None, count: int, kind: str) -> NDArray[Any]:
    if names is None:
        return np.arange(count)
    array = as_names(names)
    if len(array) != count:
        raise BadLabels(f"{kind}= has {len(array):,} names, but the matrix has {count:,} {kind}.")
    codes, distinct = code_names(array, kind[:-1])
    if len(distinct) < count:
        twice = distinct[np.bincount(codes) > 1]
        raise BadLabels(f"{kind}= names {naming(twice)} more than once. Names must differ.")
    return array


def _refuse_class_as_missing(classes: Names | None, missing: Any) -> None:
    if classes is None or missing is None:
        return
    if key(missing) in map(key, as_names(classes).tolist()):
        raise BadLabels(
            f"{missing!r} is both a class and the missing marker. Pass another missing=."
        )


def _refuse_outside(codes: NDArray[Any], names: NDArray[Any], kind: str) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= len(names)):
        outside = codes[(codes < 0) | (codes >= len(names))]
        raise BadLabels(
            f"There is no {kind} {naming(outside)}: codes run from 0 to {len(names) - 1:,}. "
            "Count from zero, and name every one."
        )


def _refuse_unknown(unknown: NDArray[Any], known: NDArray[Any], kind: str) -> None:
    if len(unknown):
        raise BadLabels(
            f"Unknown {kind} {naming(unknown)}: the model knows {naming(known)}. "
            "Fit again with these answers, or leave them out."
        )


def _in_place(found: NDArray[np.intp], count: int) -> bool:
    return np.array_equal(found, np.arange(count))


def _picks(chosen: ArrayLike, count: int, kind: str) -> NDArray[np.intp]:
    """Positions or a mask as positions from 0."""
    where = np.atleast_1d(np.asarray(chosen))
    try:
        picks = np.arange(count)[where if where.size else []]
        if picks.ndim == 1:
            return picks
        reason = f"they come in the shape {picks.shape}"
    except IndexError as error:
        reason = str(error)
    raise BadParameter(
        f"These {kind} cannot be chosen: {reason}. Pass positions below {count:,}, or a mask."
    )
