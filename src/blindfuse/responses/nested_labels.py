"""Labels inside of lists, sets and objects, and what language models write around them."""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from reprlib import repr as short
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError
from blindfuse.responses.notes import count_note
from blindfuse.responses.scalars import is_null, name_key
from blindfuse.responses.values import trim

# Objects

_LANGUAGE = r"[A-Za-z]+[ \t\r]*\n|(?:json|text|txt|plaintext|yaml|xml|markdown|md|python)\s"
_FENCED = rf"(?s)^[^`]*```(?:{_LANGUAGE})?\s*([^`\s](?:[^`]*[^`\s])?)\s*```[^`]*$"
"""A text inside one Markdown fence, with or without the name of a language, and what is said around
it. A word on the line of the text is a language only if it is a common one."""
_THOUGHT = r"(?s)^\s*<think(?:ing)?>.*</think(?:ing)?>\s*(.*)$"
"""The reasoning that some language models write before their verdict, and the verdict."""

_SURROUNDINGS = (
    (re.compile(_THOUGHT).match, "label{s} read without the reasoning before them"),
    (re.compile(_FENCED).match, "label{s} read without the Markdown fence around them"),
)
"""What finds a label in a text, and the note."""

_VERDICT_FIELDS = (
    *("label", "verdict", "choice", "answer", "class", "category", "decision", "value"),
    *("pass", "passed", "rating", "grade", "score", "result", "name"),
)
"""Fields that hold the label where it is an object with several fields, the likeliest first."""

_ERROR_FIELDS = frozenset(["error", "errors", "exception", "traceback"])
"""Fields of an object that stands for a failed verdict, if none of its fields holds a label."""


def labels_of_objects(
    values: Sequence[Any],
    counts: Callable[[], Sequence[int]],
    unclear: Callable[[Sequence[str]], BlindfuseError],
) -> tuple[list[Any], list[str]]:
    """Return values with the label in place of texts that are objects, and notes.

    What language models write around an object is removed, and objects that are errors or damaged
    are missing. ``counts`` returns how often each value was reported, and ``unclear`` the error
    about objects whose fields do not say which one is the label.
    """
    labels: list[Any] = list(values)
    notes: list[str] = []

    def note(places: Collection[int], text: str) -> None:
        if places:
            notes.extend(count_note(sum(counts()[at] for at in places), text))

    for find, text in _SURROUNDINGS:
        matches = {at: find(one) for at, one in enumerate(labels) if isinstance(one, str)}
        inside = {at: match[1] for at, match in matches.items() if match}
        labels = [inside.get(at, label) for at, label in enumerate(labels)]
        note(inside, text)
    places: Iterable[int] = range(len(labels))
    while True:
        texts = {at: labels[at].strip() for at in places if isinstance(labels[at], str)}
        parsed = {at: parse_literal(text) for at, text in texts.items() if text.startswith("{")}
        objects = [one for one in parsed.values() if isinstance(one, dict)]
        if 2 * len(objects) < len(parsed) or not any(objects):  # texts that only look like objects
            return labels, notes
        verdicts = [one for one in objects if not _is_error(one)]
        if not any(verdicts):
            note(parsed, "label{s} treated as missing: objects that are errors")
            return [None if at in parsed else one for at, one in enumerate(labels)], notes
        field = _label_field(verdicts)
        if field is None:
            raise unclear(_fields_of(verdicts))
        notes.append(f"labels are objects: their field {field!r} is read")
        for at, one in parsed.items():
            labels[at] = _text(one.get(field)) if isinstance(one, dict) else None
        damaged = [at for at, one in parsed.items() if not isinstance(one, dict)]
        note(damaged, "label{s} treated as missing, because their JSON is damaged")
        places = parsed


def _is_error(value: dict[str, Any]) -> bool:
    """Return whether an object says that a judge or its program failed, and names no label."""
    return bool(_ERROR_FIELDS & value.keys()) and not any(
        value.get(key) is not None for key in _VERDICT_FIELDS
    )


def _label_field(objects: Sequence[dict[str, Any]]) -> str | None:
    """Return the field that holds the label: the only one, or the likeliest one by name.

    None if no field is clearly the label. Beside a ``value`` and an ``explanation``, an ``answer``
    is what was judged.
    """
    fields = _fields_of(objects)
    likely = [
        key
        for key in _VERDICT_FIELDS
        if key in fields and all(isinstance(x.get(key), str | int | float | None) for x in objects)
    ]
    if {"answer", "value", "explanation"} <= set(fields):
        likely = [key for key in likely if key != "answer"]
    if likely and not any(likely[0] not in one and {*likely} & one.keys() for one in objects):
        return likely[0]
    if len(fields) == 1 and not any(isinstance(one.get(fields[0]), list) for one in objects):
        return fields[0]
    return None


def _fields_of(objects: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of all fields."""
    return list(dict.fromkeys(str(key) for one in objects for key in one))


def _text(value: Any) -> str | None:
    """Return a field as the text of a cell: text and null as they are, the rest as JSON."""
    is_text = value is None or isinstance(value, str)
    return value if is_text else json.dumps(value, ensure_ascii=False, default=str)


# Sets

_SEPARATORS = ("|", ";", ",")
"""What may separate the classes in one text, the likeliest first."""
_MANY_WORDS = 4
"""Words that the name of a class has at most."""
_BRACES = re.compile(r"\{[^{}:'\[\]]+\}")
"""An array of PostgreSQL: ``{cat,dog}``."""
_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(\s+(?=['"]))?""")
"""A quoted text, and the spaces before another one: NumPy prints no commas."""
_NUMBERS = re.compile(r"\[\s*-?\d[\d.]*(?:\s+-?\d[\d.]*)+\s*\]")
"""Numbers as NumPy prints an array of them, without commas."""


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
        return _parse_text(value, separator, whole)
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


def _parse_text(text: str, separator: str | None, whole: Set[Any]) -> list[Any]:
    plain = trim(text)
    if plain in whole:
        return [plain]
    listed = _parse_list(plain)
    if isinstance(listed, Mapping):
        return _ticked(listed)
    if listed is not None:
        return [one for one in listed if one is not None]
    if _BRACES.fullmatch(plain):
        return [trim(one).strip('"') for one in plain[1:-1].split(",")]
    parts = plain.split(separator) if separator else [plain]
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


def parse_literal(text: str) -> Any:
    """Return the value of a text in JSON, or as Python or NumPy print it; None if it is neither."""
    for parse in (json.loads, lambda one: ast.literal_eval(_with_commas(one))):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _with_commas(text: str) -> str:
    """Return an array of NumPy as Python prints a list: ``['a', 'b']`` for ``['a' 'b']``.

    Python would read ``'a' 'b'`` as ``'ab'``.
    """
    if _NUMBERS.fullmatch(text):
        return f"[{', '.join(text[1:-1].split())}]"
    if not text.startswith("["):
        return text
    return _QUOTED.sub(lambda one: one[1] + (", " if one[2] else ""), text)


def _ticked(ticks: Mapping[Any, Any]) -> list[Any]:
    """Return the keys of an object whose values are true; other values than 0 and 1 are refused."""
    wrong = [value for value in ticks.values() if value not in (0, 1, None)]
    if wrong:
        raise BadLabels(
            f"{short(wrong[0])} does not say whether a class applies. Pass objects with true and "
            "false, or lists of classes."
        )
    return [key for key, value in ticks.items() if value]
