"""Arrow columns of a distributed table: their distinct names, their codes and their responses."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from blindfuse.engines.symbols import Names, SymbolOptions, add_up_scores
from blindfuse.errors import BadLabels, list_names
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import most_likely
from blindfuse.readers.names import NameForm
from blindfuse.responses.coding import MAX_CLASSES, as_column, as_names, code_labels, positions
from blindfuse.responses.recoding import fill_missing
from blindfuse.responses.responses import Responses
from blindfuse.responses.scalars import as_floats
from blindfuse.responses.values import TRIMMED, LabelOptions, LabelRules
from blindfuse.typing import Array, Floats


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
        symbols = _encode(labels, names.alphabet.symbols, "Labels", _convert_labels)
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


def _convert_labels(labels: list[Any], names: Array) -> list[Any]:
    options = LabelOptions(names.tolist())
    return LabelRules(labels, lambda: [0] * len(labels), options).labels


def _encode(
    column: pl.Series,
    names: Array,
    kind: str,
    convert: Callable[[list[Any], Array], list[Any]] = lambda values, _: values,
) -> Array:
    """Return each converted value's position in ``names``, −1 for null; refuse other values."""
    distinct = column.drop_nulls().unique(maintain_order=True)
    values = convert(distinct.to_list(), names)
    codes = positions(as_column(values), names)
    unknown = [at for at in np.flatnonzero(codes < 0) if values[at] is not None]
    if unknown:
        raise BadLabels(
            f"{kind} {list_names(distinct[int(at)] for at in unknown)} are not in the model, which "
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
