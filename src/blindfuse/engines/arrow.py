"""Arrow columns of a distributed table: their distinct names, their codes and their responses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blindfuse.engines.symbols import Names, ScoreSums, SymbolOptions
from blindfuse.errors import BadLabels, list_names, suggest
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import most_likely
from blindfuse.readers.names import NameForm
from blindfuse.responses.coding import MAX_CLASSES, as_column, as_names, code_labels, positions
from blindfuse.responses.numerals import as_floats
from blindfuse.responses.responses import Responses
from blindfuse.responses.symbols import fill_missing
from blindfuse.responses.values import TRIMMED, LabelOptions, LabelRules
from blindfuse.typing import Array, Floats


class Columns(NamedTuple):
    """Names of the columns that hold the item, the annotator and the label of each response."""

    item: str
    annotator: str
    label: str

    def check(self, present: Sequence[str]) -> None:
        """Raise an error if the table lacks one of these columns."""
        for name in self:
            if name not in present:
                raise BadLabels(f"The table has no column {name!r}: {suggest(name, present)}")


@dataclass(frozen=True)
class ColumnSummary:
    """Row count, null counts and distinct values of some rows; the sum describes all of them.

    ``item_form`` and ``annotator_form`` say how numbers among the names are written.
    """

    rows: int
    without_item: int
    without_annotator: int
    annotators: frozenset[Any]
    labels: frozenset[Any]
    scores: ScoreSums
    item_form: NameForm
    annotator_form: NameForm

    @classmethod
    def of(cls, rows: pa.Table, options: SymbolOptions) -> "ColumnSummary":
        """Summarize the columns item, annotator and label."""
        items, annotators, labels = rows.columns
        items, annotators = trim_names(items), trim_names(annotators)
        sums = ScoreSums({})
        if options.scores:
            sums = options.sum_scores(annotators, as_scores(labels))
        return cls(
            rows=len(items),
            without_item=_count_nulls(items),
            without_annotator=_count_nulls(annotators),
            annotators=_distinct_values(annotators),
            labels=frozenset() if options.scores else _distinct_values(labels),
            scores=sums,
            item_form=_name_form(items),
            annotator_form=_name_form(annotators),
        )

    def __add__(self, other: "ColumnSummary") -> "ColumnSummary":
        labels = self.labels
        if len(labels) <= MAX_CLASSES:  # more are rejected anyway, so do not send them
            labels = labels | other.labels
        return ColumnSummary(
            self.rows + other.rows,
            self.without_item + other.without_item,
            self.without_annotator + other.without_annotator,
            self.annotators | other.annotators,
            labels,
            self.scores + other.scores,
            self.item_form.joined(other.item_form),
            self.annotator_form.joined(other.annotator_form),
        )

    def names(self, columns: Columns, options: SymbolOptions) -> Names:
        """Return the annotators, sorted, and the classes: as given, otherwise sorted."""
        _reject_nulls(self.without_item, columns.item, "item")
        _reject_nulls(self.without_annotator, columns.annotator, "annotator")
        _reject_floats(self.item_form, columns.item, "item")
        _reject_floats(self.annotator_form, columns.annotator, "annotator")
        annotators = as_names(_sort_annotators(self.annotators, columns.annotator))
        if options.scores:
            return Names(annotators, options.score_alphabet(self.scores, annotators))
        labels = sorted(self.labels, key=str)
        if len(labels) > MAX_CLASSES:
            raise BadLabels(
                f"Column {columns.label!r} holds more than {MAX_CLASSES:,} different labels "
                f"({list_names(labels[:3])}, …). Is this the label column?"
            )
        location = f"column {columns.label!r}"
        given = LabelOptions(options.reported_classes)
        coded = code_labels(as_column(labels), given, lambda _: location)
        return Names(annotators, options.alphabet(coded.names), options.abstentions)


def as_scores(column: pa.Array) -> Floats:
    """Return the numbers of a column of scores; null is NaN."""
    values = _plain_array(column)
    if pa.types.is_boolean(values.type):
        raise BadLabels("Scores must be numbers, not booleans. Read them as classes instead.")
    return as_floats(as_column(values.to_pylist()), lambda row: f"row {row} of a partition")


def trim_names(column: pa.Array) -> pa.Array:
    """Return names without outer white space; names that consist of nothing else become null."""
    array = _plain_array(column)
    if not _is_text(array):
        return array
    trimmed = pc.utf8_trim(array, TRIMMED)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)


def encode(rows: pa.Table, names: Names) -> pa.Table:
    """Return the rows with codes of annotators and labels, and trimmed names of items."""
    items, annotators, labels = rows.columns
    codes = _encode(trim_names(annotators), names.annotators, lambda values: values, "Annotators")
    symbols = _encode_labels(labels, codes, names).astype(np.int16)
    return pa.table({"item": trim_names(items), "annotator": codes, "label": symbols})


def _encode_labels(
    column: pa.Array, annotators: NDArray[np.int32], names: Names
) -> NDArray[np.int32]:
    """Return each label's symbol code, −1 if it is missing.

    Labels are converted as those of :meth:`blindfuse.Responses.from_long`, and scores as those of
    :meth:`blindfuse.Responses.from_scores`.
    """
    if names.scale is not None:
        codes = names.scale.codes(annotators.astype(np.intp), names.annotators, as_scores(column))
        return codes.astype(np.int32)
    options = LabelOptions(names.reported.tolist())
    return _encode(
        column,
        names.reported,
        lambda values: LabelRules(values, lambda: [0] * len(values), options).labels,
        "Labels",
    )


def _encode(
    column: pa.Array,
    names: Array,
    convert: Callable[[list[Any]], list[Any]],
    kind: str,
) -> NDArray[np.int32]:
    """Return each converted value's position in ``names``, −1 for null; refuse other values."""
    encoded = _plain_array(column).dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    values = convert(distinct)
    codes = np.append(positions(as_column(values), names), -1)
    indices = pc.fill_null(encoded.indices, len(distinct)).to_numpy(zero_copy_only=False)
    used = np.unique(indices[indices < len(distinct)])
    unknown = [at for at in used.tolist() if codes[at] < 0 and values[at] is not None]
    if unknown:
        raise BadLabels(
            f"{kind} {list_names(distinct[at] for at in unknown)} are not in the model, which has "
            f"{list_names(names)}. "
            "Drop those rows, or fit a model on a table that contains them."
        )
    return np.asarray(codes[indices], dtype=np.int32)


