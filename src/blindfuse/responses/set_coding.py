"""Sets of classes: how users write them (lists, texts, ticks), and their codes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses.coding import code_distinct, factorize
from blindfuse.responses.markers import is_missing_marker, parse_literal, truth_value
from blindfuse.responses.notes import count_note
from blindfuse.responses.scalars import is_null, name_key
from blindfuse.responses.values import LabelOptions, trim
from blindfuse.typing import Array, Codes, Flags

Members = Flags

# Parsing

_SEPARATORS = ("|", ";", ",")
"""What may separate the classes in one text, the likeliest first."""
_MANY_WORDS = 4
"""Words that the name of a class has at most."""
_BRACES = re.compile(r"\{[^{}:'\[\]]+\}")
"""An array of PostgreSQL: ``{cat,dog}``."""


def choose_separator(values: Iterable[Any], separator: str | None) -> str | None:
    """Return the given separator, or the first of _SEPARATORS that occurs in a text, or None.

    Texts that are lists or objects do not count.
    """
    if separator is not None:
        if not separator:
            raise BadParameter("separator='' cannot separate classes. Pass a character such as |.")
        return separator
    texts = [value for value in values if isinstance(value, str) and _parse_list(value) is None]
    return next((one for one in _SEPARATORS if any(one in text for text in texts)), None)


def parse_set(value: Any, separator: str | None, whole: Set[Any] = frozenset()) -> list[Any] | None:
    """Return the classes that a value names, in its order; None if the value is missing.

    A value is a list, a tuple, a set, an array, an object ``{class: true}``, or a text: a list as
    JSON or Python writes it, or classes between separators. An empty text is the empty set. Texts
    in ``whole``, such as given classes that contain the separator, are one class.
    """
    if isinstance(value, str):
        value = _parse_text(trim(value), separator, whole)
    if isinstance(value, Mapping):
        return _ticked(value)
    if isinstance(value, np.ndarray | Sequence | Set) and not isinstance(value, bytes):
        return [one for one in list(value) if not is_null(one)]
    if is_null(value):
        return None
    raise BadLabels(
        f"{short(value)} is not a set. Pass a list, a tuple, a set or a text such as 'a|b', empty "
        "if no class applies, or None if the response is missing."
    )


def set_key(value: Any) -> Any:
    """Return a dictionary key that is equal for values that name the same classes alike."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return name_key(value)
    if isinstance(value, Mapping):
        return "object", tuple((name_key(key), name_key(one)) for key, one in value.items())
    if isinstance(value, Set):
        return "set", frozenset(map(name_key, value))
    return "list", tuple(map(name_key, list(value)))


