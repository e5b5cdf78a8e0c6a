"""Conversion of users' values (text, numbers, booleans) to integer codes, and back."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set, Sized
from operator import is_
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, list_names
from blindfuse.kernels.tables import factorize_integers
from blindfuse.responses.markers import labels_of_objects
from blindfuse.responses.scalars import is_null, key_value, name_key
from blindfuse.responses.values import (
    LabelOptions,
    LabelRules,
    plain_names,
    trim,
    whole_number_note,
)
from blindfuse.typing import Array, Codes

MAX_CLASSES = 1000
"""More classes than this mean that the wrong column was chosen."""

_SMALL_RANGE = 64


def smallest_integer_dtype(largest: int, *candidates: type[np.signedinteger[Any]]) -> np.dtype[Any]:
    """Return the first of the candidate types, small to large, that can hold ``largest``."""
    return np.dtype(next(dtype for dtype in candidates if largest <= np.iinfo(dtype).max))


def as_values(values: ArrayLike) -> Array:
    """Convert any sequence to an array, without NumPy's silent conversion of mixed lists."""
    if isinstance(values, np.ma.MaskedArray):
        return np.array(values.tolist(), dtype=object)  # None where masked
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return _narrow(np.asarray(values, dtype=object))


def as_column(values: Any) -> Array:
    """Convert a list to a one-dimensional array, of objects if its values have several types."""
    if hasattr(values, "__array__"):
        column = as_values(values)
    elif isinstance(values, str | bytes | Set | Mapping) or not hasattr(values, "__iter__"):
        raise BadLabels(f"{short(values)} is not a list. Pass names and labels as lists or arrays.")
    else:
        column = _narrow(np.fromiter(values, dtype=object))
    if column.ndim != 1 or column.dtype.kind == "V":
        raise BadLabels(
            "Names and labels must be one column of text, numbers or booleans, not an array of "
            f"shape {column.shape} and type {column.dtype}."
        )
    return column


def as_names(names: Sequence[Any] | Array) -> Array:
    """Copy names into a one-dimensional array."""
    return as_column(names).copy()


def as_plain_names(names: Array) -> Array:
    """Return names without outer white space, and whole numbers without a fraction.

    The same object is returned if nothing changes.
    """
    values = names.tolist()
    if names.dtype.kind not in "OUT" or not all(isinstance(name, str) for name in values):
        return names
    plain = plain_names(values)
    return names if plain == values else np.fromiter(plain, dtype=object, count=len(plain))


def check_equal_lengths(columns: Mapping[str, Sized]) -> None:
    """Raise BadLabels unless all columns have the same length."""
    lengths = [f"{len(column):,}" for column in columns.values()]
    if len(set(lengths)) > 1:
        *first, last = columns
        raise BadLabels(
            f"{', '.join(first)} and {last} must have the same length, but have "
            f"{', '.join(lengths[:-1])} and {lengths[-1]} entries. Pass one entry per response."
        )


class CodedNames(NamedTuple):
    """A column as codes, −1 if missing, with the names and with notes about the conversion.

    Items and annotators are in order of first appearance, classes are sorted unless given.
    """

    codes: Array
    names: Array
    notes: Sequence[str] = ()


def code_names(values: ArrayLike, kind: str, plain: bool = True) -> CodedNames:
    """Return the codes and the names of items or annotators; ``kind`` is the word for one of them.

    ``plain`` says that names are trimmed, and whole numbers of equal value are one name.
    """
    array = as_column(values)
    if array.dtype.kind == "f" and plain and np.all(array == np.floor(array)):
        array = array.astype(np.int64) if np.all(np.abs(array) < 2**53) else array
    if array.dtype.kind in "iu":
        codes, firsts = factorize_integers(array)
        return CodedNames(codes, array[firsts])
    is_text = array.dtype.kind in "OUT"
    codes, distinct = factorize(array) if is_text else _by_appearance(array)
    notes: list[str] = []
    plain_distinct = as_plain_names(distinct) if plain else distinct
    if plain_distinct is not distinct:
        names = distinct.tolist(), plain_distinct.tolist()
        if any(trim(old) != new for old, new in zip(*names, strict=True)):
            notes = [whole_number_note(kind)]
        code_of_name, distinct = factorize(plain_distinct)
        codes = code_of_name[codes]
    empty = ("",) if plain else ()
    nameless = [code for code, name in enumerate(distinct) if is_null(name) or name in empty]
    if nameless:
        row = int(np.flatnonzero(codes == nameless[0])[0])
        raise BadLabels(
            f"Row {row} has no {kind}, but every label needs one. Fill it in or drop the row."
        )
    return CodedNames(codes, distinct, notes)


