"""From the values that users have (text, numbers, booleans) to integer codes, and back."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadLabels, naming

MOST_CLASSES = 1000
"""More classes than this are a column chosen by mistake, not a classification."""

_SMALL_RANGE = 64
_NAN = float("nan")


def smallest_integer(largest: int, *candidates: type[np.signedinteger[Any]]) -> np.dtype[Any]:
    """The first of the candidate types, small to large, that holds ``largest``."""
    return np.dtype(next(kind for kind in candidates if largest <= np.iinfo(kind).max))


def as_values(values: ArrayLike) -> NDArray[Any]:
    """Any sequence as an array, without NumPy's silent conversion of mixed lists."""
    if isinstance(values, np.ma.MaskedArray):
        return np.array(values.tolist(), dtype=object)  # None where masked
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return _tight(np.asarray(values, dtype=object))


def as_column(values: Any) -> NDArray[Any]:
    """Any list as a one-dimensional array: of its values' type if they share one, or of objects."""
    if hasattr(values, "__array__"):
        column = as_values(values)
    elif isinstance(values, str | bytes | Set | Mapping) or not hasattr(values, "__iter__"):
        raise BadLabels(f"{short(values)} is no list: pass names and labels as lists or arrays.")
    else:
        column = _tight(np.fromiter(values, dtype=object))
    if column.ndim != 1:
        raise BadLabels(
            f"Names and labels in a list need one dimension, not an array of shape {column.shape}. "
            "Pass one value each."
        )
    return column