def compound_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts that name several classes: lists, and texts whose parts all recur.

    A part recurs if it is a text of its own, or a part of another text. Sentences have parts as
    well, so that parts of many words do not count.
    """
    found = [text for text in texts if isinstance(_parse_list(text), list | tuple)]
    whole = set(texts)
    for separator in _SEPARATORS:
        parts = {
            text: [trim(part) for part in text.split(separator)]
            for text in texts
            if separator in text
        }
        times = Counter(part for names in parts.values() for part in set(names))
        found += [
            text
            for text, names in parts.items()
            if all(
                0 < len(name.split()) <= _MANY_WORDS and (name in whole or times[name] > 1)
                for name in names
            )
        ]
    return list(dict.fromkeys(found))


def _parse_text(
    plain: str, separator: str | None, whole: Set[Any]
) -> Sequence[Any] | Mapping[Any, Any]:
    """Return the list or object that a text holds, or its parts."""
    listed = None if plain in whole else _parse_list(plain)
    if listed is not None:
        return listed
    if _BRACES.fullmatch(plain):
        return [trim(part).strip('"') for part in plain[1:-1].split(",")]
    parts = plain.split(separator) if separator and plain not in whole else [plain]
    return [part for part in map(trim, parts) if part]


def _parse_list(text: str) -> Sequence[Any] | Mapping[Any, Any] | None:
    """Return the list or object that a text holds, or None if it is another text."""
    plain = trim(text)
    if plain in ("set()", "frozenset()"):
        return []
    if plain[:1] not in ("[", "{", "(") or plain[-1:] not in ("]", "}", ")"):
        return None
    value = parse_literal(plain)
    if isinstance(value, Set):
        return sorted(value, key=str)
    if isinstance(value, list) and all(map(_names_label, value)):
        value = [next(iter(one.values())) if len(one) == 1 else one["label"] for one in value]
    is_flat = isinstance(value, list | tuple | dict) and not any(
        isinstance(one, list | tuple | dict | set) for one in value
    )
    return value if is_flat else None


def _names_label(value: Any) -> bool:
    """Return whether this is an object with one field, or with a label."""
    return isinstance(value, dict) and (len(value) == 1 or "label" in value)


def _ticked(ticks: Mapping[Any, Any]) -> list[Any] | None:
    """Return the keys of an object whose values are true; None if no value is 0 or 1."""
    unclear = [key for key, value in ticks.items() if value not in (0, 1, None)]
    if unclear:
        raise BadLabels(
            f"{short(ticks[unclear[0]])} does not say whether class {list_names(unclear[:1])} "
            "applies. Use 0 and 1, or true and false, or nothing if it is missing."
        )
    if ticks and all(value is None for value in ticks.values()):
        return None
    return [key for key, value in ticks.items() if value]


def tick(cell: Any) -> Any:
    """Return whether a cell of a column of ticks is one; None if it is missing, else the cell."""
    text = str(cell).strip()
    if not text or is_null(cell) or is_missing_marker(text) or is_missing_marker(text.upper()):
        return None
    value = True if text in ("x", "X") else truth_value(text)
    return cell if value is None else value


# Coding


class CodedSets(NamedTuple):
    """Codes of distinct sets, −1 if missing; the classes; ``members[set, class]``; and notes."""

    codes: Codes
    classes: Array
    members: Members
    notes: list[str]


def code_sets(
    values: Sequence[Any],
    options: LabelOptions,
    separator: str | None,
    describe: Callable[[int], str],
    name_of: Callable[[Any], Any] = lambda member: member,
) -> CodedSets:
    """Return the codes of sets, with the classes sorted unless given.

    Each distinct value is read once. A value that only names missing markers is missing; next to a
    class, they are left out. ``describe`` names a row, for error messages, and ``name_of`` converts
    the members of lists.
    """
    rows, _ = factorize(np.fromiter(map(set_key, values), dtype=object, count=len(values)))
    firsts = np.unique(rows, return_index=True)[1].tolist()
    counts = np.bincount(rows, minlength=len(firsts))
    used = choose_separator([values[row] for row in firsts], separator)
    whole = {name for name in options.classes or () if isinstance(name, str)}
    lists: list[list[Any] | None] = []
    names: dict[Any, tuple[Any, int]] = {}  # with the row of the first mention
    times: Counter[Any] = Counter()
    for row, count in zip(firsts, counts.tolist(), strict=True):
        try:
            members = parse_set(values[row], used, whole)
        except BadLabels as error:
            raise BadLabels(f"{describe(row)}: {error}") from None
        named = [(name_key(name), name) for name in map(name_of, members or ())]
        for key, name in named:
            names.setdefault(key, (name, row))
            times[key] += count
        lists.append(None if members is None else [key for key, _ in named])
    coded = code_distinct(
        [name for name, _ in names.values()],
        lambda: list(times.values()),
        options,
        lambda code: describe(list(names.values())[code][1]),
    )
    if not len(coded.names):
        raise BadLabels(
            "No response names a class, so there is nothing to fuse. Check the label column, or "
            "list the classes."
        )
    class_of = dict(zip(names, coded.codes.tolist(), strict=True))
    table = np.zeros((len(lists), len(coded.names)), dtype=bool)
    missing, twice = np.zeros((2, len(lists)), dtype=bool)
    for at, keys in enumerate(lists):
        classes = [code for key in keys or () if (code := class_of[key]) >= 0]
        missing[at] = keys is None or (bool(keys) and not classes)
        twice[at] = len(set(classes)) < len(classes)
        table[at, classes] = True
    sets, set_of_value = distinct_rows(table)
    set_of_value[missing] = -1
    is_split = any(len(keys or ()) > 1 for keys in lists)
    detected = (
        f"classes in one text are separated at {used!r} (detected; --separator or separator= "
        "names another)"
    )
    notes = [
        *([detected] if used != separator and is_split else []),
        *coded.notes,
        *count_note(
            int(counts[twice].sum()), "response{s} named a class more than once: counted once"
        ),
    ]
    return CodedSets(set_of_value[rows], coded.names, sets, notes)


def distinct_rows(table: Members) -> tuple[Members, Codes]:
    """Return the distinct rows, in order of first appearance, and the position of each row."""
    packed = map(bytes, np.packbits(table, axis=1))
    codes, _ = factorize(np.fromiter(packed, dtype=object, count=len(table)))
    firsts = np.unique(codes, return_index=True)[1]
    return table[firsts], codes


def join_rows(
    items: Array, annotators: Array, codes: Array, members: Members
) -> tuple[Array, Members, int]:
    """Join the sets of rows with the same item and annotator; count pairs with several classes.

    The first row of a pair has the joined set, and the others are missing.
    """
    given = np.flatnonzero(codes >= 0)
    width = int(annotators.max(initial=0)) + 1
    cells = items[given].astype(np.int64) * width + annotators[given]
    distinct, firsts, at = np.unique(cells, return_index=True, return_inverse=True)
    if len(distinct) == len(cells):
        return codes, members, 0
    table = np.zeros((len(distinct), members.shape[1]), dtype=bool)
    np.logical_or.at(table, at, members[codes[given]])
    joined = int(np.count_nonzero(table.sum(axis=1) > 1))
    if not joined:  # the same class again and again
        return codes, members, 0
    sets, set_of_pair = distinct_rows(table)
    joined_codes = np.full(len(codes), -1)
    joined_codes[given[firsts]] = set_of_pair
    return joined_codes, sets, joined
