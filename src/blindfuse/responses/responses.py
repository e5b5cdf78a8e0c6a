"""``Responses``: the symbols that annotators reported for items, as integer codes with names."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, counted
from blindfuse.responses import frames
from blindfuse.responses.alphabet import (
    IDENTITY,
    NO_ANCHOR,
    Alphabet,
    Anchor,
    add_abstentions,
    check_alphabet,
    concatenate,
    recode,
)
from blindfuse.responses.coding import CodedNames, as_column, as_names, check_classes, code_labels
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.inputs import (
    Names,
    Values,
    label_options,
    long_cells,
    matrix_cells,
    read_frame,
    read_wide,
)
from blindfuse.responses.notes import names_note
from blindfuse.responses.rows import Repeats, check_codes, read_only, symbol_dtype
from blindfuse.responses.sanity import sanity_notes
from blindfuse.responses.scores import (
    MAX_LEVELS,
    SCORE_CLASSES,
    Levels,
    ordered_classes,
    read_probabilities,
    read_scores,
)
from blindfuse.responses.table import AnnotationTable, Cells
from blindfuse.responses.values import LabelOptions
from blindfuse.typing import Array, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Responses(AnnotationTable):
    """Responses of M annotators to N items in K classes, sorted by item, then by annotator.

    Create one with :meth:`from_matrix`, :meth:`from_long`, :meth:`from_frame` or :meth:`from_wide`.
    Annotators report one of R symbols. For plain labels these are the classes; they differ for
    :meth:`from_scores`, :meth:`from_probabilities`, :meth:`from_clusters` and
    :meth:`with_abstentions`.

    Attributes
    ----------
    items, annotators, by_item, repeated, contradictory, remarks
        as in :class:`AnnotationTable`.
    classes, symbols
        names of what can be true, and of what annotators can report; the same if not given.
    anchor
        :class:`~blindfuse.responses.alphabet.Anchor`: what the symbols say about the classes.
    probabilities ``[response, class]``
        in the order of ``by_item``, if annotators gave probabilities; the symbol is then the most
        probable class. None for other responses.
    """

    classes: Array = field(kw_only=True)
    symbols: Array = field(kw_only=True, default=None)  # type: ignore[arg-type]  # the classes
    anchor: Anchor = field(kw_only=True, default=IDENTITY)
    probabilities: Floats | None = field(kw_only=True, default=None)

    per_response: ClassVar[tuple[str, ...]] = ("probabilities",)
    without_response: ClassVar[str] = "labelled by the prior"

    def __post_init__(self) -> None:
        classes, symbols = read_only(as_column(self.classes)), self.symbols
        report_classes = symbols is None or symbols is self.classes
        symbols = classes if report_classes else read_only(as_column(symbols))
        check_alphabet(Alphabet(classes, symbols, self.anchor))
        object.__setattr__(self, "classes", classes)
        # one array for plain labels, so that they are recognised without a comparison
        object.__setattr__(self, "symbols", classes if self.is_plain else symbols)
        super().__post_init__()

    # Construction

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
        return cls._of_cells(matrix_cells(array, items, annotators), options)

    @classmethod
    def _of_cells(
        cls, cells: Cells, options: LabelOptions, repeats: Repeats = "most_frequent"
    ) -> "Responses":
        """Create responses of cells with labels."""
        coded = code_labels(cells.values, replace(options, order=cells.order), cells.describe)
        return cls.collect(cells, coded.codes, repeats, coded.notes, classes=coded.names)

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
            the classes, in the order you want; by default the labels that occur, in the order of
            an ordered Categorical or Enum, or else sorted.
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
        cells = long_cells(items, annotators, labels, "labels")
        return cls._of_cells(cells, options, repeats)

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
        named = ColumnOptions(item, annotator, label)
        cells = read_frame(frame, named, "Responses.from_frame", unique=True)
        # −1 may be how labelling functions abstain
        options = label_options(classes, missing, keep_na, fold_case, abstain=cells.is_wide)
        return cls._of_cells(cells, options, repeats)

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
        return cls._of_cells(read_wide(frame, item), options)

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
        item, annotator, label, repeats
            as in :meth:`from_frame`.
        """
        named = ColumnOptions(item, annotator, label)
        return read_scores(cls, (items, annotators, scores), named, classes, levels, repeats)

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
        return read_probabilities(cls, array, classes, items, annotators)

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
        if classes is None:
            raise BadParameter(
                "classes=None: pass the number of classes. blindfuse.fuse_clusters chooses it by "
                "held-out prediction."
            )
        return plain.with_anchor(classes, NO_ANCHOR)

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
        class_names = symbol_names = check_classes(classes)
        if symbols is not None and symbols is not classes:
            symbol_names = check_classes(symbols)
        names = as_names(items), as_names(annotators), symbol_names
        item, annotator, symbol = check_codes((item_codes, annotator_codes, symbol_codes), names)
        values = symbol.astype(symbol_dtype(len(symbol_names)))
        cells = Cells(CodedNames(item, names[0]), CodedNames(annotator, names[1]), values)
        payload = {"classes": class_names, "symbols": symbol_names, "anchor": anchor}
        return cls.collect(cells, values, repeats, remarks, **payload)

    # Sizes and views

    @property
    def alphabet(self) -> Alphabet:
        """The classes, the symbols and the anchor between them."""
        return Alphabet(self.classes, self.symbols, self.anchor)

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

    # Selection and recoding

    def concatenated(self, *others: "Responses") -> "Responses":
        """Concatenate the items of tables, numbered anew, with all their annotators and symbols."""
        return concatenate([self, *others])

    def recoded(
        self, annotators: Array, classes: Array, symbols: Array | None = None
    ) -> "Responses":
        """Return the same responses, coded by these annotators, classes and symbols.

        Names are matched, so that new items can be compared with a model that has another order.
        All annotators and symbols with responses must be among the given ones; without
        ``symbols``, symbols are the classes.
        """
        return recode(self, annotators, classes, symbols)

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
        return replace(self, classes=ordered_classes(classes), anchor=given)

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that a user should know before fusing them."""
        return (*super().notes, *sanity_notes(self))

    def _unreported(self) -> list[str]:
        kind = "class{es}" if self.is_plain else "symbol{s}"
        unreported = self.symbols[self.responses_per_symbol == 0]
        return names_note(unreported, f"{kind} that no annotator reported")

    def _sizes(self) -> tuple[str, str]:
        symbols = "" if self.is_plain else f"{self.n_symbols:,} symbols, "
        return f"{counted(self.n_classes, 'class')}, {symbols}", ""


def as_responses(
    data: Any, classes: Array | None = None, annotators: Array | None = None
) -> Responses:
    """Convert a frame, or a matrix with −1 for missing responses; Responses stay as they are.

    If ``annotators`` are given, a matrix must have a column for each of them.
    """
    if isinstance(data, Responses):
        return data
    if frames.is_frame(data):
        return Responses.from_frame(data, classes=classes)
    table = Responses.from_matrix(data, classes=classes)
    if annotators is not None and table.n_annotators != len(annotators):
        raise BadLabels(
            f"The matrix has {counted(table.n_annotators, 'column')}, but there were "
            f"{counted(len(annotators), 'annotator')}. Pass one column per annotator, in order, "
            "−1 where a response is missing, or a frame that names its columns."
        )
    return table
