"""Conversion of users' values (text, numbers, booleans) to integer codes, and back."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.keys import is_null, key_value, name_key

MAX_CLASSES = 1000
"""More classes than this mean that the wrong column was chosen."""

_SMALL_RANGE = 64


def smallest_integer_dtype(largest: int, *candidates: type[np.signedinteger[Any]]) -> np.dtype[Any]:
    """Return the first of the candidate types, small to large, that can hold ``largest``."""
    return np.dtype(next(dtype for dtype in candidates if largest <= np.iinfo(dtype).max))


def as_values(values: ArrayLike) -> NDArray[Any]:
    """Convert any sequence to an array, without NumPy's silent conversion of mixed lists."""
    if isinstance(values, np.ma.MaskedArray):
        return np.array(values.tolist(), dtype=object)  # None where masked
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return _narrow(np.asarray(values, dtype=object))


def as_column(values: Any) -> NDArray[Any]:
    """Convert a list to a one-dimensional array, of objects if its values have several types."""
    if hasattr(values, "__array__"):
        column = as_values(values)
    elif isinstance(values, str | bytes | Set | Mapping) or not hasattr(values, "__iter__"):
        raise BadLabels(f"{short(values)} is not a list. Pass names and labels as lists or arrays.")
    else:
        column = _narrow(np.fromiter(values, dtype=object))
    if column.ndim != 1:
        raise BadLabels(
            f"Names and labels must be one-dimensional, but an array has the shape {column.shape}. "
            "Pass a list with one value per entry."
        )
    return column


def as_names(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Copy names into a one-dimensional array."""
    return as_column(names).copy()


def code_names(values: ArrayLike, kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the codes and the names of items or annotators, in order of first appearance.

    Parameters
    ----------
    kind
        ``"item"`` or ``"annotator"``, for error messages.
    """
    array = as_column(values)
    codes, distinct = _factorize(array)
    nameless = [code for code, name in enumerate(distinct) if is_null(name)]
    if nameless:
        row = int(np.flatnonzero(codes == nameless[0])[0])
        raise BadLabels(
            f"Row {row} has no {kind}, but every label needs one. Fill it in or drop the row."
        )
    if array.dtype.kind in "OUT":
        return codes, distinct
    present, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(distinct), dtype=np.intp)
    rank[present[order]] = np.arange(len(present))
    return rank[codes], distinct[present[order]]