def _by_appearance(values: Array) -> tuple[Array, Array]:
    """Return codes in order of first appearance, and the distinct values."""
    distinct, firsts, codes = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return np.argsort(order)[codes], distinct[order]


def code_labels(values: Array, options: LabelOptions, describe: Callable[[int], str]) -> CodedNames:
    """Return the class codes of labels, with the classes sorted unless given.

    ``describe`` names a position in the user's table, for error messages.
    """
    if values.dtype.kind in "cmMV":
        raise BadLabels(f"Labels of type {values.dtype} are not supported. Convert them to text.")
    codes, distinct = factorize(values)
    n_times = np.bincount(codes.astype(np.intp, copy=False), minlength=len(distinct)).tolist()
    occurring = [one if n else None for one, n in zip(distinct.tolist(), n_times, strict=True)]

    def where(code: int) -> str | None:
        return describe(int(np.argmax(codes == code))) if n_times[code] else None

    def unclear(fields: Sequence[str]) -> BadLabels:
        return BadLabels(
            f"Labels are objects with the fields {list_names(fields)}, none of which is clearly "
            "the label. Pass one field of them as the labels."
        )

    plain, notes = labels_of_objects(occurring, lambda: n_times, unclear)
    coded = code_distinct(plain, lambda: n_times, options, where)
    if not len(coded.names):
        raise BadLabels(
            "There are no labels, so there is nothing to fuse. Check the missing marker."
        )
    return CodedNames(coded.codes[codes], coded.names, [*notes, *coded.notes])


def code_distinct(
    values: Sequence[Any],
    counts: Callable[[], Sequence[int]],
    options: LabelOptions,
    where: Callable[[int], str | None],
) -> CodedNames:
    """Return the class codes of distinct values; without any label, there are no classes.

    ``counts`` returns how often each value was reported, and ``where`` names the place of the first
    ``values[i]``, None if it does not occur.
    """
    named = None if options.classes is None else check_classes(options.classes)
    if named is None and len(values) > 10 * MAX_CLASSES:  # no rule joins that many
        _check_class_count(as_names([value for value in values if not is_null(value)]))
    rules = LabelRules(values, counts, options)
    _reject_invalid_labels(rules.labels, named, where)
    names = _sorted_classes(rules.labels, options.order) if named is None else named
    code_of = {name_key(name): code for code, name in enumerate(names.tolist())}
    code_of[None] = -1
    codes = [code_of.get(name_key(label), -2) for label in rules.labels]
    unknown = [at for at, code in enumerate(codes) if code == -2 and where(at) is not None]
    if unknown:
        labels = dict.fromkeys(rules.labels[at] for at in unknown)
        raise BadLabels(
            f"Labels {list_names(labels)} ({where(unknown[0])}) are not among the classes "
            f"{list_names(names)}. Add them to classes=, mark them as missing, or read other "
            "spellings of the classes with fold_case=."
        )
    dtype = smallest_integer_dtype(len(names), np.int8, np.int16)
    return CodedNames(np.array(codes, dtype=dtype), names, rules.notes)


def check_classes(classes: Sequence[Any] | Array) -> Array:
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


