"""The columns of a distributed table: what labels stand for, names, codes and responses.

Labels are classes, scores, abstentions or clusters. The functions work on the rows of a partition,
as Arrow tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
import pyarrow as pa
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import most_likely
from blindfuse.readers.encoding import plain_labels_by
from blindfuse.readers.names import NameForm
from blindfuse.responses.alphabet import NO_RESPONSE, Alphabet, Anchor, ScoreScale, fill_missing
from blindfuse.responses.coding import (
    MAX_CLASSES,
    as_column,
    as_names,
    check_classes,
    code_labels,
    positions,
)
from blindfuse.responses.responses import Responses
from blindfuse.responses.scalars import as_floats
from blindfuse.responses.scores import (
    MAX_LEVELS,
    SCORE_CLASSES,
    Levels,
    check_edges,
    ordered_classes,
    score_levels,
)
from blindfuse.responses.values import TRIMMED, LabelOptions
from blindfuse.typing import Array, Floats

AnchorOption = ArrayLike | Literal["none"] | None

MAX_SCORES = 100_000
"""Different scores of annotators that the driver collects to find levels."""


@dataclass(frozen=True, eq=False)
class Names:
    """The annotators, classes and symbols of the whole table, in the order of their codes.

    ``abstentions`` says that responses that are missing become a symbol. The alphabet is then the
    one without it.
    """

    annotators: Array
    alphabet: Alphabet
    abstentions: bool = False

    @classmethod
    def of_model(cls, model: Model) -> "Names":
        """Return the names that a model knows; prediction needs no anchor."""
        is_label = np.array([symbol != NO_RESPONSE for symbol in model.symbols.tolist()])
        symbols, anchor = model.symbols[is_label], Anchor("none")
        if model.scale is not None:
            anchor = Anchor.by_order(np.arange(len(symbols)), model.scale)
        alphabet = Alphabet(model.classes, symbols, anchor)
        if np.array_equal(positions(symbols, model.classes), np.arange(len(model.classes))):
            alphabet = Alphabet.plain(model.classes)
        return cls(model.annotators, alphabet, not is_label.all())

    @property
    def scale(self) -> ScoreScale | None:
        """Where levels of scores begin, if scores are divided into levels."""
        return self.alphabet.anchor.scale

    @property
    def fitted(self) -> Alphabet:
        """The alphabet of the responses, "no response" included."""
        return self.alphabet.with_no_response() if self.abstentions else self.alphabet


@dataclass(frozen=True, eq=False)
class SymbolOptions:
    """What the caller says about labels: the options of :func:`~blindfuse.engines.fitting.fit`.

    Edges between ``levels`` become a scale.
    """

    classes: Sequence[Any] | int | None = None
    scores: bool = False
    levels: Levels = MAX_LEVELS
    abstentions: bool = False
    anchor: AnchorOption = None

    def __post_init__(self) -> None:
        if self.scores and (self.abstentions or self.anchor is not None):
            raise BadParameter(
                "scores=True and abstentions= or anchor= exclude each other. Pass one of them."
            )
        if self.anchor is not None and self.classes is None:
            raise BadParameter("anchor= needs classes=, the classes that symbols speak for.")
        if isinstance(self.anchor, str) and self.anchor != "none":
            raise BadParameter(f"anchor={self.anchor!r} must be a matrix or 'none'.")
        if not isinstance(self.levels, ScoreScale | None) and np.ndim(self.levels):
            object.__setattr__(self, "levels", ScoreScale(check_edges(self.levels)[None]))

    @property
    def reported_classes(self) -> list[Any] | None:
        """The labels that can occur, if the caller named them."""
        named = self.classes is not None and self.anchor is None
        return list(check_classes(self.classes)) if named else None  # type: ignore[arg-type]

    def alphabet(self, labels: Array) -> Alphabet:
        """Return the alphabet of these labels, which are classes unless there is an anchor."""
        if self.anchor is None:
            return Alphabet.plain(labels)
        anchor = Anchor("none") if isinstance(self.anchor, str) else Anchor.by_matrix(self.anchor)
        return Alphabet(ordered_classes(self.classes), labels, anchor)

    def count_scores(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Count and sum the scores per annotator, and per score or given level (``key``)."""
        rows = rows.drop_nulls(["annotator", "score"])
        if isinstance(self.levels, ScoreScale):
            names = as_column(rows["annotator"].unique().to_list())
            codes = positions(as_column(rows["annotator"].to_list()), names)
            keys = self.levels.codes(codes, names, rows["score"].to_numpy())
            rows = rows.with_columns(key=keys.astype(np.float64))
        else:
            rows = rows.with_columns(key="score")
        return add_up_scores(
            rows.select("annotator", "key", total="score", count=pl.lit(1, pl.Int64))
        )

    def score_alphabet(self, sums: pl.DataFrame, annotators: Array) -> Alphabet:
        """Return the alphabet of levels of the scores; the mean stands for those of a given one."""
        if len(sums) > MAX_SCORES:
            raise BadLabels(
                f"There are more than {MAX_SCORES:,} different scores. Pass the edges between "
                "levels, such as levels=[2.5, 5, 7.5], or round the scores."
            )
        codes = positions(as_column(sums["annotator"].to_list()), annotators)
        by_level = isinstance(self.levels, ScoreScale)
        scores = sums["total"] / sums["count"] if by_level else sums["key"]
        order = np.lexsort((scores, codes))
        columns = codes[order], scores.to_numpy()[order], sums["count"].to_numpy()[order]
        symbols, anchor, _ = score_levels(*columns, annotators, self.levels)
        classes = ordered_classes(SCORE_CLASSES if self.classes is None else self.classes)
        return Alphabet(classes, np.asarray(check_classes(symbols)), anchor)


