"""Single values of users' tables: nulls, dictionary keys, and numbers as text or as floats."""

import re
from collections.abc import Iterable
from decimal import Decimal
from reprlib import repr as short
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.markers import MISSING_CODES
from blindfuse.typing import Array, Floats

_NAN = float("nan")

NUMERAL = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d+|,0|,00)?|\d\.\d{6,}e[+-]0\d)")
"""A number in decimal notation. Leading zeros and exponents mean text: ``007``, ``1e5``, other than
in the long form of C and NumPy, ``1.000000e+00``. A comma is a decimal sign only in whole numbers
such as ``1,0``: ``1,000`` may be a thousand, and ``1,2`` two labels."""

WHOLE_NUMERAL = r"^-?(?:0|[1-9][0-9]*)(?:\.0+)?$"
"""A whole number, which a program may have written as a float: ``7``, ``7.0``."""

MAX_MAGNITUDE = 1e100
"""Larger numbers are refused, because sums of their squares would overflow."""


def is_null(value: Any) -> bool:
    """Whether this is None, or does not equal itself, like NaN, NaT and pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def name_key(value: Any) -> Any:
    """Return a dictionary key that separates True, 1 and '1', but not 1 and 1.0, nor two NaNs."""
    if type(value) is str or value is None:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    try:
        hash(value)
    except TypeError:
        raise BadLabels(
            f"{short(value)} is a {type(value).__name__}, which cannot be a label or a name. "
            "Convert it to text, a whole number or a boolean."
        ) from None
    if isinstance(value, float | np.floating):
        if value != value:
            return float, _NAN
        return (int, int(value)) if value.is_integer() else (float, float(value))
    return None if is_null(value) else (type(value), value)


def key_value(key: Any) -> Any:
    """Return the value of a name key."""
    return key[1] if type(key) is tuple else key


def is_numeral(label: Any) -> bool:
    """Return whether this is the text of a number in decimal notation."""
    return isinstance(label, str) and NUMERAL.fullmatch(label) is not None


def plain_numeral(text: str) -> str:
    """Return the shortest spelling of a numeral: ``1`` for ``1.0`` and ``1,0``."""
    point = f"{Decimal(text):f}" if "e" in text else text.replace(",", ".")
    shortest = point.rstrip("0").rstrip(".") if "." in point else text
    return "0" if shortest == "-0" else shortest


def plain_if_numeral(text: str) -> str:
    """Return a number in its shortest spelling, and another text as it is."""
    return plain_numeral(text) if is_numeral(text) else text


def plain_number(value: Any) -> int | float:
    """Return a whole number as an integer, and another one as a float."""
    return int(value) if value == int(value) else float(value)


def as_floats(column: Array, describe: Any) -> Floats:
    """Return floats with NaN for missing values; an error describes the first other value.

    A column of floats is returned as it is.
    """
    if column.dtype.kind in "buif":
        numbers = column.astype(np.float64, copy=False)
    else:
        numbers = np.array([_as_float(value) for value in column.tolist()], dtype=np.float64)
        for place in np.flatnonzero(np.isnan(numbers)).tolist():
            if isinstance(column[place], str) or not is_null(column[place]):
                raise BadLabels(
                    f"{list_names([column[place]])} ({describe(place)}) is not a number. Correct "
                    "it, use NaN for a missing rating, or fuse the values as classes with fuse."
                )
    low, high = (f.reduce(numbers, initial=0.0) for f in (np.fmin, np.fmax))  # ignore NaN
    if max(-low, high) > MAX_MAGNITUDE:
        at = int(np.argmax(np.abs(numbers) > MAX_MAGNITUDE))
        raise BadLabels(
            f"{list_names(numbers[[at]])} ({describe(at)}) is not a finite number of at most "
            f"{MAX_MAGNITUDE:g}. Correct it, or use NaN for a missing rating."
        )
    return numbers


def _as_float(value: Any) -> float:
    try:
        return np.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return np.nan


def missing_number_note(numbers: Iterable[float]) -> list[str]:
    """Return a note about ratings that may mark missing ones: −1 or 99 beside 1, 2, …, 5."""
    distinct = {number for number in numbers if number == number}
    others = distinct - MISSING_CODES
    low, high = min(others, default=0), max(others, default=0)
    codes = sorted(
        int(code) for code in distinct & MISSING_CODES if code < 0 <= low or code > 2 * high > 0
    )
    if not codes or len(others) < 2:
        return []
    return [
        f"read as numbers: {list_names(codes)}. If they mark missing ratings, pass --missing "
        f"{codes[0]} (NaN in place of them in Python)"
    ]