def positions(names: Array, among: Array) -> Codes:
    """Return the position of each name in ``among``; −1 if it is not there."""
    if names is among or _are_same_objects(names, among):
        return np.arange(len(names))
    position_of = {name_key(name): at for at, name in enumerate(among.tolist())}
    return np.array([position_of.get(name_key(name), -1) for name in names.tolist()], dtype=np.intp)


def _are_same_objects(names: Array, among: Array) -> bool:
    """Whether two arrays hold the same names in the same order; equal values are not compared."""
    if names.shape != among.shape or names.dtype != among.dtype:
        return False
    if names.dtype.kind in "iuUT":
        return np.array_equal(names, among)
    return all(map(is_, names.tolist(), among.tolist()))


def union(names: Array, more: Array, kind: str) -> Array:
    """Return ``names``, followed by the names in ``more`` that are not among them."""
    new = more[positions(more, names) < 0]
    if not len(new):
        return names
    if len(names) and isinstance(names[0], str) != isinstance(new[0], str):
        raise BadLabels(
            f"New {kind} {list_names(new)} have another type than the previous ones, "
            f"{list_names(names)}. Convert all of them to text, or none."
        )
    return _narrow(np.fromiter([*names.tolist(), *new.tolist()], dtype=object))


def _narrow(array: Array) -> Array:
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


def factorize(values: Array) -> tuple[Array, Array]:
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
    keys = values.tolist()
    try:
        kinds = dict.fromkeys(keys)
    except TypeError:  # lists and other values without a hash
        kinds = {}
    if set(map(type, kinds)) != {str}:
        keys = list(map(name_key, keys))
        kinds = dict.fromkeys(keys)
    code_of = {key: code for code, key in enumerate(kinds)}
    codes = np.fromiter(map(code_of.__getitem__, keys), np.intp, values.size)
    return codes, np.fromiter(map(key_value, code_of), dtype=object, count=len(code_of))


def _reject_invalid_labels(
    labels: Sequence[Any], classes: Array | None, where: Callable[[int], str | None]
) -> None:
    """Reject fractions and negative numbers, unless they are classes, and other types."""
    allowed = set() if classes is None else {name_key(name) for name in classes.tolist()}
    for at, label in enumerate(labels):
        value = key_value(name_key(label))
        is_class = isinstance(value, str | None) or name_key(value) in allowed
        if is_class or (isinstance(value, int) and value >= 0):
            continue
        if not isinstance(value, int | float):
            rule = f"is a {type(value).__name__}, which cannot be a class: convert it to text"
        elif isinstance(value, float):
            rule = "is not a whole number: labels are classes, so round it or convert it to text"
        else:
            rule = (
                f"is negative: if it marks a missing response, pass missing={value}; "
                "if it is a class, list it in classes="
            )
        raise BadLabels(f"Label {list_names([value])} ({where(at)}) {rule}.")


def _sorted_classes(labels: Sequence[Any], order: Sequence[Any]) -> Array:
    """Return the distinct labels in this order, if it lists all of them, or else sorted.

    Numbers are sorted by value, so that 10 follows 9.
    """
    values = {name_key(label): label for label in labels if label is not None}
    kinds = {key[0] if type(key) is tuple else str: key_value(key) for key in values}
    places = [name_key(trim(name) if isinstance(name, str) else name) for name in order]
    keys = [key for key in places if key in values]
    if len(keys) < len(values):
        if len(kinds) > 1:
            raise BadLabels(
                f"Labels mix types: {list_names(kinds.values())}. Convert them all to text, "
                "numbers or booleans, or list them in classes=."
            )
        try:
            keys = sorted(values, key=lambda key: (float(key_value(key)), key))
        except (ValueError, OverflowError):
            keys = sorted(values)
    return _check_class_count(as_column([key_value(key) for key in keys]))


def _check_class_count(names: Array) -> Array:
    if len(names) > MAX_CLASSES:
        raise BadLabels(
            f"There are {len(names):,} classes ({list_names(names, 3)}), but at most "
            f"{MAX_CLASSES:,} are supported. Is this the label column?"
        )
    return names