def add_up_scores(*sums: pl.DataFrame) -> pl.DataFrame:
    """Add up counts and sums of the same keys; of too many keys, only as many as show that."""
    groups = pl.concat(sums).group_by("annotator", "key", maintain_order=True)
    return groups.agg(pl.sum("total", "count")).head(MAX_SCORES + 1)


class Columns(NamedTuple):
    """Names of the columns that hold the item, the annotator and the label of each response."""

    item: str
    annotator: str
    label: str


@dataclass(frozen=True)
class NameColumn:
    """How many names of a column are null, and how numbers among them are written."""

    nulls: int
    form: NameForm

    @classmethod
    def of(cls, names: pl.Series) -> "NameColumn":
        """Describe trimmed names; other types than text are no numerals."""
        is_text = names.dtype == pl.String
        form = NameForm.of(names) if is_text else NameForm(names.null_count() == len(names))
        return cls(names.null_count(), form)

    def __add__(self, other: "NameColumn") -> "NameColumn":
        return NameColumn(self.nulls + other.nulls, self.form.joined(other.form))

    def check(self, column: str, kind: str) -> None:
        """Raise an error if a name is missing, or if one number may have two names."""
        if self.nulls:
            raise BadLabels(
                f"{self.nulls:,} rows have no {kind}: column {column!r} is null there. "
                "Fill in the missing values or drop those rows."
            )
        if self.form.are_floats:
            raise BadLabels(
                f"The {kind}s in column {column!r} are whole numbers as text, some written as 7.0. "
                "Cast the column to integers first."
            )


@dataclass(frozen=True)
class ColumnSummary:
    """Row count, nulls and distinct values of some rows; the sum describes all of them.

    ``labels`` are distinct labels, or counts and sums of scores.
    """

    rows: int
    item: NameColumn
    annotator: NameColumn
    annotators: frozenset[Any]
    labels: Any

    @classmethod
    def of(cls, rows: pa.Table, options: SymbolOptions) -> "ColumnSummary":
        """Summarize the columns item, annotator and label."""
        frame = read_rows(rows)
        items, annotators, labels = frame
        if options.scores:
            scored = frame.with_columns(score=pl.Series(as_scores(labels), nan_to_null=True))
            values: Any = options.count_scores(scored)
        else:
            values = _distinct_values(labels)
        columns = NameColumn.of(items), NameColumn.of(annotators)
        return cls(len(frame), *columns, _distinct_values(annotators), values)

    def __add__(self, other: "ColumnSummary") -> "ColumnSummary":
        labels = self.labels
        if isinstance(labels, pl.DataFrame):
            labels = add_up_scores(labels, other.labels)
        elif len(labels) <= MAX_CLASSES:  # more are rejected anyway, so do not send them
            labels = labels | other.labels
        return ColumnSummary(
            self.rows + other.rows,
            self.item + other.item,
            self.annotator + other.annotator,
            self.annotators | other.annotators,
            labels,
        )

    def names(self, columns: Columns, options: SymbolOptions) -> Names:
        """Return the annotators, sorted, and the classes: as given, otherwise sorted."""
        self.item.check(columns.item, "item")
        self.annotator.check(columns.annotator, "annotator")
        annotators = as_names(sorted(self.annotators, key=lambda name: (str(type(name)), name)))
        if options.scores:
            return Names(annotators, options.score_alphabet(self.labels, annotators))
        labels = as_column(sorted(self.labels, key=str))
        location = f"column {columns.label!r}"
        coded = code_labels(labels, LabelOptions(options.reported_classes), lambda _: location)
        return Names(annotators, options.alphabet(coded.names), options.abstentions)


