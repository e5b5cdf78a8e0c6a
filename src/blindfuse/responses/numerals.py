"""Conversion of a column of numbers to floats, with errors that say where other values are."""

from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.typing import Array, Floats

MAX_MAGNITUDE = 1e100
"""Larger numbers are refused, because sums of their squares would overflow."""


def as_floats(column: Array, describe: Any) -> Floats:
    """Return floats with NaN for missing values; an error describes the first other value.

    A column of floats is returned as it is.
    """
    if column.dtype.kind in "buif":
        numbers = column.astype(np.float64, copy=False)
    else:
        numbers = np.array([_as_float(value) for value in column.tolist()], dtype=np.float64)
        for place in np.flatnonzero(np.isnan(numbers)).tolist():
            if not _is_missing(column[place]):
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


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return False
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA
        return True
