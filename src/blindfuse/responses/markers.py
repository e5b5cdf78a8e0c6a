"""What cells say beside plain labels: truth values, missing markers, winners, objects."""

import ast
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

from blindfuse.errors import BlindfuseError
from blindfuse.responses.notes import count_note


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


TRUTH_VALUES = {
    **dict.fromkeys(word_set("1 1.0 true t yes y on wahr ja vrai oui verdadero sí si"), True),
    **dict.fromkeys(word_set("0 0.0 false f no n off falsch nein faux non falso"), False),
}
"""Spellings of true and false, in lower case."""

MISSING_MARKERS = word_set(
    r"NA N/A n/a #N/A #NA <NA> NaN nan NAN -NaN -nan None NULL null \N <missing> NaT "
    "1.#IND -1.#IND 1.#QNAN -1.#QNAN"
)
"""Labels treated as missing: what pandas, R, Excel, SQL and JSON write for a missing value."""

_SPREADSHEET_ERROR = re.compile(r"#[A-ZÄÖÜ0-9/_]+[!?]|#NV|#ERROR|#{3,}|Err:\d{3}")
"""Errors of spreadsheets in any language, and ``####``, a value that did not fit its column."""

FAILED_VERDICTS = word_set(
    "error api_error parse_error parsing_error parser_error json_error unparsable unparseable "
    "unparsed fail_to_parse failed_to_parse timeout timed_out rate_limit rate_limited "
    "content_filter no_verdict"
)
"""Labels treated as missing, because a judge or its program failed; spaces and hyphens equal
underscores, and case does not matter."""

_SUSPECTS = {
    *word_set(
        "failed failure invalid none refusal refused refuse declined err abstain abstained "
        "abstention skip skipped n.a n/d blank empty missing undefined nil void pending unlabeled "
        "unlabelled unannotated unrated unanswered tbd todo to_do not_rated not_applicable "
        "not_available no_answer no_response no_label no_rating no_vote no_data no_opinion unknown "
        "unsure uncertain undecided unclear idk not_sure cannot_say cannot_tell cannot_judge"
    ),
    *FAILED_VERDICTS,
    *(marker.strip("#<>").casefold() for marker in MISSING_MARKERS),
}
"""Labels that are often classes and sometimes mark failed verdicts or missing responses, without
the punctuation around them. They are read as classes, with a note."""

_REFUSAL = re.compile(
    r"(?:i'?m |i am |i )?(?:sorry|cannot|can't|unable|not able|don't know)\b|as an ai\b"
    r"|could not\b|failed to\b"
    r"|n/?a\b\W+\w|error\b\W*\w|\w*(?:error|exception)[:(]|http\W*[45]\d\d\b"
)
"""How the refusals and errors of language models begin, in lower case; they are read as classes,
with a note."""

MISSING_CODES = frozenset(
    [
        *(-1, -7, -8, -9, -77, -88, -97, -98, -99, -999, -9999),
        *(77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9999, 255, 65535),
    ]
)
"""Numbers by which surveys mark missing responses, and −1 as unsigned numbers hold it."""

SURROUNDING = " *_`.,:;!\"'()[]<>{}~\u2018\u2019\u201a\u201c\u201d\u201e«»‹›「」『』【】"
"""Punctuation and Markdown around a verdict; not signs that change a label, such as + and ?."""

APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4"), "'")


def truth_value(cell: Any) -> bool | None:
    """Return whether a cell says true or false; None if it says neither."""
    return TRUTH_VALUES.get(str(cell).strip().casefold())


def is_missing_marker(label: Any) -> bool:
    """Return whether a program writes this for a missing value."""
    if not isinstance(label, str):
        return False
    if label[:1] not in ("#", "E"):  # saves a regular expression per name
        return label in MISSING_MARKERS
    return label in MISSING_MARKERS or _SPREADSHEET_ERROR.fullmatch(label) is not None


def is_failed_verdict(label: Any) -> bool:
    """Return whether this says that a judge or its program failed."""
    return isinstance(label, str) and _words(label) in FAILED_VERDICTS


def is_suspect(label: Any) -> bool:
    """Return whether a label may mark a missing response, by its words or for want of any."""
    return isinstance(label, str) and (
        _words(label.strip(SURROUNDING)) in _SUSPECTS
        or all(unicodedata.category(letter)[0] in "PZ" for letter in label)
        or _REFUSAL.match(label.casefold().translate(APOSTROPHES)) is not None
    )


def _words(label: str) -> str:
    return re.sub(r"(?<=\w)[\s-]+(?=\w)", "_", label.casefold())


# Winners of comparisons

TIES = word_set(
    "tie tied draw equal same both both_good both_bad bothbad tie_(bothbad) tie_(both_bad) "
    "tie_both_bad neither no_preference a=b c 1/2"
)
"""Words for a tie; C is one in the verdicts A, B and C of judges."""
_LEFT = word_set("left l a model_a item_a response_a option_a first model_1 win a>b a>>b")
_RIGHT = word_set("right r b model_b item_b response_b option_b second model_2 loss b>a b>>a")
WINS = dict.fromkeys(_LEFT, 1.0) | dict.fromkeys(_RIGHT, 0.0) | dict.fromkeys(TIES, 0.5)
"""The share of the win that goes to the left, by words with underscores for spaces."""


def side_of(value: Any) -> float:
    """Return the share of the win that goes to the left; NaN if the value says no side."""
    try:
        number = float(WINS.get(plain_word(value), value))
    except (TypeError, ValueError):
        return float("nan")
    return number if 0 <= number <= 1 else float("nan")


def plain_word(value: Hashable) -> str:
    """Return a text in lower case, without brackets, with underscores for spaces and hyphens."""
    if not isinstance(value, str):
        return ""
    return "_".join(value.strip().strip("[]").casefold().replace("-", " ").split())


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
