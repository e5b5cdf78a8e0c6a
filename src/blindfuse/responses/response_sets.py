"""``ResponseSets``: responses that are sets of classes, as codes of distinct sets."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, counted
from blindfuse.responses import frames
from blindfuse.responses.coding import as_column, as_values, check_classes
from blindfuse.responses.detection import ColumnOptions, require_column
from blindfuse.responses.inputs import Names, Values, label_options, long_cells, read_frame
from blindfuse.responses.notes import count_note, names_note
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Repeats, read_only
from blindfuse.responses.set_coding import CodedSets, Members, code_sets, join_rows, tick
from blindfuse.responses.table import AnnotationTable, Cells
from blindfuse.responses.values import LabelOptions
from blindfuse.typing import Array, Floats, Integers


@dataclass(frozen=True, eq=False, repr=False)
class ResponseSets(AnnotationTable):
    """Sets of K classes that M annotators reported for N items, sorted by item, then annotator.

    Create one with :meth:`from_long`, :meth:`from_frame` or :meth:`from_indicators`. An empty set
    is a response: the annotator saw the item and named no class.

    Attributes
    ----------
    items, annotators, by_item, repeated, contradictory, remarks
        as in :class:`AnnotationTable`; ``by_item.symbols`` are positions in ``members``.
    classes
        names, in the order of the columns of ``members``.
    members ``[set, class]``
        whether each distinct set contains each class.
    """

    classes: Array = field(kw_only=True)
    members: Members = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", read_only(as_column(self.classes)))
        object.__setattr__(self, "members", read_only(self.members))
        super().__post_init__()

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
        cells = long_cells(items, annotators, sets, "sets")
        return cls._of_cells(cells, options, separator, repeats)

    @classmethod
    def _of_cells(
        cls, cells: Cells, options: LabelOptions, separator: str | None, repeats: Repeats
    ) -> "ResponseSets":
        """Create responses of cells with sets."""
        coded = code_sets(cells.values.tolist(), options, separator, cells.describe)
        return cls.from_codes(cells, coded, repeats)

    @classmethod
    def from_codes(cls, cells: Cells, coded: CodedSets, repeats: Repeats) -> "ResponseSets":
        """Create responses of cells with sets that are coded; a negative code is missing.

        If no row names two classes, several rows of an item and annotator may be one set.
        """
        codes, members, notes = coded.codes, coded.members, [*coded.notes]
        if repeats == "most_frequent" and members.sum(axis=1).max(initial=0) <= 1:
            codes, members, joined = join_rows(
                cells.items.codes, cells.annotators.codes, codes, members
            )
            notes += count_note(
                joined,
                "response{s} with one row per class: all rows of an item and annotator are one set",
            )
        return cls.collect(cells, codes, repeats, notes, classes=coded.classes, members=members)

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
        names, table = check_classes(classes), as_values(indicators)
        if table.ndim != 2 or table.shape[1] != len(names):
            raise BadLabels(
                f"indicators must be a matrix [response, class] with one column for each of the "
                f"{len(names):,} classes, not an array of shape {table.shape}."
            )
        labels = names.tolist()
        ticks = (dict(zip(labels, map(tick, row), strict=True)) for row in table.tolist())
        rows = np.fromiter(ticks, dtype=object, count=len(table))
        cells = long_cells(items, annotators, rows, "indicators")
        coded = code_sets(rows.tolist(), LabelOptions(labels), None, cells.describe)
        payload = {"classes": coded.classes, "members": coded.members}
        return cls.collect(cells, coded.codes, repeats, coded.notes, **payload)

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
        if indicators is not None:
            items, annotators, ticks = _read_indicators(frame, item, annotator, indicators)
            names = indicators if classes is None else classes
            return cls.from_indicators(items, annotators, ticks, classes=names, repeats=repeats)
        options = label_options(classes, missing, keep_na, fold_case)
        cells = read_frame(frame, ColumnOptions(item, annotator, label), "ResponseSets.from_frame")
        return cls._of_cells(cells, options, separator, repeats)

    @property
    def symbols(self) -> Array:
        """The position in ``members`` of each response."""
        return self.by_item.symbols

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_symbols(self) -> int:
        """Number of distinct sets."""
        return len(self.members)

    @cached_property
    def responses_per_class(self) -> Integers:
        """Number of responses that contain each class, ``[class]``."""
        return read_only(self.responses_per_symbol @ self.members.astype(np.int64))

    def indicators(self) -> Members:
        """Return whether each response contains each class, ``[response, class]``."""
        return np.asarray(self.members[self.symbols])

    def shares(self) -> Floats:
        """Return the share of the responses to each item that contain each class."""
        item, n = self.item_of_response(), np.maximum(self.responses_per_item, 1)
        cells = item[:, None] * self.n_classes + np.arange(self.n_classes)
        votes = np.bincount(cells[self.indicators()], minlength=self.n_items * self.n_classes)
        return np.asarray(votes.reshape(self.n_items, self.n_classes) / n[:, None])

    @property
    def are_single(self) -> bool:
        """Whether every response contains exactly one class."""
        used = self.members[self.responses_per_symbol > 0]
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
        return self.select_items(np.arange(0, self.n_items, step))

    def select_classes(self, places: Array) -> "ResponseSets":
        """Return the same responses with the classes at these positions only."""
        return replace(self, classes=self.classes[places], members=self.members[:, places])

    def question(self, k: int) -> Responses:
        """Return the responses to "does class k apply?", with the classes "no" and "yes"."""
        return self._responses(self.members[:, k].astype(np.int8)[self.symbols], ["no", "yes"])

    def _responses(self, symbols: Array, classes: Names) -> Responses:
        rows = self.by_item._replace(symbols=symbols)
        return Responses(self.items, self.annotators, rows, classes=as_column(classes))

    def _unreported(self) -> list[str]:
        unreported = self.classes[self.responses_per_class == 0]
        return names_note(unreported, "class{es} that no response contains")

    def _sizes(self) -> tuple[str, str]:
        size = self.responses_per_class.sum() / max(self.n_responses, 1)
        return f"{counted(self.n_classes, 'class')}, ", f", {size:.1f} classes each"


def as_response_sets(
    items: Any, annotators: Any = None, sets: Any = None, classes: Names | None = None
) -> ResponseSets:
    """Convert three columns or a frame to ResponseSets, which are returned unchanged."""
    if (annotators is None) != (sets is None):
        raise BadParameter("Pass items, annotators and sets as three columns, or one table alone.")
    if sets is not None:
        return ResponseSets.from_long(items, annotators, sets, classes=classes)
    if not isinstance(items, ResponseSets):
        return ResponseSets.from_frame(items, classes=classes)
    if classes is not None:
        raise BadParameter("ResponseSets have classes of their own. Pass classes= to from_long.")
    return items


def _read_indicators(
    frame: Any, item: str | None, annotator: Any, indicators: Sequence[str]
) -> tuple[Array, Array, Array]:
    """Read the items, the annotators, and 0 and 1 ``[response, class]`` of a frame."""
    frame = frames.with_index(frame)
    sample = frames.FrameSample(frame, call=" to ResponseSets.from_frame")
    named = annotator if isinstance(annotator, str) else None
    who = require_column("annotator", sample, named, indicators)
    what = require_column("item", sample, item, [*indicators, who])
    items, annotators, *columns = frames.columns(frame, [what, who, *indicators])
    return items, annotators, np.stack([column.astype(object) for column in columns], axis=1)
