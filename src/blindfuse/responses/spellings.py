"""Spellings of labels that differ only in form."""

import html
import re
import unicodedata

from blindfuse.responses.markers import APOSTROPHES, SURROUNDING
from blindfuse.responses.numerals import plain_if_numeral

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


def fold(text: str) -> str:
    """Return a key that is equal for spellings that differ by case, Unicode form or spaces.

    Nor do invisible characters, the kind of dashes, underscores for spaces, ``&amp;`` for ``&``,
    ``1.0`` for ``1``, and what stands around a word, as in ``**Yes.**``, ``<b>Yes</b>`` and
    ``Verdict: yes``, count.
    """
    shown = visible(unicodedata.normalize("NFKC", html.unescape(text)))
    untagged = _TAG.sub(" ", shown) if _TAG.sub("", shown).strip(SURROUNDING) else shown
    plain = untagged.casefold().translate(_DASHES).translate(APOSTROPHES).replace("_", " ")
    spaced = " ".join(re.sub(r"(?<=\w)-(?=[^\W\d])", " ", plain).split()) or shown
    spaced = re.sub(r" (?=[/%])|(?<=/) ", "", spaced)
    word = _HEADING.sub("", spaced.strip(SURROUNDING), count=1).strip(SURROUNDING)
    return plain_if_numeral(word or spaced)


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
