"""How the values of a table become labels and names: one set of rules for all inputs.

Files, frames, arrays and partitions apply these rules to their distinct values, so they cost
nothing per row.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from blindfuse.errors import list_names
from blindfuse.responses.keys import is_null, name_key
from blindfuse.responses.notes import count_note

MISSING_MARKERS = frozenset(
    [
        *(
            "NA",
            "N/A",
            "n/a",
            "#N/A",
            "#NA",
            "#N/A N/A",
            "<NA>",
            "NaN",
            "nan",
            "NAN",
            "-NaN",
            "-nan",
        ),
        *("None", "NULL", "null", "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
        *("#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!"),
    ]
)
"""Labels treated as missing: what pandas, R, Excel, SQL and JSON write for a missing value."""

FAILED_VERDICTS = frozenset(
    [
        *("error", "api_error", "parse_error", "parsing_error", "parser_error", "json_error"),
        *("unparsable", "unparseable", "unparsed", "fail_to_parse", "failed_to_parse"),
        *("timeout", "timed_out", "rate_limit", "rate_limited", "content_filter", "no_verdict"),
    ]
)
"""Labels treated as missing, because a judge or its program failed; spaces and hyphens equal
underscores, and case does not matter."""

POSSIBLY_MISSING = frozenset(
    [
        *("failed", "failure", "invalid", "none", "refusal", "refused"),
        *("?", "-", "--", ".", "na", "n.a.", "abstain", "blank", "empty", "missing", "skip"),
        *("skipped", "unlabeled", "unlabelled"),
    ]
)
"""Labels that are often classes and sometimes mark failed verdicts or missing responses. They are
read as classes, with a note."""

TRIMMED = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
)
"""White space, the zero-width space and the byte-order mark: removed around names and labels."""

SURROUNDING = " *_`.,:;!\"'\u2018\u2019\u201c\u201d"
"""Punctuation and Markdown around a verdict; not signs that change a label, such as + and ?."""

NUMERAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+|,0|,00)?")
"""A number in decimal notation. Leading zeros and exponents mean text: ``007``, ``1e5``. A comma is
a decimal sign only in whole numbers such as ``1,0``: ``1,000`` may be a thousand, and ``1,2`` two
labels."""

WHOLE_NUMERAL = r"^-?(?:0|[1-9][0-9]*)(?:\.0+)?$"
"""A whole number, which a program may have written as a float: ``7``, ``7.0``."""


@dataclass(frozen=True)
class LabelOptions:
    """What the user says about labels.

    Attributes
    ----------
    classes
        the classes, if given; they are never treated as missing.
    missing
        values treated as missing, in addition to null, NaN and the markers.
    keep_na
        whether ``MISSING_MARKERS`` and ``FAILED_VERDICTS`` are classes.
    fold_case
        whether labels that differ only by case, Unicode form, inner white space or surrounding
        punctuation are one label.
    abstain
        whether −1 is missing where all labels are whole numbers, other than only −1 and 1.
    """

    classes: Sequence[Any] | None = None
    missing: Sequence[Any] = ()
    keep_na: bool = False
    fold_case: bool = False
    abstain: bool = False


class LabelRules:
    """The label of each distinct value, None if it is missing, and notes about the conversion.

    With given classes the label of a value depends on nothing else, so that partitions which are
    converted one by one agree.

    Parameters
    ----------
    counts
        returns how often each value was reported; called only where a note needs it.
    """

    def __init__(
        self, values: Sequence[Any], counts: Callable[[], Sequence[int]], options: LabelOptions
    ) -> None:
        self.options = options
        self.notes: list[str] = []
        self.labels: list[Any] = [None if is_null(value) else value for value in values]
        self._counts = cache(counts)
        self._given = {name_key(name): name for name in options.classes or ()}
        self._trim()
        self._drop_missing()
        self._join_numerals()
        self._drop_abstentions()
        self._join_variants()

    def _is_given(self, label: Any) -> bool:
        return name_key(label) in self._given

    def _count(self, places: Iterable[int]) -> int:
        chosen = list(places)
        return sum(self._counts()[place] for place in chosen) if chosen else 0

    def _present(self) -> list[int]:
        return [place for place, label in enumerate(self.labels) if label is not None]

    def _distinct(self) -> list[Any]:
        """Return the distinct labels that occur."""
        return list({name_key(self.labels[at]): self.labels[at] for at in self._present()}.values())

    def _alphabet(self) -> list[Any]:
        """Return the given classes, or else the distinct labels that occur."""
        return list(self._given.values()) or self._distinct()

    def _replace(self, new: Callable[[Any], Any]) -> list[int]:
        """Replace each label that is not a given class, and return the places that changed."""
        changed = []
        for place in self._present():
            label = self.labels[place]
            if self._is_given(label):
                continue
            self.labels[place] = new(label)
            if self.labels[place] is None or name_key(self.labels[place]) != name_key(label):
                changed.append(place)
        return changed

    def _trim(self) -> None:
        changed = self._replace(lambda label: trim(label) if isinstance(label, str) else label)
        trimmed = self._count(place for place in changed if self.labels[place])
        self.notes += count_note(trimmed, "label{s} trimmed of outer white space")

    def _drop_missing(self) -> None:
        nulls = [place for place, label in enumerate(self.labels) if label is None]
        empty = self._replace(lambda label: None if _is_empty(label) else label)
        self.notes += count_note(self._count([*nulls, *empty]), "empty label{s} treated as missing")
        markers = [one for one in self.options.missing if not is_null(one)]
        texts = {trim(one) for one in markers if isinstance(one, str)}
        self._drop(lambda label: isinstance(label, str) and label in texts, "")
        keys = {name_key(one) for one in markers}
        self._replace(lambda label: None if name_key(label) in keys else label)
        if self.options.keep_na:
            return
        self._drop(lambda label: label in MISSING_MARKERS, _KEEP_NA)
        others = [label for label in self._distinct() if not _is_suspect(label)]
        if len(others) < 2 and not self._given:
            return
        self._drop(_is_failed, _KEEP_NA)
        suspects = sorted(label for label in self._distinct() if _is_suspect(label))
        if suspects and not self._given:
            self.notes.append(
                f"read as classes: {list_names(suspects)}. If they mark missing responses, pass "
                f"--missing {suspects[0]} (missing={suspects[0]!r} in Python)"
            )

    def _drop(self, is_missing: Callable[[Any], bool], remedy: str) -> None:
        before = list(self.labels)
        dropped = self._replace(lambda label: None if is_missing(label) else label)
        words = list_names(sorted({before[place] for place in dropped}, key=str))
        self.notes += count_note(
            self._count(dropped), f"label{{s}} treated as missing: {words}{remedy}"
        )

    def _join_numerals(self) -> None:
        """Write numbers of equal value alike, if all labels are numbers in decimal notation."""
        alphabet = self._alphabet()
        numerals = [label for label in alphabet if _is_numeral(label)]
        if len(numerals) < len(alphabet):
            alike = _groups(numerals, plain_numeral)
            if alike:
                self.notes.append(
                    f"numbers of equal value kept apart, because other labels are text: "
                    f"{list_names(alike[0])}. Write them alike if they are one class"
                )
            return
        given = {plain_numeral(name): name for name in self._given.values()}

        def plain(label: Any) -> Any:
            text = plain_numeral(label) if _is_numeral(label) else label
            return given.get(text, text)

        one = "1,0" if any("," in numeral for numeral in numerals) else "1.0"
        changed = self._replace(plain)
        self.notes += count_note(
            self._count(changed), f"label{{s}} read as numbers, so that {one} and 1 are one class"
        )

    def _drop_abstentions(self) -> None:
        numbers = [_whole_number(label) for label in (*self._distinct(), *self._given.values())]
        if self.options.abstain and None not in numbers and not set(numbers) <= {-1, 1}:
            self._drop(lambda label: _whole_number(label) == -1, "")

    def _join_variants(self) -> None:
        """Join spellings that differ by case, Unicode form or punctuation, or report them."""
        labels = (*self._given.values(), *self._distinct())
        texts = dict.fromkeys(label for label in labels if isinstance(label, str))
        self.notes += _boolean_note(texts)
        groups = _groups(texts, fold)
        if not groups:
            return
        if not self.options.fold_case:
            self.notes.append(
                "labels that differ only by case, Unicode form or surrounding punctuation are "
                "different classes: "
                f"{list_names(spelling for group in groups for spelling in group)}. "
                "Pass --fold-case (fold_case=True in Python) to read them as one"
            )
            return
        count_of: Counter[str] = Counter()
        for place in self._present():
            count_of[self.labels[place]] += self._counts()[place]
        usual = {
            fold(group[0]): max(group, key=lambda one: (self._is_given(one), count_of[one], one))
            for group in groups
        }
        changed = self._replace(
            lambda label: usual.get(fold(label), label) if isinstance(label, str) else label
        )
        self.notes += count_note(
            self._count(changed), "label{s} read in the most frequent spelling of their class"
        )


_KEEP_NA = " (pass --keep-na, or keep_na=True in Python, if they are classes)"


def _boolean_note(labels: Iterable[str]) -> list[str]:
    """Return a note if labels mix the two spellings of truth values, 0 and 1, false and true."""
    spellings = {fold(label): label for label in labels}
    words, numbers = ({*pair} & spellings.keys() for pair in (("false", "true"), ("0", "1")))
    if not words or not numbers or not spellings.keys() <= words | numbers:
        return []
    names = list_names(spellings[key] for key in sorted(numbers | words))
    return [f"labels mix numbers and truth values, which are different classes: {names}. Write one"]


def trim(text: str) -> str:
    """Return the text without outer white space."""
    return text.strip(TRIMMED)


def fold(text: str) -> str:
    """Return a key that is equal for spellings that differ by case, Unicode form or spaces.

    Punctuation and Markdown around a word, as in ``**Yes.**``, do not count either.
    """
    spaced = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return spaced.strip(SURROUNDING) or spaced


def plain_numeral(text: str) -> str:
    """Return the shortest spelling of a numeral: ``1`` for ``1.0`` and ``1,0``."""
    point = text.replace(",", ".")
    short = point.rstrip("0").rstrip(".") if "." in point else text
    return "0" if short == "-0" else short


def plain_names(names: Sequence[str]) -> list[str]:
    """Return trimmed names; where all are whole numbers, ``7.0`` becomes ``7``."""
    trimmed = [trim(name) for name in names]
    if any("." in name for name in trimmed) and all(map(_IS_WHOLE, filter(None, trimmed))):
        return [plain_numeral(name) for name in trimmed]
    return trimmed


def whole_number_note(role: str) -> str:
    """Return the note for names that are whole numbers, some of them written as floats."""
    return f"{role}s are whole numbers, so that 7.0 and 7 are one {role}"


_IS_WHOLE = re.compile(WHOLE_NUMERAL).match


def _is_empty(label: Any) -> bool:
    return isinstance(label, str) and not label


def _is_numeral(label: Any) -> bool:
    return isinstance(label, str) and NUMERAL.fullmatch(label) is not None


def _is_failed(label: Any) -> bool:
    return isinstance(label, str) and _words(label) in FAILED_VERDICTS


def _is_suspect(label: Any) -> bool:
    return isinstance(label, str) and _words(label) in POSSIBLY_MISSING | FAILED_VERDICTS


def _words(label: str) -> str:
    return re.sub(r"(?<=\w)[\s-]+(?=\w)", "_", label.casefold())


def _whole_number(label: Any) -> int | None:
    if isinstance(label, str):
        return int(label) if re.fullmatch(r"-?\d+", label) and len(label) < 20 else None
    return int(label) if isinstance(label, int) and not isinstance(label, bool) else None


def _groups(texts: Iterable[str], key: Callable[[str], str]) -> list[list[str]]:
    """Return the texts that share a key with another one, grouped."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(key(text), []).append(text)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)
