"""Encode text columns as the integer codes of ``Responses``, without a Python step per row."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse.errors import BadFile, list_names
from blindfuse.kernels.hash_codes import factorize_hashes
from blindfuse.kernels.threads import thread_count
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table, is_categorical
from blindfuse.responses.coding import MAX_CLASSES, CodedNames, code_distinct
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.responses import Responses
from blindfuse.responses.set_values import compound_texts
from blindfuse.responses.values import TRIMMED, WHOLE_NUMERAL, LabelOptions, whole_number_note
from blindfuse.typing import Array, Codes

_ROLES = ("item", "annotator", "label")
_BLOCK_ROWS = 1 << 18

Factor = tuple[NDArray[np.int32], pl.Series]
"""``codes[row]``, and ``values[code]``."""


class NameForm(NamedTuple):
    """Whether all names are whole numbers, and whether some have a decimal point."""

    are_whole: bool = True
    have_points: bool = False

    @classmethod
    def of(cls, names: pl.Series) -> "NameForm":
        """Describe these names; empty names do not count."""
        if not _are_whole(names.head(100)):  # saves a look at all names
            return cls(False)
        return cls(_are_whole(names), bool(names.str.contains(".", literal=True).any()))

    def joined(self, other: "NameForm") -> "NameForm":
        """Describe the names of two partitions."""
        return NameForm(self.are_whole and other.are_whole, self.have_points or other.have_points)

    @property
    def are_floats(self) -> bool:
        """Whether names are whole numbers, of which some are written as floats."""
        return self.are_whole and self.have_points


def name_forms(items: pl.Series, annotators: pl.Series) -> dict[str, NameForm]:
    """Describe the names of items and of annotators."""
    return {"item": NameForm.of(items), "annotator": NameForm.of(annotators)}


def _are_whole(names: pl.Series) -> bool:
    return bool(names.str.strip_chars(TRIMMED).str.contains(WHOLE_NUMERAL + "|^$").all())


def encode(
    table: Table,
    parsed: ParsedResponses,
    options: LabelOptions,
    repeats: Repeats,
    forms: Mapping[str, NameForm] | None = None,
) -> tuple[Responses, list[str]]:
    """Return the responses, and notes about the conversion of labels and names.

    ``forms`` describes the items and annotators of the whole file; by default, those of this table.
    """
    columns = [parsed.frame[role] for role in _ROLES]
    with ThreadPoolExecutor(thread_count(None)) as pool:
        item, annotator, label = pool.map(factorize, columns)
    labels, class_names, notes = _encode_labels(table, parsed, label, options)
    if forms is None:
        forms = name_forms(item[1], annotator[1])
        notes = [*notes, *name_notes(forms)]
    items, item_names = encode_names(table, item, labels, "item", forms)
    annotators, annotator_names = encode_names(table, annotator, labels, "annotator", forms)
    responses = Responses.from_codes(
        items,
        annotators,
        labels,
        items=item_names,
        annotators=annotator_names,
        classes=class_names,
        repeats=repeats,
    )
    return responses, notes


def factorize(column: pl.Series) -> Factor:
    """Return codes in order of first appearance, and the value of each code.

    Values are compared by their hash. If two distinct values share a hash, all values are hashed
    again with another seed.
    """
    for seed in count():
        codes, firsts = factorize_hashes(column.hash(seed).to_numpy())
        values = column.gather(firsts)
        if _reproduces(codes, values, column):
            return codes, values
    raise AssertionError("the seeds never end")


def _reproduces(codes: NDArray[np.int32], values: pl.Series, column: pl.Series) -> bool:
    """Return whether ``values[codes]`` equals the column; block by block, to save memory."""
    for start in range(0, len(codes), _BLOCK_ROWS):
        block = values.gather(codes[start : start + _BLOCK_ROWS])
        if block.ne_missing(column.slice(start, _BLOCK_ROWS)).any():
            return False
    return True


def _encode_labels(
    table: Table, parsed: ParsedResponses, label: Factor, options: LabelOptions
) -> CodedNames:
    """Return class codes (−1 for missing), the classes, and notes about missing labels."""
    codes, values = label
    if len(values) > MAX_CLASSES:
        raise BadFile(_too_many_classes(table, parsed, values))

    def counts() -> list[int]:
        return [int(one) for one in count_labels(parsed, label)]

    def where(code: int) -> str:
        return _row(table, int(np.argmax(codes == code)))

    coded = code_distinct(values.to_list(), counts, options, where)
    if not len(coded.names):
        raise BadFile(
            f"{table.name} contains no labels, so there is nothing to fuse. Check the label column."
        )
    return coded._replace(codes=coded.codes[codes])


def count_labels(parsed: ParsedResponses, label: Factor) -> Codes:
    """Return how often each distinct label was reported; rows without annotator do not count."""
    codes, values = label
    annotator = parsed.frame["annotator"]
    if annotator.null_count():
        codes = codes[annotator.is_not_null().to_numpy()]
    return np.bincount(codes, minlength=len(values))


def _too_many_classes(table: Table, parsed: ParsedResponses, values: pl.Series) -> str:
    used = set(parsed.columns.values())
    categorical = [
        column.name for column in table.sample if column.name not in used and is_categorical(column)
    ]
    where = parsed.columns["label"]
    if where not in table.columns:
        hint = f"Name the columns with labels by annotator=; there are {list_names(categorical)}."
    elif categorical:
        hint = f"Did you mean label={categorical[0]!r}?"
    else:
        hint = "Name the label column with label=."
    if len(compound_texts(values.drop_nulls().head(MAX_CLASSES).to_list())) > MAX_CLASSES // 2:
        hint = "They look like several labels per cell: add --multi-label (kind='sets' in Python)."
    examples = list_names(text[:40] for text in values.drop_nulls().head(3))
    return (
        f"{table.name}: {where!r} contains {len(values):,} different labels ({examples}, …), "
        f"but at most {MAX_CLASSES:,} classes are supported. {hint}"
    )


def encode_names(
    table: Table,
    column: Factor,
    labels: Array,
    role: str,
    forms: Mapping[str, NameForm],
) -> tuple[Array, Array]:
    """Return codes (−1 for an empty name) and names. Only missing responses may lack a name."""
    codes, values = column
    names = plain_name_series(values, forms[role])
    if names is not values:
        code_of_name, names = factorize(names)
        codes = code_of_name[codes]
    is_empty = (names.is_null() | (names == "").fill_null(True)).to_numpy()
    if not is_empty.any():
        return codes, names.to_numpy()
    code_of_name = np.where(is_empty, -1, np.cumsum(~is_empty) - 1)
    nameless = (code_of_name[codes] < 0) & (labels >= 0)
    if nameless.any():
        raise BadFile(
            f"{_row(table, int(np.argmax(nameless)))} has a label but no {role}. "
            "Fill it in or drop the row."
        )
    return code_of_name[codes], names.filter(~is_empty).to_numpy()


def _row(table: Table, at: int) -> str:
    """Describe a row, for messages; partitions do not know its number."""
    return f"{table.name}, row {at + 1:,}" if table.row_numbers else f"{table.name}: a row"


def plain_name_series(names: pl.Series, form: NameForm | None = None) -> pl.Series:
    """As ``plain_names``, for many names; the same object is returned if nothing changes."""
    plain = names.str.strip_chars(TRIMMED)
    if (form or NameForm.of(names)).are_floats:
        plain = plain_numbers(plain)
    return plain if names.ne_missing(plain).any() else names


def name_notes(forms: Mapping[str, NameForm]) -> list[str]:
    """Return a note for every role whose names are whole numbers written as floats."""
    return [whole_number_note(role) for role, form in forms.items() if form.are_floats]


Text = TypeVar("Text", pl.Series, pl.Expr)


def plain_numbers(names: Text) -> Text:
    """Return whole numbers without a fraction: ``7`` for ``7.0``; other names unchanged."""
    return names.str.replace(r"^(-?(?:0|[1-9][0-9]*))\.0+$", "$1").str.replace("^-0$", "0")