def read_rows(rows: pa.Table) -> pl.DataFrame:
    """Return the columns of a partition without categories and NaN.

    Names lose outer white space; those that consist of nothing else become null.
    """
    frame = pl.DataFrame(pl.from_arrow(rows))
    text = cs.string() & cs.by_name("item", "annotator", require_all=False)
    return frame.with_columns(
        cs.categorical().cast(pl.String), cs.float().fill_nan(None)
    ).with_columns(text.str.strip_chars(TRIMMED).replace("", None))


def as_scores(column: pl.Series) -> Floats:
    """Return the numbers of a column of scores; null is NaN."""
    if column.dtype == pl.Boolean:
        raise BadLabels("Scores must be numbers, not booleans. Read them as classes instead.")
    return as_floats(as_column(column.to_list()), lambda row: f"row {row} of a partition")


def encode(rows: pa.Table, names: Names) -> pa.Table:
    """Return the rows with codes of annotators and labels, and trimmed names of items.

    Labels are converted as those of :meth:`blindfuse.Responses.from_long`, and scores as those of
    :meth:`blindfuse.Responses.from_scores`; −1 is a missing label.
    """
    items, annotators, labels = read_rows(rows)
    codes = _encode(annotators, names.annotators, "Annotators")
    if names.scale is None:
        convert = plain_labels_by(LabelOptions(names.alphabet.symbols.tolist()))
        symbols = _encode(labels, names.alphabet.symbols, "Labels", convert)
    else:
        symbols = names.scale.codes(codes, names.annotators, as_scores(labels))
    item_type = rows.schema.field("item").type
    item_type = item_type.value_type if pa.types.is_dictionary(item_type) else item_type
    return pa.table(
        {
            "item": items.to_arrow().cast(item_type),
            "annotator": codes.astype(np.int32),
            "label": symbols.astype(np.int16),
        }
    )


def _encode(
    column: pl.Series,
    names: Array,
    kind: str,
    convert: Callable[[Sequence[Any]], Sequence[Any]] = lambda values: values,
) -> Array:
    """Return each converted value's position in ``names``, −1 for null; refuse other values."""
    distinct = column.drop_nulls().unique(maintain_order=True)
    values = convert(distinct.to_list())
    codes = positions(as_column(values), names)
    unknown = [at for at in np.flatnonzero(codes < 0).tolist() if values[at] is not None]
    if unknown:
        raise BadLabels(
            f"{kind} {list_names(distinct[at] for at in unknown)} are not in the model, which "
            f"has {list_names(names)}. "
            "Drop those rows, or fit a model on a table that contains them."
        )
    encoded = column.replace_strict(distinct, codes, default=-1, return_dtype=pl.Int64)
    return encoded.to_numpy()


def group_by_item(rows: pa.Table, names: Names) -> tuple[pa.Array, Responses]:
    """Return the distinct items of a partition and its responses, with items as row numbers.

    The partition must hold all rows of its items, as codes. Where an annotator labelled an item
    more than once, the most frequent label counts, because rows of a distributed table have no
    order.
    """
    items, annotators, labels = (column.combine_chunks() for column in rows.columns)
    if pa.types.is_dictionary(items.type):
        items = items.dictionary_decode()  # a categorical column may hold items of other partitions
    encoded = items.dictionary_encode()
    NameColumn(encoded.null_count, NameForm()).check("item", "item")
    responses = Responses.from_codes(
        encoded.indices.to_numpy(),
        annotators.to_numpy(),
        labels.to_numpy(),
        items=np.arange(len(encoded.dictionary)),
        annotators=names.annotators,
        **names.alphabet._asdict(),
    )
    if names.abstentions:
        responses = fill_missing(responses, np.arange(responses.n_annotators))
    return encoded.dictionary, responses


def to_responses(rows: pa.Table, names: Names) -> Responses:
    """Return the responses of a partition, with 64-bit hashes as item names.

    They are enough to draw a sample that does not depend on the partitions.
    """
    items, responses = group_by_item(rows, names)
    digests = [blake2b(str(item).encode(), digest_size=8).digest() for item in items.to_pylist()]
    return replace(responses, items=np.frombuffer(b"".join(digests), dtype="<u8"))


def label_items(rows: pa.Table, names: Names, model: Model, rule: Rule) -> pa.Table:
    """Return the most probable class of each item of a partition and its posterior probability."""
    items, responses = group_by_item(rows, names)
    posteriors = model.posteriors(responses, rule, threads=1)
    classes = pa.array(model.classes.tolist())
    return pa.table(
        {
            "item": items,
            "label": classes.take(pa.array(most_likely(posteriors))),
            "probability": posteriors.max(axis=1, initial=0.0),
        }
    )


def _distinct_values(column: pl.Series) -> frozenset[Any]:
    """Return the values that occur, without null."""
    return frozenset(column.drop_nulls().unique().to_list())
