"""Columns of comparisons as integer codes."""

from typing import Any, NamedTuple

import numpy as np

from blindfuse.responses import frames
from blindfuse.responses.coding import as_column, as_names, code_names
from blindfuse.responses.scalars import key_value, name_key
from blindfuse.typing import Array, Codes


class CodedColumn(NamedTuple):
    """``names[codes]`` are the values of the column; names are distinct."""

    codes: Codes
    names: Array


def code_values(column: Any) -> CodedColumn:
    """Return the codes of values of any kind, missing ones included."""
    array = as_column(frames.values(column))
    if array.dtype.kind in "biuf":
        names, codes = np.unique(array, return_inverse=True)
        return CodedColumn(codes.reshape(-1), names)
    return _text_codes(array) or _key_codes(array)


def code_column(column: Any, kind: str) -> CodedColumn:
    """Return the codes of names; ``kind`` is what they name, for errors about missing names."""
    array = as_column(frames.values(column))
    coded = _text_codes(array) if array.dtype.kind in "OUT" else None
    if coded is None or not all(map(str.strip, coded.names.tolist())):
        codes, names, _ = code_names(array, kind)
        return CodedColumn(codes, names)
    place, names, _ = code_names(coded.names, kind)
    return CodedColumn(place[coded.codes], names)


def code_sides(left: Any, right: Any) -> tuple[Codes, Codes, Array]:
    """Return the codes of the left and the right items, and their names."""
    sides = [code_column(column, "item") for column in (left, right)]
    both = as_names([*sides[0].names.tolist(), *sides[1].names.tolist()])
    place, names, _ = code_names(both, "item")
    place, n_left = place.astype(np.intp), len(sides[0].names)
    return place[:n_left][sides[0].codes], place[n_left:][sides[1].codes], names


def _text_codes(array: Array) -> CodedColumn | None:
    """Return the codes of a column of text, by one dictionary; None if it has other values."""
    values = array.tolist()
    try:
        code_of = dict.fromkeys(values)
    except TypeError:  # unhashable
        return None
    if not all(type(value) is str for value in code_of):
        return None
    code_of = {value: code for code, value in enumerate(code_of)}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.intp, count=len(values))
    return CodedColumn(codes, np.fromiter(code_of, dtype=object, count=len(code_of)))


def _key_codes(array: Array) -> CodedColumn:
    code_of: dict[Any, int] = {}
    keys = map(name_key, array.tolist())
    codes = np.array([code_of.setdefault(key, len(code_of)) for key in keys], dtype=np.intp)
    return CodedColumn(codes, np.fromiter(map(key_value, code_of), object, len(code_of)))
