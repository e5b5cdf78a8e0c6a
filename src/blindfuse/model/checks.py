"""Checks of arrays before they reach kernels, which do not check their indices."""

from typing import Any

import numpy as np

from blindfuse.errors import BadModel
from blindfuse.typing import Array


def check_shape(array: Any, name: str, shape: tuple[int, ...]) -> None:
    """Raise BadModel unless this is an array of real numbers with this shape."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.shape != shape:
        found = (
            f"{array.dtype} of shape {array.shape}"
            if isinstance(array, np.ndarray)
            else f"of type {type(array).__name__}"
        )
        raise BadModel(f"{name} must be an array of numbers of shape {shape}, but it is {found}.")


def matrix_shape(array: Any, name: str) -> tuple[int, int]:
    """Return the shape of a matrix of real numbers; raise BadModel if this is not one."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iuf":
        raise BadModel(f"{name} must be a matrix of numbers, with one row per annotator.")
    return array.shape[0], array.shape[1]


def check_numbers(array: Any, name: str, shape: tuple[int, ...], minimum: float = -np.inf) -> Array:
    """Return a contiguous array of int64 or float64; raise BadModel if a number is not valid.

    All numbers must be finite and at least ``minimum``.
    """
    check_shape(array, name, shape)
    if not np.all(np.isfinite(array)) or not np.all(array >= minimum):
        least = "" if minimum == -np.inf else f" and at least {minimum:g}"
        raise BadModel(f"{name} must be finite{least}, but contains other numbers.")
    exact = np.int64 if array.dtype.kind in "iu" else np.float64
    return np.ascontiguousarray(array, dtype=exact)
