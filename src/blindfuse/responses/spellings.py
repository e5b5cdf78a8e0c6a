"""Spellings of labels: which differ only in form, and which probably mean the same."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from blindfuse.errors import list_names
from blindfuse.responses.markers import APOSTROPHES, SURROUNDING, TRUTH_VALUES

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")

_HEADING = re.compile(
    r"(?:(?:the|my|final|correct|overall) )*(?:answer|label|verdict|class|category|choice|decision|"
    r"judgment|judgement|rating|grade|score|result|response|output|assistant)"
    r"(?:(?: is)?\s*[:=]| is\b| -(?= ))\s*(?=.)"
    r"|(?:option|choice|answer|candidate|response|model|assistant) (?=\w$)"
    r"|(?:label|class|category) (?=\w)"
    r"|\\boxed\s*\{\s*(?=.)"
    r"|#+ (?=.)"
)
"""What a language model may write before its verdict: ``Final verdict: yes``, ``Option A``."""

_TAG = re.compile(r"<[/|]?\w[\w-]*\|?>")
"""A tag of HTML or XML, or a special token of a language model."""

_NUMBER = re.compile(r"[+-]?\d[\d.,]*")

_MAX_COMPARED = 300
"""Labels above which it is not asked whether some begin others."""


def fold(text: str) -> str:
    """Return a key that is equal for spellings that differ by case, Unicode form or spaces.

    Nor do invisible characters, the kind of dashes, underscores for spaces, ``&amp;`` for ``&``,
    and what stands around a word, as in ``**Yes.**``, ``<b>Yes</b>`` and ``Verdict: yes``, count.
    """
    shown = visible(unicodedata.normalize("NFKC", html.unescape(text)))
    untagged = _TAG.sub(" ", shown) if _TAG.sub("", shown).strip(SURROUNDING) else shown
    plain = untagged.casefold().translate(_DASHES).translate(APOSTROPHES).replace("_", " ")
    spaced = " ".join(re.sub(r"(?<=\w)-(?=[^\W\d])", " ", plain).split()) or shown
    spaced = re.sub(r" (?=[/%])|(?<=/) ", "", spaced)
    word = _HEADING.sub("", spaced.strip(SURROUNDING), count=1).strip(SURROUNDING)
    return word or spaced


def is_bare(text: str) -> bool:
    """Return whether a label has no punctuation, tag or heading around it."""
    is_marked = _HEADING.match(text.casefold()) or _TAG.search(text)
    return text == text.strip(SURROUNDING) and not is_marked


def visible(text: str) -> str:
    """Return the text without characters that format others, or select their variant."""
    return "".join(
        letter
        for letter in text
        if unicodedata.category(letter) != "Cf" and not "\ufe00" <= letter <= "\ufe0f"
    )


def likeness_note(labels: Iterable[str]) -> list[str]:
    """Return a note if labels of several spellings may mean the same.

    They differ by accents only, are truth values of several kinds, such as 1 and yes, or most of
    them begin others, as ``pos`` begins ``positive``.
    """
    label_of = {fold(label): label for label in labels}
    alike = _same_meaning(list(label_of)) or _beginnings(sorted(label_of))
    if not alike:
        return []
    names = list_names(label_of[key] for key in alike)
    return [
        f"labels that may mean the same are different classes: {names}. Write them alike if they do"
    ]


def _same_meaning(keys: Sequence[str]) -> list[str]:
    """Return the folded labels that are equal without accents or as truth values."""
    numbers = {key: re.sub(r"(?<=\d)[.,]0+$", "", key) for key in keys}
    values = {TRUTH_VALUES.get(number) for number in numbers.values()}
    if len(keys) > 2 and values == {True, False}:
        meanings = {key: str(TRUTH_VALUES[number]) for key, number in numbers.items()}
    else:
        meanings = {key: _without_accents(key) for key in keys}
    times = Counter(meanings.values())
    alike = [key for key in keys if times[meanings[key]] > 1]
    return sorted(alike, key=lambda key: (meanings[key], key))


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _beginnings(keys: Sequence[str]) -> list[str]:
    """Return pairs of a label and its beginning, if most labels are in exactly one such pair.

    A beginning of several labels may be their common part, and one letter more another label.
    """
    if len(keys) > _MAX_COMPARED:
        return []
    pairs = [
        (short, long)
        for short in keys
        for long in keys
        if long.startswith(short) and long != short and not _NUMBER.fullmatch(long)
    ]
    times = Counter(key for pair in pairs for key in pair)
    alike = [
        key
        for pair in pairs
        if max(times[key] for key in pair) == 1 and len(pair[1]) > len(pair[0]) + 1
        for key in pair
    ]
    return alike if len(alike) >= 4 and 2 * len(alike) > len(keys) else []