def as_names(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Names as a one-dimensional array that is nobody else's."""
    return as_column(names).copy()


def code_names(values: ArrayLike, kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes and names of items or annotators, in the order in which they first appear.

    Parameters
    ----------
    kind
        ``"item"`` or ``"annotator"``, for the error message.
    """
    array = as_column(values)
    codes, distinct = _factorize(array)
    nameless = [code for code, name in enumerate(distinct) if _is_null(name)]
    if nameless:
        row = int(np.flatnonzero(codes == nameless[0])[0])
        raise BadLabels(f"Row {row} has no {kind}: every label needs one. Fill it in or drop it.")
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
    place: Callable[[int], str],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class codes (−1 for no answer) and classes, sorted unless given.

    Parameters
    ----------
    values
        flat array of labels.
    missing
        the value that stands for "no answer", beside None.
    place
        says where position ``i`` is in the user's table, for error messages.
    """
    if values.dtype.kind in "cmMV":
        raise BadLabels(f"Labels of type {values.dtype} are no classes. Turn them into text.")
    named = None if classes is None else given(classes)
    codes, distinct = _factorize(values)
    keys, unanswered = [key(value) for value in distinct.tolist()], (None, key(missing))
    answered = np.array([k not in unanswered for k in keys], dtype=bool)
    _refuse_unreadable(codes, distinct, answered, named, place)
    names = _sorted_classes(codes, distinct, answered) if named is None else named
    code_of = {key(name): code for code, name in enumerate(names.tolist())}
    table = np.array(
        [code_of.get(k, -2) if there else -1 for k, there in zip(keys, answered, strict=True)],
        dtype=smallest_integer(len(names), np.int8, np.int16),
    )
    unknown = [code for code in np.flatnonzero(table == -2) if np.any(codes == code)]
    if unknown:
        where = place(int(np.flatnonzero(codes == unknown[0])[0]))
        raise BadLabels(
            f"Labels {naming(distinct[unknown])} ({where}) are not among the classes "
            f"{naming(names)}. Add them to classes=, or mark them as missing."
        )
    if np.array_equal(table, np.arange(len(table))) and codes.dtype == table.dtype:
        return codes.copy(), names
    return table[codes], names


def given(classes: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """The classes that a user names, in that order, checked."""
    names = _few_enough(as_names(classes))
    values = [_value(key(name)) for name in names.tolist()]
    if not values:
        raise BadLabels("classes= is empty. Name every class, or leave it out.")
    odd = [value for value in values if not isinstance(value, str | int | float) or value != value]
    if odd:
        raise BadLabels(
            f"classes= holds {naming(odd)}. Name each class by text, a whole number or a boolean."
        )
    again = [value for value, times in Counter(values).items() if times > 1]
    if again:
        raise BadLabels(
            f"classes= names {naming(again)} more than once (True equals 1, False equals 0). "
            "Name each class once."
        )
    return names


def key(value: Any) -> Any:
    """A dictionary key that keeps True, 1 and '1' apart, but not 1 and 1.0, nor NaN and NaN."""
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
            f"{short(value)} is a {type(value).__name__}, which is no label and no name. "
            "Turn it into text, a whole number or a boolean."
        ) from None
    if isinstance(value, float | np.floating):
        if value != value:
            return float, _NAN
        return (int, int(value)) if value.is_integer() else (float, float(value))
    return None if _is_null(value) else (type(value), value)


def positions(names: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp]:
    """Where each name stands among others; −1 for one that is absent."""
    if names is among:
        return np.arange(len(names))
    position = {key(name): at for at, name in enumerate(among.tolist())}
    return np.array([position.get(key(name), -1) for name in names.tolist()], dtype=np.intp)


def union(names: NDArray[Any], more: NDArray[Any], kind: str) -> NDArray[Any]:
    """These names, then those of the others that are not among them.

    Parameters
    ----------
    kind
        ``"annotators"`` or ``"classes"``, for the error message.
    """
    new = more[positions(more, names) < 0]
    if not len(new):
        return names
    if len(names) and _is_text(names[0]) != _is_text(new[0]):
        raise BadLabels(
            f"New {kind} {naming(new)} are of another type than those before, {naming(names)}. "
            "Turn all of them into text, or none."
        )
    return _tight(np.fromiter([*names.tolist(), *new.tolist()], dtype=object))


def _is_text(name: Any) -> bool:
    return isinstance(name, str)


def _value(name_key: Any) -> Any:
    """What a key stands for."""
    return name_key[1] if type(name_key) is tuple else name_key


def _is_null(value: Any) -> bool:
    """Whether this is None, or does not equal itself, as NaN, NaT and pandas' NA do not."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _tight(loose: NDArray[Any]) -> NDArray[Any]:
    """An array of objects as one of numbers or booleans, if its values have one such type."""
    kinds = set(map(type, loose.reshape(-1).tolist()))
    kind = kinds.pop() if len(kinds) == 1 else object
    if not issubclass(kind, np.number | np.bool_) and kind not in (bool, int, float):
        return loose
    try:
        return loose.astype(kind)
    except OverflowError:
        return loose


def _factorize(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes, and the distinct values that they point to: ``distinct[codes]`` gives the values.

    Integers within a small range are their own codes, so that a matrix of codes is not copied;
    there some of ``distinct`` may not occur.
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
    keys = map(key, values.tolist())
    codes = np.fromiter((seen.setdefault(k, len(seen)) for k in keys), np.intp, values.size)
    return codes, np.fromiter(map(_value, seen), dtype=object, count=len(seen))


def _refuse_unreadable(
    codes: NDArray[Any],
    distinct: NDArray[Any],
    answered: NDArray[np.bool_],
    classes: NDArray[Any] | None,
    place: Callable[[int], str],
) -> None:
    """NaN, fractions, negative codes that no class is named for, and what is no plain value."""
    allowed = set() if classes is None else {key(name) for name in classes.tolist()}
    for code in np.flatnonzero(answered):
        value = _value(key(distinct[code]))
        if isinstance(value, str) or key(value) in allowed:
            continue
        if not isinstance(value, int | float):
            rule = f"is a {type(value).__name__}, which is no class: turn it into text"
        elif value != value:
            rule = "is NaN: if that means no answer, pass missing=float('nan')"
        elif isinstance(value, float):
            rule = "is not a whole number: labels are classes, so round it or name it as text"
        elif value < 0:
            rule = (
                f"is negative: if that means no answer, pass missing={value}; "
                "if it is a class, name it in classes="
            )
        else:
            continue
        at = np.flatnonzero(codes == code)
        if at.size:
            raise BadLabels(f"Label {naming([value])} ({place(int(at[0]))}) {rule}.")


def _sorted_classes(
    codes: NDArray[Any], distinct: NDArray[Any], answered: NDArray[np.bool_]
) -> NDArray[Any]:
    """The distinct labels that occur, in the order in which they sort."""
    if distinct.dtype.kind in "iu" and len(distinct) <= _SMALL_RANGE:
        occurs = [np.any(codes == code) for code in range(len(distinct))]
        answered = answered & np.array(occurs, dtype=bool)
    values = [_value(key(value)) for value in distinct[answered].tolist()]
    if not values:
        raise BadLabels("There is no label at all: nothing can be fused. Check the missing marker.")
    try:
        ordered = sorted(values)
    except TypeError:
        ordered = []
    if not ordered or len({isinstance(value, bool) for value in values}) > 1:
        raise BadLabels(
            f"Labels mix types: {naming({type(value): value for value in values}.values())}. "
            "Make them all text, all numbers or all booleans, or give classes=[…] in your order."
        )
    return _few_enough(as_names(ordered))


def _few_enough(names: NDArray[Any]) -> NDArray[Any]:
    if len(names) > MOST_CLASSES:
        raise BadLabels(
            f"{len(names):,} classes ({naming(names, 3)}): at most {MOST_CLASSES:,} are taken. "
            "Is this the label column?"
        )
    return names