def code_labels(
    values: NDArray[Any],
    classes: Sequence[Any] | NDArray[Any] | None,
    missing: Any,
    describe: Callable[[int], str],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return class codes, −1 if missing, and the classes, sorted unless given.

    Parameters
    ----------
    values
        labels, one-dimensional.
    missing
        the value that marks a missing response, in addition to None.
    describe
        describes position ``i`` in the user's table, for error messages.
    """
    if values.dtype.kind in "cmMV":
        raise BadLabels(f"Labels of type {values.dtype} are not supported. Convert them to text.")
    named = None if classes is None else check_classes(classes)
    codes, distinct = _factorize(values)
    keys, missing_keys = [name_key(value) for value in distinct.tolist()], (None, name_key(missing))
    present = np.array([key not in missing_keys for key in keys], dtype=bool)
    _reject_invalid_labels(codes, distinct, present, named, describe)
    names = _sorted_classes(codes, distinct, present) if named is None else named
    code_of = {name_key(name): code for code, name in enumerate(names.tolist())}
    class_codes = np.array(
        [
            code_of.get(key, -2) if is_label else -1
            for key, is_label in zip(keys, present, strict=True)
        ],
        dtype=smallest_integer_dtype(len(names), np.int8, np.int16),
    )
    unknown = [code for code in np.flatnonzero(class_codes == -2) if np.any(codes == code)]
    if unknown:
        where = describe(int(np.flatnonzero(codes == unknown[0])[0]))
        raise BadLabels(
            f"Labels {list_names(distinct[unknown])} ({where}) are not among the classes "
            f"{list_names(names)}. Add them to classes=, or mark them as missing."
        )
    if np.array_equal(class_codes, np.arange(len(class_codes))) and (
        codes.dtype == class_codes.dtype
    ):
        return codes.copy(), names
    return class_codes[codes], names


def check_classes(classes: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return the classes that a user lists, in that order; raise BadLabels if they are invalid."""
    names = _check_class_count(as_names(classes))
    values = [key_value(name_key(name)) for name in names.tolist()]
    if not values:
        raise BadLabels("classes= is empty. List all classes, or leave it out.")
    invalid = [
        value for value in values if not isinstance(value, str | int | float) or value != value
    ]
    if invalid:
        raise BadLabels(
            f"classes= contains {list_names(invalid)}. A class must be text, a whole number or a "
            "boolean."
        )
    repeated = [value for value, times in Counter(values).items() if times > 1]
    if repeated:
        raise BadLabels(
            f"classes= contains {list_names(repeated)} more than once (True equals 1, False equals "
            "0). List each class once."
        )
    return names


def positions(names: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each name in ``among``; −1 if it is not there."""
    if names is among:
        return np.arange(len(names))
    position_of = {name_key(name): at for at, name in enumerate(among.tolist())}
    return np.array([position_of.get(name_key(name), -1) for name in names.tolist()], dtype=np.intp)


def union(names: NDArray[Any], more: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return ``names``, followed by the names in ``more`` that are not among them.

    Parameters
    ----------
    kind
        ``"annotators"`` or ``"classes"``, for error messages.
    """
    new = more[positions(more, names) < 0]
    if not len(new):
        return names
    if len(names) and _is_text(names[0]) != _is_text(new[0]):
        raise BadLabels(
            f"New {kind} {list_names(new)} have another type than the previous ones, "
            f"{list_names(names)}. Convert all of them to text, or none."
        )
    return _narrow(np.fromiter([*names.tolist(), *new.tolist()], dtype=object))


def _is_text(name: Any) -> bool:
    return isinstance(name, str)


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of objects to numbers or booleans, if all values have one such type."""
    types = set(map(type, array.reshape(-1).tolist()))
    value_type = types.pop() if len(types) == 1 else object
    is_numpy = issubclass(value_type, np.number | np.bool_)
    if not is_numpy and value_type not in (bool, int, float):
        return array
    try:
        return array.astype(value_type)
    except OverflowError:
        return array


def _factorize(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return codes and distinct values, so that ``distinct[codes]`` are the values.

    Integers within a small range are their own codes, so that a matrix of codes is not copied.
    In this case ``distinct`` may contain values that do not occur.
    """
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < _SMALL_RANGE:
            codes = values if low == 0 else (values - values.dtype.type(low))
            return codes, np.arange(low, high + 1, dtype=values.dtype)
    if values.dtype.kind not in "OUT":
        distinct, codes = np.unique(values, return_inverse=True)
        return codes, distinct
    seen: dict[Any, int] = {}
    keys = map(name_key, values.tolist())
    codes = np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.intp, values.size)
    return codes, np.fromiter(map(key_value, seen), dtype=object, count=len(seen))


def _reject_invalid_labels(
    codes: NDArray[Any],
    distinct: NDArray[Any],
    present: NDArray[np.bool_],
    classes: NDArray[Any] | None,
    describe: Callable[[int], str],
) -> None:
    """Reject NaN, fractions and negative numbers, unless they are classes, and other types."""
    allowed = set() if classes is None else {name_key(name) for name in classes.tolist()}
    for code in np.flatnonzero(present):
        value = key_value(name_key(distinct[code]))
        if isinstance(value, str) or name_key(value) in allowed:
            continue
        if not isinstance(value, int | float):
            rule = f"is a {type(value).__name__}, which cannot be a class: convert it to text"
        elif value != value:
            rule = "is NaN: if it marks a missing response, pass missing=float('nan')"
        elif isinstance(value, float):
            rule = "is not a whole number: labels are classes, so round it or convert it to text"
        elif value < 0:
            rule = (
                f"is negative: if it marks a missing response, pass missing={value}; "
                "if it is a class, list it in classes="
            )
        else:
            continue
        at = np.flatnonzero(codes == code)
        if at.size:
            raise BadLabels(f"Label {list_names([value])} ({describe(int(at[0]))}) {rule}.")


def _sorted_classes(
    codes: NDArray[Any], distinct: NDArray[Any], present: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return the distinct labels that occur, sorted."""
    if distinct.dtype.kind in "iu" and len(distinct) <= _SMALL_RANGE:
        occurs = [np.any(codes == code) for code in range(len(distinct))]
        present = present & np.array(occurs, dtype=bool)
    values = [key_value(name_key(value)) for value in distinct[present].tolist()]
    if not values:
        raise BadLabels(
            "There are no labels, so there is nothing to fuse. Check the missing marker."
        )
    try:
        ordered = sorted(values)
    except TypeError:
        ordered = []
    if not ordered or len({isinstance(value, bool) for value in values}) > 1:
        raise BadLabels(
            f"Labels mix types: {list_names({type(value): value for value in values}.values())}. "
            "Convert them all to text, numbers or booleans, or list them in classes=[…]."
        )
    return _check_class_count(as_names(ordered))


def _check_class_count(names: NDArray[Any]) -> NDArray[Any]:
    if len(names) > MAX_CLASSES:
        raise BadLabels(
            f"There are {len(names):,} classes ({list_names(names, 3)}), but at most "
            f"{MAX_CLASSES:,} are supported. Is this the label column?"
        )
    return names
