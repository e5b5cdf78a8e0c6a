"""Spellings of labels: which differ only in form, and which probably mean the same."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from blindfuse.errors import list_names

SURROUNDING = " *_`.,:;!\"'()[]<>{}~\u2018\u2019\u201a\u201c\u201d\u201e«»‹›「」『』【】"
"""Punctuation and Markdown around a verdict; not signs that change a label, such as + and ?."""

APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4"), "'")
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

_TRUTH_VALUES = (
    *(("0", "1"), ("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y"), ("off", "on")),
    *(("falsch", "wahr"), ("nein", "ja"), ("faux", "vrai"), ("non", "oui"), ("falso", "verdadero")),
)
"""Spellings of false and true."""

_MAX_COMPARED = 300
"""Labels above which it is not asked whether some contain others."""

_MEANINGFUL = "+-&/'.:>()_"
"""Punctuation that may be part of another label: ``A+``, ``non-toxic``, ``news/sport``."""

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_OUT_OF = re.compile(r"\s*/\s*\d+")
_BESIDE_NUMBER = re.compile(r"[^\W\d]|[^\w\s.,+-]")
"""Units, reasons and the like beside a number: ``5 stars``, ``5%``."""
_BESIDE_WORD = re.compile(r"[:.]\s|(?:^|\s)-\s|\(.*\d|' '|^\s*\d*\.\d+\s*$")
"""Reasons, quotes and probabilities beside a word: ``yes - it is``, ``b'yes'``, ``yes 0.87``."""


def fold(text: str) -> str:
    """Return a key that is equal for spellings that differ by case, Unicode form or spaces.

    Nor do invisible characters, the kind of dashes, underscores for spaces, ``&amp;`` for ``&``,
    UTF-8 that was read in another encoding, and what stands around a word, as in ``**Yes.**``,
    ``<b>Yes</b>`` and ``Verdict: yes``, count.
    """
    shown = visible(unicodedata.normalize("NFKC", html.unescape(repair_encoding(text))))
    untagged = _TAG.sub(" ", shown) if _TAG.sub("", shown).strip(SURROUNDING) else shown
    plain = untagged.casefold().translate(_DASHES).translate(APOSTROPHES).replace("_", " ")
    spaced = " ".join(re.sub(r"(?<=\w)-(?=[^\W\d])", " ", plain).split()) or shown
    spaced = re.sub(r" (?=[/%])|(?<=/) ", "", spaced)
    word = _HEADING.sub("", spaced.strip(SURROUNDING), count=1).strip(SURROUNDING)
    return word or spaced


def is_bare(text: str) -> bool:
    """Return whether a label has no punctuation, tag or heading around it."""
    shown = repair_encoding(text)
    is_marked = _HEADING.match(text.casefold()) or _TAG.search(text)
    return shown == text == text.strip(SURROUNDING) and not is_marked


def visible(text: str) -> str:
    """Return the text without characters that format others, or select their variant."""
    return "".join(one for one in text if not _is_invisible(one))


def _is_invisible(letter: str) -> bool:
    """Return whether a character formats others, or selects their variant."""
    return unicodedata.category(letter) == "Cf" or "\ufe00" <= letter <= "\ufe0f"


def repair_encoding(text: str) -> str:
    """Return ``café`` for ``cafÃ©``, which is UTF-8 that was read as Latin-1 or Windows-1252."""
    if text.isascii():
        return text
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode()
        except UnicodeError:
            continue
    return text


def truth_value_note(labels: Iterable[str]) -> list[str]:
    """Return a note if labels mix spellings of truth values, such as 0 and 1, false and true."""
    spellings = {re.sub(r"(?<=\d)[.,]0+$", "", fold(label)): label for label in labels}
    used = [pair for pair in _TRUTH_VALUES if {*pair} & spellings.keys()]
    known = {word for pair in used for word in pair}
    if len(used) < 2 or len(spellings) < 3 or not spellings.keys() <= known:
        return []
    names = list_names(spellings[key] for key in sorted(spellings))
    return [f"labels mix spellings of truth values, which are different classes: {names}. Use one"]


def accent_note(labels: Iterable[str]) -> list[str]:
    """Return a note if labels differ only by accents, as where a program has dropped them."""
    folded = {label: fold(label) for label in labels}
    groups: dict[str, list[str]] = {}
    for label, key in folded.items():
        groups.setdefault(_without_accents(key), []).append(label)
    alike = [one for one in groups.values() if len({folded[label] for label in one}) > 1]
    if not alike:
        return []
    names = list_names(label for group in sorted(map(sorted, alike)) for label in group)
    return [
        f"labels that differ only by accents are different classes: {names}. Write them alike if "
        "they are the same"
    ]


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(one for one in decomposed if not unicodedata.combining(one))


def containing_note(labels: Collection[str]) -> list[str]:
    """Return a note if labels consist of other labels and something around them.

    Such are ``yes, because …`` beside ``yes``, and ``7/10`` beside ``7``. Words alone may make
    another class (``not toxic``, ``strongly agree``), and one such label may be a class.
    """
    if len(labels) > _MAX_COMPARED:
        return []
    by_length = sorted(labels, key=lambda label: (-len(label), label))
    found = [(_contained(label, by_length), label) for label in sorted(labels)]
    pairs = [(inner, outer) for inner, outer in found if inner is not None]
    if len({inner for inner, _ in pairs}) < 2:
        return []
    names = list_names(dict.fromkeys(label for pair in pairs for label in pair))
    return [
        f"labels that contain other labels are different classes: {names}. Write them alike if "
        "they are the same"
    ]


def abbreviation_note(labels: Collection[str]) -> list[str]:
    """Return a note if most labels are pairs of a word and its beginning: ``pos``, ``positive``.

    So are plurals and typing errors. A word that begins several others may be their common part.
    """
    if len(labels) > _MAX_COMPARED:
        return []
    words = sorted(label for label in labels if label.isalpha())
    found = [(short, long) for short in words for long in words if _begins(short, long)]
    times = Counter(word for pair in found for word in pair)
    names = [word for pair in found if max(times[word] for word in pair) == 1 for word in pair]
    if len(names) < 4 or 2 * len(names) <= len(labels):
        return []
    return [
        f"labels that begin other labels are different classes: {list_names(names)}. Write them "
        "alike if they are the same"
    ]


def _begins(short: str, long: str) -> bool:
    return len(short) < len(long) and long.casefold().startswith(short.casefold())


def _contained(outer: str, labels: Sequence[str]) -> str | None:
    """Return the label that another one consists of, apart from what is said around it, or None.

    That is the first of these labels, the longest one if they are in order of length.
    """
    if _NUMBER.fullmatch(outer):
        return None
    for inner in labels:
        if len(inner) >= len(outer) or inner.casefold() not in outer.casefold():
            continue
        word = _word(inner)
        place = re.search(word, outer) or re.search(word, outer, re.IGNORECASE)
        if place is None:
            continue
        if fold(inner) == fold(outer):
            return None
        around = outer[: place.start()] + " " + outer[place.end() :]
        if _is_addition(inner, around, [one for one in labels if one not in (inner, outer)]):
            return inner
    return None


def _word(label: str) -> str:
    """Return a pattern of a label as a word of its own."""
    return rf"(?<!\w){re.escape(label)}(?!\w)"


def _is_addition(label: str, around: str, others: Sequence[str]) -> bool:
    """Return whether the text around a label does not make it another label, or several."""
    if _NUMBER.fullmatch(label):
        if _OUT_OF.fullmatch(around):
            return True
        is_added = _BESIDE_NUMBER.search(around) is not None
    else:
        is_added = _BESIDE_WORD.search(around) is not None or any(
            unicodedata.category(one)[0] in "PS" and one not in _MEANINGFUL for one in around
        )
    return is_added and not any(one in around and re.search(_word(one), around) for one in others)
