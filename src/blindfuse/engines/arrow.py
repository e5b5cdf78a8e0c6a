"""Columns of labels in Arrow, which both engines can hand over: their names, codes and answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, meant, naming
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import most_likely
from blindfuse.responses.coding import MOST_CLASSES, as_column, as_names, code_labels, positions
from blindfuse.responses.responses import Responses


class Columns(NamedTuple):
    """Which columns of a table hold what."""

    item: str
    annotator: str
    label: str

    def check(self, present: Sequence[str]) -> None:
        """Refuse a table that lacks one."""
        for name in self:
            if name not in present:
                raise BadLabels(f"The table has no column {name!r}: {meant(name, present)}")


class Names(NamedTuple):
    """The annotators and classes of the whole table, in the order of their codes."""

    annotators: NDArray[Any]
    classes: NDArray[Any]


@dataclass(frozen=True)
class Seen:
    """What rows of a table name; that of other rows can be added."""

    rows: int
    without_item: int
    without_annotator: int
    annotators: frozenset[Any]
    labels: frozenset[Any]

    @classmethod
    def of(cls, items: pa.Array, annotators: pa.Array, labels: pa.Array) -> "Seen":
        """Read these columns."""
        return cls(
            len(items), _nulls(items), _nulls(annotators), _distinct(annotators), _distinct(labels)
        )

    def __add__(self, other: "Seen") -> "Seen":
        labels = self.labels
        if len(labels) <= MOST_CLASSES:  # else they are refused, and need not travel
            labels = labels | other.labels
        return Seen(
            self.rows + other.rows,
            self.without_item + other.without_item,
            self.without_annotator + other.without_annotator,
            self.annotators | other.annotators,
            labels,
        )

    def names(self, columns: Columns, classes: Sequence[Any] | None) -> Names:
        """Annotators sorted, and classes as :class:`Responses` has them: sorted, unless given."""
        if not self.rows:
            raise BadLabels("The table is empty: there is no label to learn from.")
        _refuse_nulls(self.without_item, columns.item, "item")
        _refuse_nulls(self.without_annotator, columns.annotator, "annotator")
        labels = sorted(self.labels, key=str)
        if len(labels) > MOST_CLASSES:
            raise BadLabels(
                f"Column {columns.label!r} holds more than {MOST_CLASSES:,} different labels "
                f"({naming(labels[:3])}, …). Is this the label column?"
            )
        place = f"column {columns.label!r}"
        _, class_names = code_labels(as_column(labels), classes, None, lambda _: place)
        return Names(as_names(_in_order(self.annotators, columns.annotator)), class_names)


def codes_of(column: pa.Array, names: NDArray[Any], kind: str) -> NDArray[np.int32]:
    """Where each value stands among the names; −1 for null. Another value is refused."""
    encoded = _whole(column).dictionary_encode()
    distinct = encoded.dictionary
    at = np.append(positions(as_column(distinct.to_pylist()), names), -1)
    own = pc.fill_null(encoded.indices, len(distinct)).to_numpy(zero_copy_only=False)
    used = np.unique(own[own < len(distinct)])
    unknown = used[at[used] < 0]
    if len(unknown):
        values = [distinct[int(code)].as_py() for code in unknown]
        raise BadLabels(f"{kind} {naming(values)} are not in the model, which has {naming(names)}.")
    return np.asarray(at[own], dtype=np.int32)


def gathered(
    items: pa.Array, annotators: NDArray[Any], labels: NDArray[Any], names: Names
) -> tuple[pa.Array, Responses]:
    """The items, and what was answered about each, of rows that hold all answers about them.

    Rows of a distributed table have no order. Where an annotator labelled an item more than once,
    the label that comes last in the order of classes counts.
    """
    encoded = _whole(items).dictionary_encode()
    if encoded.null_count:
        _refuse_nulls(encoded.null_count, "item", "item")
    order = np.argsort(labels, kind="stable")
    responses = Responses.from_codes(
        encoded.indices.to_numpy(zero_copy_only=False)[order],
        annotators[order],
        labels[order],
        items=np.arange(len(encoded.dictionary)),
        annotators=names.annotators,
        classes=names.classes,
    )
    return encoded.dictionary, responses


def hashed(items: pa.Array, responses: Responses) -> Responses:
    """The same answers, with hashes in the place of the items' names: enough to draw a sample."""
    digests = [blake2b(str(item).encode(), digest_size=8).digest() for item in items.to_pylist()]
    return replace(responses, items=np.frombuffer(b"".join(digests), dtype="<u8"))


def labelled(items: pa.Array, responses: Responses, model: Model, rule: Rule) -> pa.Table:
    """Each item with its most probable class, and how probable that is."""
    posteriors = model.posteriors(responses, rule, threads=1)
    classes = pa.array(model.classes.tolist())
    return pa.table(
        {
            "item": items,
            "label": classes.take(pa.array(most_likely(posteriors))),
            "probability": posteriors.max(axis=1, initial=0.0),
        }
    )


def _whole(column: Any) -> pa.Array:
    """One array of plain values, whatever pieces and dictionaries it came in."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _nulls(column: pa.Array) -> int:
    return int(pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0)


def _distinct(column: pa.Array) -> frozenset[Any]:
    """The values that occur, beside null."""
    return frozenset(pc.unique(_whole(column).drop_null()).to_pylist())


def _refuse_nulls(count: int, column: str, kind: str) -> None:
    if count:
        raise BadLabels(
            f"{count:,} rows have no {kind}: column {column!r} is null there. Every label needs "
            "one: fill it in, or drop those rows."
        )


def _in_order(annotators: frozenset[Any], column: str) -> list[Any]:
    try:
        return sorted(annotators)
    except TypeError:
        raise BadLabels(
            f"Column {column!r} mixes types: "
            f"{naming({type(name): name for name in annotators}.values())}. "
            "Turn all of its values into text."
        ) from None
