"""Code names: text columns as integers, in the order of their first appearance."""

from collections.abc import Mapping
from itertools import count
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse.errors import BadFile
from blindfuse.kernels.tables import factorize_hashes
from blindfuse.readers.tables import Table
from blindfuse.responses.scalars import WHOLE_NUMERAL
from blindfuse.responses.values import TRIMMED, whole_number_note
from blindfuse.typing import Array

_BLOCK_ROWS = 1 << 18

Factor = tuple[NDArray[np.int32], pl.Series]
"""``codes[row]``, and ``values[code]``."""


class NameForm(NamedTuple):
    """Whether all names are whole numbers, and whether some have a decimal point."""

    are_whole: bool = True
    have_points: bool = False

    @classmethod
    def of(cls, names: pl.Series | pl.LazyFrame) -> "NameForm":
        """Describe the names in a series or a column of a frame; empty ones do not count."""
        frame = names.to_frame().lazy() if isinstance(names, pl.Series) else names
        text = pl.all().str.strip_chars(TRIMMED)
        are_whole = text.str.contains(WHOLE_NUMERAL + "|^$").all()
        have_points = text.str.contains(".", literal=True).any().alias("have_points")
        return cls(*frame.select(are_whole, have_points).collect().row(0))

    def joined(self, other: "NameForm") -> "NameForm":
        """Describe the names of two partitions."""
        return NameForm(self.are_whole and other.are_whole, self.have_points or other.have_points)

    @property
    def are_floats(self) -> bool:
        """Whether names are whole numbers, of which some are written as floats."""
        return self.are_whole and self.have_points


def name_forms(
    items: pl.Series | pl.LazyFrame, annotators: pl.Series | pl.LazyFrame
) -> dict[str, NameForm]:
    """Describe the names of items and of annotators."""
    return {"item": NameForm.of(items), "annotator": NameForm.of(annotators)}


def name_notes(forms: Mapping[str, NameForm]) -> list[str]:
    """Return a note for every role whose names are whole numbers written as floats."""
    return [whole_number_note(role) for role, form in forms.items() if form.are_floats]


def plain_name_series(names: pl.Series, form: NameForm | None = None) -> pl.Series:
    """As ``plain_names``, for many names; the same object is returned if nothing changes."""
    plain = names.str.strip_chars(TRIMMED)
    if (form or NameForm.of(names)).are_floats:
        plain = plain_numbers(plain)
    return plain if names.ne_missing(plain).any() else names


Text = TypeVar("Text", pl.Series, pl.Expr)


def plain_numbers(names: Text) -> Text:
    """Return whole numbers without a fraction: ``7`` for ``7.0``; other names unchanged."""
    return names.str.replace(r"^(-?(?:0|[1-9][0-9]*))\.0+$", "$1").str.replace("^-0$", "0")


def code_names(
    table: Table, column: Factor, labels: Array, role: str, forms: Mapping[str, NameForm]
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
            f"{row_name(table, int(np.argmax(nameless)))} has a label but no {role}. "
            "Fill it in or drop the row."
        )
    return code_of_name[codes], names.filter(~is_empty).to_numpy()


def row_name(table: Table, at: int) -> str:
    """Describe a row, for messages; partitions do not know its number."""
    return f"{table.name}, row {at + 1:,}" if table.row_numbers else f"{table.name}: a row"


def factorize(column: pl.Series) -> Factor:
    """Return codes in order of first appearance, and the value of each code.

    Values are compared by their hash. If two distinct values share a hash, all values are hashed
    again with another seed. This takes half the time of Polars (``unique``, then a cast to an
    ``Enum``), with which ``fuse`` of ten million rows of CSV takes 1.2 times as long.
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
