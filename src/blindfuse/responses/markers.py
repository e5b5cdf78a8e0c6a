"""Cells with a meaning of their own: truth values, missing markers and failed verdicts."""

import re
import unicodedata
from typing import Any


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
