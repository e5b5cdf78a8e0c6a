"""Dictionary keys for the values of users' tables, and null values."""

from reprlib import repr as short
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels

_NAN = float("nan")


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


def is_null(value: Any) -> bool:
    """Whether this is None, or does not equal itself, like NaN, NaT and pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