def group_by_item(rows: pa.Table, names: Names) -> tuple[pa.Array, Responses]:
    """Return the distinct items of a partition and its responses, with items as row numbers.

    The partition must hold all rows of its items, as codes. Where an annotator labelled an item
    more than once, the most frequent label counts, because rows of a distributed table have no
    order.
    """
    items, annotators, labels = rows.columns
    encoded = _plain_array(items).dictionary_encode()
    _reject_nulls(encoded.null_count, "item", "item")
    responses = Responses.from_codes(
        encoded.indices.to_numpy(zero_copy_only=False),
        annotators.to_numpy(),
        labels.to_numpy(),
        items=np.arange(len(encoded.dictionary)),
        annotators=names.annotators,
        classes=names.alphabet.classes,
        **names.symbol_arguments(),
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


def _is_text(array: pa.Array) -> bool:
    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type))


def _plain_array(column: Any) -> pa.Array:
    """Return one array of plain values: chunks combined and dictionaries decoded."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _count_nulls(column: pa.Array) -> int:
    return int(pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0)


def _distinct_values(column: pa.Array) -> frozenset[Any]:
    """Return the values that occur, without null."""
    return frozenset(pc.unique(_plain_array(column).drop_null()).to_pylist())


def _reject_nulls(count: int, column: str, kind: str) -> None:
    if count:
        raise BadLabels(
            f"{count:,} rows have no {kind}: column {column!r} is null there. "
            "Fill in the missing values or drop those rows."
        )


def _name_form(names: pa.Array) -> NameForm:
    """How trimmed names are written; other types than text are no numerals."""
    if _is_text(names):
        return NameForm.of(pl.Series(pl.from_arrow(names)))
    return NameForm(names.null_count == len(names))


def _reject_floats(form: NameForm, column: str, kind: str) -> None:
    if form.are_floats:
        raise BadLabels(
            f"The {kind}s in column {column!r} are whole numbers as text, some written as 7.0. "
            "Cast the column to integers first."
        )


def _sort_annotators(annotators: frozenset[Any], column: str) -> list[Any]:
    try:
        return sorted(annotators)
    except TypeError:
        raise BadLabels(
            f"Column {column!r} mixes types: "
            f"{list_names({type(name): name for name in annotators}.values())}. "
            "Convert all of its values to strings."
        ) from None
