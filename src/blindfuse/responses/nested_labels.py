"""Labels inside of lists, sets and objects, and what language models write around them."""

import ast
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from blindfuse.errors import BlindfuseError
from blindfuse.responses.notes import count_note

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
            labels[at] = cell_text(one.get(field)) if isinstance(one, dict) else None
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


def cell_text(value: Any) -> str | None:
    """Return a value as the text of a cell: text and null as they are, the rest as JSON."""
    is_text = value is None or isinstance(value, str)
    return value if is_text else json.dumps(value, ensure_ascii=False, default=str)


# Literals

_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(\s+(?=['"]))?""")
"""A quoted text, and the spaces before another one: NumPy prints no commas."""
_NUMBERS = re.compile(r"\[\s*-?\d[\d.]*(?:\s+-?\d[\d.]*)+\s*\]")
"""Numbers as NumPy prints an array of them, without commas."""


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
