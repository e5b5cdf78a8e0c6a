"""``Responses``: the symbols that annotators reported for items, as integer codes with names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses import frames
from blindfuse.responses import scores as scores_module
from blindfuse.responses import symbols as symbols_module
from blindfuse.responses.anchor import IDENTITY, Alphabet, Anchor, check_alphabet, check_symbols
from blindfuse.responses.coding import (
    as_column,
    as_names,
    as_plain_names,
    check_classes,
    code_labels,
    code_names,
    positions,
    smallest_integer_dtype,
    union,
)
from blindfuse.responses.detection import (
    ColumnOptions,
    WideColumns,
    gold_column,
    is_long,
    long_columns,
    wide_columns,
)
from blindfuse.responses.inputs import (
    Names,
    Values,
    as_matrix,
    check_equal_lengths,
    names_or_numbers,
    stack_columns,
)
from blindfuse.responses.keys import key_value, name_key
from blindfuse.responses.notes import count_note
from blindfuse.responses.packing import PackedResponses, pack
from blindfuse.responses.repeats import Repeats, repeat_notes
from blindfuse.responses.rows import (
    Rows,
    annotator_dtype,
    are_below,
    as_codes,
    check_rows,
    freeze_rows,
    read_only,
    row_starts,
    sort_and_deduplicate,
    sort_into_rows,
    symbol_dtype,
)
from blindfuse.responses.sanity import sanity_notes
from blindfuse.responses.values import LabelOptions


@dataclass(frozen=True, eq=False, repr=False)
class Responses:
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
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]
    by_item: Rows
    repeated: int = 0
    contradictory: int = 0
    remarks: tuple[str, ...] = ()
    symbols: NDArray[Any] = None  # type: ignore[assignment]  # the classes, after construction
    anchor: Anchor = IDENTITY

    def __post_init__(self) -> None:
        for name in ("items", "annotators", "classes"):
            object.__setattr__(self, name, read_only(as_column(getattr(self, name))))
        symbols = self.classes if self.symbols is None else read_only(as_column(self.symbols))
        object.__setattr__(self, "symbols", symbols)
        shape = len(self.items), len(self.annotators), len(symbols)
        object.__setattr__(self, "by_item", check_rows(Rows(*self.by_item), shape))
        if symbols is not self.classes or not self.is_plain:
            check_alphabet(self.alphabet, self.responses_per_symbol)
        if self.is_plain:  # one array, so that plain labels are recognised without a comparison
            object.__setattr__(self, "symbols", self.classes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without cached properties; arrays are read-only again after unpickling."""
        return Responses, tuple(getattr(self, one.name) for one in fields(self))

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
        return cls._from_matrix(as_matrix(array), items, annotators, options)

    @classmethod
    def _from_matrix(
        cls,
        matrix: NDArray[Any],
        items: Names | None,
        annotators: Names | None,
        options: LabelOptions,
    ) -> "Responses":
        n_items, n_annotators = matrix.shape
        annotator_names = names_or_numbers(annotators, n_annotators, "annotators")

        def describe(at: int) -> str:
            row, column = divmod(at, n_annotators)
            return f"row {row}, column {list_names(annotator_names[[column]])}"

        symbols, names, remarks = code_labels(matrix.reshape(-1), options, describe)
        columns = np.arange(n_annotators, dtype=annotator_dtype(n_annotators))
        annotator_codes = np.broadcast_to(columns, matrix.shape).reshape(-1)
        present = symbols >= 0
        if present.all():
            counts = np.full(n_items, n_annotators)
        else:
            counts = np.count_nonzero(present.reshape(matrix.shape), axis=1)
            symbols, annotator_codes = symbols[present], annotator_codes[present]
        return cls(
            items=names_or_numbers(items, n_items, "items"),
            annotators=annotator_names,
            classes=names,
            by_item=Rows(row_starts(counts), annotator_codes, symbols),
            remarks=tuple(remarks),
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
        return cls._from_columns([items, annotators, labels], options, repeats)

    @classmethod
    def _from_columns(
        cls,
        values: Sequence[Any],
        options: LabelOptions,
        repeats: Repeats,
        notes: Sequence[str] = (),
    ) -> "Responses":
        """Read the items, the annotators and the labels of a long table."""
        columns = [as_column(frames.values(column)) for column in values]
        check_equal_lengths(dict(zip(("items", "annotators", "labels"), columns, strict=True)))
        labelled = code_labels(columns[2], options, lambda i: f"row {i}")
        item, annotator = code_names(columns[0], "item"), code_names(columns[1], "annotator")
        return cls.from_codes(
            item.codes,
            annotator.codes,
            labelled.codes,
            items=item.names,
            annotators=annotator.names,
            classes=labelled.classes,
            repeats=repeats,
            remarks=[*notes, *labelled.notes, *item.notes, *annotator.notes],
        )

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
        frame = frames.with_index(frame)
        sample, options = frames.FrameSample(frame), ColumnOptions(item, annotator, label)
        if not is_long(sample, options):
            labels = label_options(classes, missing, keep_na, fold_case, abstain=True)
            found = wide_columns(sample, options, gold_column([sample], options.annotators))
            notes = found.notes if len(found.annotators) < len(sample.columns) else []
            return cls._from_wide(frame, found, labels, [*notes, *_gold_note(found.gold)])
        columns = long_columns(sample, options)
        labels = label_options(classes, missing, keep_na, fold_case)
        values = frames.columns(frame, list(columns.values()))
        gold = gold_column([sample], list(columns.values()))
        notes = [*_detection_note(columns, options), *_gold_note(gold)]
        return cls._from_columns(values, labels, repeats, notes)

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
        frame = frames.with_index(frame) if item is not None else frame
        annotators = [name for name in frames.column_names(frame) if name != item]
        labels = label_options(classes, missing, keep_na, fold_case)
        return cls._from_wide(frame, WideColumns(item, annotators, None, []), labels, [])

    @classmethod
    def _from_wide(
        cls, frame: Any, found: WideColumns, options: LabelOptions, notes: Sequence[str]
    ) -> "Responses":
        """Read the given columns of a wide table."""
        names = found.annotators if found.item is None else [found.item, *found.annotators]
        columns = frames.columns(frame, names)
        items = frames.index_values(frame) if found.item is None else as_plain_names(columns.pop(0))
        responses = cls._from_matrix(stack_columns(columns), items, found.annotators, options)
        return replace(responses, remarks=(*notes, *responses.remarks))

    @classmethod
    def from_scores(
        cls,
        items: Any,
        annotators: Values | None = None,
        scores: Values | None = None,
        *,
        classes: Names | int = scores_module.SCORE_CLASSES,
        levels: scores_module.Levels = scores_module.MAX_LEVELS,
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
        if (annotators is None) != (scores is None):
            raise BadParameter(
                "Pass items, annotators and scores as three columns, or one frame or matrix alone."
            )
        options = ColumnOptions(item, annotator, label)
        columns, notes = [items, annotators, scores], list[str]()
        if annotators is None:
            columns, notes = _score_columns(items, options)
        columns = [frames.values(column) for column in columns]
        responses = scores_module.long_scores(cls, columns, classes, levels, repeats)
        return replace(responses, remarks=(*notes, *responses.remarks))

    @classmethod
    def from_probabilities(
        cls,
        array: ArrayLike,
        *,
        levels: int = 2,
        classes: Names | None = None,
        items: Names | None = None,
        annotators: Names | None = None,
        thresholds: ArrayLike | None = None,
    ) -> "Responses":
        """Read ``array[item, annotator, class]`` of probabilities, as ``predict_proba`` returns.

        A symbol is the most probable class with one of ``levels`` levels of confidence, divided at
        quantiles of the annotator's own confidences. Rows of NaN mean no response.

        Parameters
        ----------
        levels
            number of levels of confidence per class; with one, responses are plain labels.
        thresholds ``[annotator, level]``
            confidences at which levels begin, from
            :func:`~blindfuse.responses.symbols.confidence_thresholds`, for new items.
        """
        try:
            shape = np.shape(array)
        except ValueError:  # rows of several lengths, which the reading below refuses
            shape = ()
        names = None
        if len(shape) == 3:
            names = (
                names_or_numbers(items, shape[0], "items"),
                names_or_numbers(annotators, shape[1], "annotators"),
            )
        return symbols_module.probability_responses(cls, array, levels, classes, thresholds, names)

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
        return symbols_module.cluster_responses(plain, classes)

    def with_abstentions(self, annotators: Names | None = None) -> "Responses":
        """Return the responses with "no response" as one more symbol.

        For annotators who had the choice on every item, such as labelling functions: that they do
        not respond says something about the class. ``annotators`` names those who had the choice;
        by default all. Do not use it for sparse crowds, where most annotators never saw the item.
        """
        return symbols_module.add_abstentions(self, annotators)

    def with_anchor(self, classes: Names | int, anchor: ArrayLike | Anchor) -> "Responses":
        """Return the responses with other classes, of which the reported labels are symbols.

        ``anchor[symbol, class]`` are the votes of a symbol for each class, in the order of
        ``self.symbols`` and ``classes``; a row of zeros says nothing, as for "unsure".
        """
        given = anchor if isinstance(anchor, Anchor) else Anchor.by_matrix(anchor)
        return symbols_module.with_alphabet(self, classes, given)

    @classmethod
    def from_codes(
        cls,
        item_codes: NDArray[Any],
        annotator_codes: NDArray[Any],
        symbol_codes: NDArray[Any],
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
        if repeats not in get_args(Repeats):
            raise BadParameter(
                f"repeats={repeats!r} must be one of {list_names(get_args(Repeats))}."
            )
        item_names, annotator_names, class_names = (
            as_names(items),
            as_names(annotators),
            check_classes(classes),
        )
        symbol_names = class_names if symbols is None else check_symbols(symbols)
        item_codes, annotator_codes, symbol_codes = _as_codes_of_equal_length(
            item_codes, annotator_codes, symbol_codes
        )
        present = symbol_codes >= 0
        if not present.all():
            item_codes, annotator_codes = item_codes[present], annotator_codes[present]
            symbol_codes = symbol_codes[present]
        _reject_codes_outside(item_codes, item_names, "item")
        _reject_codes_outside(annotator_codes, annotator_names, "annotator")
        _reject_codes_outside(symbol_codes, symbol_names, "symbol")
        resolved = sort_and_deduplicate(
            item_codes,
            annotator_codes.astype(annotator_dtype(len(annotator_names))),
            symbol_codes.astype(symbol_dtype(len(symbol_names))),
            (len(item_names), len(annotator_names)),
            repeats,
        )
        if resolved.repeated and repeats == "error":
            item = int(np.argmax(np.bincount(item_codes) > np.diff(resolved.starts)))
            responding = annotator_codes[item_codes == item]
            annotator = int(np.argmax(np.bincount(responding) > 1))
            raise BadLabels(
                f"Annotator {list_names(annotator_names[[annotator]])} labelled item "
                f"{list_names(item_names[[item]])} more than once. "
                "Pass repeats='most_frequent', 'last' or 'first' to keep one."
            )
        return cls(
            items=item_names,
            annotators=annotator_names,
            classes=class_names,
            by_item=freeze_rows(*resolved[:3]),
            repeated=resolved.repeated,
            contradictory=resolved.contradictory,
            remarks=tuple(remarks),
            symbols=symbol_names,
            anchor=anchor,
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
    def n_symbols(self) -> int:
        return len(self.symbols)

    @property
    def alphabet(self) -> Alphabet:
        """The classes, the symbols and the anchor between them."""
        return Alphabet(self.classes, self.symbols, self.anchor)

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
        items = np.repeat(np.arange(self.n_items, dtype=item_type), np.diff(starts))
        return freeze_rows(*sort_into_rows(annotators, items, symbols, self.n_annotators))

    @property
    def responses_per_item(self) -> NDArray[np.integer[Any]]:
        """Number of responses to each item, ``[item]``."""
        return np.diff(self.by_item.starts)

    def item_of_response(self) -> NDArray[np.intp]:
        """Return the position of the item of each response, in the order of ``by_item``."""
        return np.repeat(np.arange(self.n_items), self.responses_per_item)

    @cached_property
    def responses_per_annotator(self) -> NDArray[np.integer[Any]]:
        """Number of responses of each annotator, ``[annotator]``."""
        if self.is_complete:
            return read_only(np.full(self.n_annotators, self.n_items))
        return read_only(np.bincount(self.by_item.codes, minlength=self.n_annotators))

    @cached_property
    def responses_per_symbol(self) -> NDArray[np.integer[Any]]:
        """Number of responses that report each symbol, ``[symbol]``."""
        return read_only(np.bincount(self.by_item.symbols, minlength=self.n_symbols))

    def matrix(self) -> NDArray[Any]:
        """Return symbol codes ``[item, annotator]``, −1 if missing."""
        if self.is_complete:
            return self.by_item.symbols.reshape(self.n_items, self.n_annotators)
        matrix = np.full((self.n_items, self.n_annotators), -1, dtype=self.by_item.symbols.dtype)
        matrix[self.item_of_response(), self.by_item.codes] = self.by_item.symbols
        return matrix

    @cached_property
    def packed(self) -> PackedResponses | None:
        """Complete responses, packed for the E-step; None if they are incomplete or too few."""
        return pack(self.matrix(), self.n_symbols) if self.is_complete else None

    def select_items(self, chosen: ArrayLike) -> "Responses":
        """Return the responses to the items at these positions, or in this mask, in this order."""
        places = _as_positions(chosen, self.n_items, "items")
        counts = self.responses_per_item[places]
        first = np.repeat(self.by_item.starts[places] - (np.cumsum(counts) - counts), counts)
        chosen_responses = first + np.arange(counts.sum())
        return self.with_rows(
            self.items[places],
            Rows(
                row_starts(counts),
                self.by_item.codes[chosen_responses],
                self.by_item.symbols[chosen_responses],
            ),
        )

    def with_rows(self, items: NDArray[Any], by_item: Rows) -> "Responses":
        """Return responses to other items in the codes of this table."""
        return Responses(
            items,
            self.annotators,
            self.classes,
            by_item,
            symbols=self.symbols,
            anchor=self.anchor,
        )

    def select_annotators(self, chosen: ArrayLike) -> "Responses":
        """Return the responses of the annotators at these positions, or in this mask."""
        places = _as_positions(chosen, self.n_annotators, "annotators")
        if len(set(places.tolist())) < len(places):
            raise BadParameter("An annotator is selected more than once. Select each one once.")
        return self._recoded(
            places, self.annotators[places], np.arange(self.n_symbols), self.alphabet
        )

    def concatenated(self, *others: "Responses") -> "Responses":
        """Concatenate the items of several tables; items are numbered anew.

        The result has the annotators, symbols and classes of all tables.
        """
        annotators, alphabet = self.annotators, self.alphabet
        for other in others:
            annotators = union(annotators, other.annotators, "annotators")
            alphabet = alphabet.joined(other.alphabet)
        names = annotators, alphabet.classes, alphabet.symbols
        recoded = [table.recoded(*names) for table in (self, *others)]
        tables = [table.by_item for table in recoded]
        counts = np.concatenate([np.diff(table.starts) for table in tables])
        rows = Rows(
            row_starts(counts),
            np.concatenate([table.codes for table in tables]),
            np.concatenate([table.symbols for table in tables]),
        )
        return Responses(
            np.arange(len(counts)),
            annotators,
            alphabet.classes,
            rows,
            symbols=alphabet.symbols,
            anchor=alphabet.anchor,
        )

    def recoded(
        self,
        annotators: NDArray[Any],
        classes: NDArray[Any],
        symbols: NDArray[Any] | None = None,
    ) -> "Responses":
        """Return the same responses, coded by these annotators, classes and symbols.

        Names are matched, so that new items can be compared with a model that has another order.
        All annotators and symbols with responses must be among the given ones; without
        ``symbols``, symbols are the classes.
        """
        symbols = classes if symbols is None else symbols
        given, own = (annotators, classes, symbols), (self.annotators, self.classes, self.symbols)
        if all(one is other for one, other in zip(given, own, strict=True)):
            return self
        plain = symbols is classes and self.is_plain
        annotators, classes = as_names(annotators), check_classes(classes)
        symbols = classes if plain else check_symbols(symbols)
        annotator_at = positions(self.annotators, annotators)
        class_at = positions(self.classes, classes)
        symbol_at = class_at if plain else positions(self.symbols, symbols)
        found = (annotator_at, annotators), (class_at, classes), (symbol_at, symbols)
        if all(_is_identity(places, len(names)) for places, names in found):
            return self
        unknown = (annotator_at < 0) & (self.responses_per_annotator > 0)
        _reject_unknown(self.annotators[unknown], annotators, "annotator")
        unknown = (symbol_at < 0) & (self.responses_per_symbol > 0)
        _reject_unknown(self.symbols[unknown], symbols, "class" if plain else "symbol")
        sources = np.full(len(annotators), -1)
        sources[annotator_at[annotator_at >= 0]] = np.flatnonzero(annotator_at >= 0)
        alphabet = Alphabet.plain(classes)
        if not self.is_plain:
            _reject_unknown(self.classes[class_at < 0], classes, "class")
            old = positions(symbols, self.symbols), positions(classes, self.classes)
            alphabet = Alphabet(classes, symbols, self.anchor.reindexed(*old))
        return self._recoded(sources, annotators, symbol_at, alphabet)

    def _recoded(
        self,
        sources: NDArray[Any],
        annotators: NDArray[Any],
        symbol_at: NDArray[Any],
        alphabet: Alphabet,
    ) -> "Responses":
        """Recode the responses to new annotators and symbols.

        ``sources[new annotator]`` is the position of an annotator here, or −1, and
        ``symbol_at[symbol]`` the new position of a symbol.
        """
        code_of = np.full(self.n_annotators, -1)
        code_of[sources[sources >= 0]] = np.flatnonzero(sources >= 0)
        codes = code_of[self.by_item.codes]
        kept = codes >= 0
        return Responses.from_codes(
            self.item_of_response()[kept],
            codes[kept],
            symbol_at[self.by_item.symbols[kept]],
            items=self.items,
            annotators=annotators,
            classes=alphabet.classes,
            symbols=alphabet.symbols,
            anchor=alphabet.anchor,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that a user should know before fusing them."""
        empty_items = self.items[self.responses_per_item == 0]
        inactive = self.annotators[self.responses_per_annotator == 0]
        unreported = self.symbols[self.responses_per_symbol == 0]
        unreported_kind = "class{es}" if self.is_plain else "symbol{s}"
        counted = [
            *count_note(
                len(empty_items),
                f"item{{s}} without a response, labelled by the prior: {list_names(empty_items)}",
            ),
            *count_note(
                len(inactive), f"annotator{{s}} without a response: {list_names(inactive)}"
            ),
            *count_note(
                len(unreported),
                f"{unreported_kind} that no annotator reported: {list_names(unreported)}",
            ),
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


def as_responses(data: Any, classes: NDArray[Any] | None = None) -> Responses:
    """Convert a table or matrix to Responses.

    Responses are returned unchanged. A frame is read by :meth:`Responses.from_frame`, anything else
    as a matrix with −1 for missing responses.
    """
    if isinstance(data, Responses):
        return data
    if frames.is_frame(data):
        return Responses.from_frame(data, classes=classes)
    return Responses.from_matrix(data, classes=classes)


def _score_columns(data: Any, options: ColumnOptions) -> tuple[list[Any], list[str]]:
    """Return items, annotators and scores of a long or wide frame, or of a matrix, and notes."""
    if frames.is_frame(data):
        frame = frames.with_index(data)
        sample = frames.FrameSample(frame, call=" to Responses.from_scores")
        if is_long(sample, options):
            found = long_columns(sample, options)
            return frames.columns(frame, list(found.values())), _detection_note(found, options)
        wide = wide_columns(sample, options, gold_column([sample], options.annotators))
        names = wide.annotators if wide.item is None else [wide.item, *wide.annotators]
        columns = frames.columns(frame, names)
        items = frames.index_values(frame) if wide.item is None else columns.pop(0)
        matrix, notes = stack_columns(columns), [*wide.notes, *_gold_note(wide.gold)]
        annotators = as_names(wide.annotators)
    else:
        matrix, notes = as_matrix(data), []
        items, annotators = np.arange(len(matrix)), np.arange(matrix.shape[1])
    items = np.arange(len(matrix)) if items is None else items
    cells = [np.repeat(items, matrix.shape[1]), np.tile(annotators, len(matrix))]
    return [*cells, matrix.reshape(-1)], notes


def _detection_note(columns: Mapping[str, str], options: ColumnOptions) -> list[str]:
    """Return a note about columns of other names than the user's or those of their roles."""
    named = (options.item, options.annotator, options.label)
    if all(column in (role, *named) for role, column in columns.items()):
        return []
    found = ", ".join(f"{role} = {column!r}" for role, column in columns.items())
    return [f"read as a long table: {found} (detected)"]


def _gold_note(column: str | None) -> list[str]:
    if column is None:
        return []
    return [f"{column!r} looks like gold labels and is not read: pass them to fuse as gold="]


def label_options(
    classes: Names | None, missing: Any, keep_na: bool, fold_case: bool, abstain: bool = False
) -> LabelOptions:
    """Return what the user says about labels; ``missing`` is one value or several."""
    several = isinstance(missing, list | tuple | set | frozenset)
    markers = tuple(missing) if several else (missing,)
    names = None if classes is None else as_names(classes).tolist()
    both = {name_key(one) for one in markers} & {name_key(name) for name in names or ()} - {None}
    if both:
        raise BadLabels(
            f"{list_names(map(key_value, both))} is both a class and the missing marker. "
            "Pass another value as missing=."
        )
    return LabelOptions(names, markers, keep_na, fold_case, abstain)


def _as_codes_of_equal_length(*columns: Any) -> list[NDArray[Any]]:
    names = ("item_codes", "annotator_codes", "symbol_codes")
    arrays = [as_codes(column, name) for column, name in zip(columns, names, strict=True)]
    if len({len(array) for array in arrays}) > 1:
        lengths = ", ".join(f"{len(array):,}" for array in arrays)
        raise BadLabels(
            f"{', '.join(names)} must have the same length, but have {lengths} entries. "
            "Pass one entry per response."
        )
    return arrays


def _reject_codes_outside(codes: NDArray[Any], names: NDArray[Any], kind: str) -> None:
    if not are_below(codes, len(names)):
        outside = codes[(codes < 0) | (codes >= len(names))]
        raise BadLabels(
            f"There is no {kind} {list_names(outside)}: codes run from 0 to {len(names) - 1:,}. "
            "Number them from zero, and pass a name for each."
        )


def _reject_unknown(unknown: NDArray[Any], known: NDArray[Any], kind: str) -> None:
    if len(unknown):
        raise BadLabels(
            f"Unknown {kind} {list_names(unknown)}: the model knows {list_names(known)}. "
            "Fit again with these responses, or leave them out."
        )


def _is_identity(places: NDArray[np.intp], count: int) -> bool:
    return np.array_equal(places, np.arange(count))


def _as_positions(chosen: ArrayLike, count: int, kind: str) -> NDArray[np.intp]:
    """Convert positions (possibly negative) or a mask to positions from 0."""
    try:
        index = np.atleast_1d(np.asarray(chosen))
        places = np.arange(count)[index if index.size else []]
        if places.ndim == 1:
            return places
        reason = f"the selection has the shape {places.shape}"
    except (IndexError, ValueError) as error:
        reason = str(error)
    raise BadParameter(
        f"These {kind} cannot be selected: {reason}. Pass positions below {count:,}, or a mask."
    )
