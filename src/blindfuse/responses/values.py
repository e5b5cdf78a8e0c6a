"""How the values of a table become labels and names: one set of rules for all inputs.

Files, frames, arrays and partitions apply these rules to their distinct values, so they cost
nothing per row.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from blindfuse.errors import list_names
from blindfuse.responses.keys import is_null, name_key
from blindfuse.responses.markers import (
    MISSING_CODES,
    is_failed_verdict,
    is_missing_marker,
    is_suspect,
)
from blindfuse.responses.notes import count_note
from blindfuse.responses.spellings import fold, is_bare, likeness_note

TRIMMED = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\u200c\u200d\u200e\u200f\u2060\u00ad\ufeff"
)
"""White space and invisible characters, such as the byte-order mark: removed around names and
labels."""

NUMERAL = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d+|,0|,00)?|\d\.\d{6,}e[+-]0\d)")
"""A number in decimal notation. Leading zeros and exponents mean text: ``007``, ``1e5``, other than
in the long form of C and NumPy, ``1.000000e+00``. A comma is a decimal sign only in whole numbers
such as ``1,0``: ``1,000`` may be a thousand, and ``1,2`` two labels."""

LOOSE_NUMERAL = re.compile(
    r"[+-]?(?:\d+(?:\.\d*|,(?!\d{3}(?!\d))\d*)?|[.,]\d+)(?:[eE][+-]?\d{1,3})?(?: ?%)?"
)
"""As ``NUMERAL``, with leading zeros, any sign, any exponent, a decimal comma and percent."""

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
        whether missing markers and failed verdicts are classes.
    fold_case
        whether labels that differ only by case, Unicode form, inner white space or surrounding
        punctuation are one label.
    abstain
        whether −1 is missing where all labels are whole numbers, other than only −1 and 1.
    order
        the order of the classes if all of them are listed; otherwise they are sorted.
    """

    classes: Sequence[Any] | None = None
    missing: Sequence[Any] = ()
    keep_na: bool = False
    fold_case: bool = False
    abstain: bool = False
    order: Sequence[Any] = ()


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
        self._note_equal_numbers()
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
        self._drop_markers([one for one in self.options.missing if not is_null(one)])
        if self.options.keep_na:
            return
        self._drop(is_missing_marker, _KEEP_NA)
        others = [label for label in self._distinct() if not is_suspect(label)]
        if len(others) < 2 and not self._given:
            return
        self._drop(is_failed_verdict, _KEEP_NA)
        self._note_suspects([label for label in self._distinct() if is_suspect(label)])

    def _drop_markers(self, markers: Sequence[Any]) -> None:
        """Drop the labels that the user calls missing, and report texts that are no label."""
        texts = [trim(one) for one in markers if isinstance(one, str)]
        present = {_plain(label) for label in self._distinct() if isinstance(label, str)}
        absent = dict.fromkeys(text for text in texts if _plain(text) not in present)
        plain = {_plain(text) for text in texts}
        self._drop(lambda label: isinstance(label, str) and _plain(label) in plain, "")
        keys, reported = {name_key(one) for one in markers}, set(map(name_key, self._distinct()))
        dropped = self._replace(lambda label: None if name_key(label) in keys else label)
        numbers = [one for one in markers if not isinstance(one, str) and one != -1]
        absent_numbers = [one for one in numbers if name_key(one) not in reported]
        if absent or absent_numbers:
            names = list_names([*absent, *absent_numbers])
            self.notes.append(f"no label is {names}, given as missing")
        kept = self._distinct()
        if -1 in markers and set(kept) <= {0, 1}:
            classes = [-1, *sorted(kept)]
            remedy = f"pass missing=None and classes={classes} if it is a class"
            self.notes += count_note(
                self._count(dropped), f"label{{s}} treated as missing: -1 ({remedy})"
            )

    def _note_suspects(self, suspects: Sequence[Any]) -> None:
        """Add a note about classes that may mark missing responses."""
        if not suspects or self._given:
            return
        ordered = sorted(suspects, key=lambda label: ("," in str(label), str(label)))
        needs_quotes = re.search(r"[\s()<>&;|*$`'\"\\]", str(ordered[0]))
        option = shlex.quote(str(ordered[0])) if needs_quotes else ordered[0]
        self.notes.append(
            f"read as classes: {list_names(ordered)}. If they mark missing responses, pass "
            f"--missing {option} (missing={ordered[0]!r} in Python)"
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

    def _note_equal_numbers(self) -> None:
        """Add a note about numbers of equal value that are different classes."""
        texts = [label for label in self._distinct() if isinstance(label, str)]
        numbers = [label for label in texts if LOOSE_NUMERAL.fullmatch(label)]
        alike = _groups(numbers, _rounded_value)
        if alike:
            are_numbers = len(numbers) == len(texts)
            reason = "they are written in several ways" if are_numbers else "other labels are text"
            self.notes.append(
                f"numbers of equal value kept apart, because {reason}: {list_names(alike[0])}. "
                "Write them alike if they are one class"
            )

    def _drop_abstentions(self) -> None:
        """Drop −1 where it marks abstentions, or report numbers that may mark missing responses."""
        labels = self._distinct()
        numbers = [_whole_number(label) for label in (*labels, *self._given.values())]
        if None in numbers:
            self._note_codes_among_texts([label for label in labels if isinstance(label, str)])
            return
        if set(numbers) <= {-1, 1}:
            return
        if self.options.abstain:
            self._drop(lambda label: _whole_number(label) == -1, _LIST_CLASSES)
        codes = [label for label in self._distinct() if _whole_number(label) in MISSING_CODES]
        others = {number for number in numbers if number not in MISSING_CODES}
        if len(others) > 1 and others <= set(range(20)):
            self._note_suspects(codes)

    def _note_codes_among_texts(self, texts: Sequence[str]) -> None:
        """Add a note about numbers that may mark missing responses, where all others are words."""
        numbers = [text for text in texts if LOOSE_NUMERAL.fullmatch(text)]
        codes = [text for text in numbers if _rounded_value(text) in MISSING_CODES]
        if len(codes) == len(numbers) and len(texts) > len(codes) + 1:
            self._note_suspects(codes)

    def _join_variants(self) -> None:
        """Join spellings that differ by case, Unicode form or punctuation, or report them."""
        labels = (*self._given.values(), *self._distinct())
        texts = dict.fromkeys(label for label in labels if isinstance(label, str))
        if not self._given:
            self.notes += likeness_note(texts)
        groups = _groups(texts, fold)
        if not groups:
            return
        if not self.options.fold_case:
            self.notes.append(
                "labels that differ only by case, spaces, punctuation, invisible characters or "
                "words such as 'Label:' are different classes: "
                f"{list_names(spelling for group in groups for spelling in group)}. "
                "Pass --fold-case (fold_case=True in Python) to read them as one"
            )
            return
        count_of: Counter[str] = Counter()
        for place in self._present():
            count_of[self.labels[place]] += self._counts()[place]
        usual = {
            fold(group[0]): max(
                group, key=lambda one: (self._is_given(one), is_bare(one), count_of[one], one)
            )
            for group in groups
            if sum(map(self._is_given, group)) < 2  # else the user keeps them apart
        }
        changed = self._replace(
            lambda label: usual.get(fold(label), label) if isinstance(label, str) else label
        )
        self.notes += count_note(
            self._count(changed), "label{s} read in the most frequent spelling of their class"
        )


_KEEP_NA = " (pass --keep-na, or keep_na=True in Python, if they are classes)"
_LIST_CLASSES = " (list all classes with --classes, or classes= in Python, if it is a class)"


def trim(text: str) -> str:
    """Return the text without outer white space."""
    return text.strip(TRIMMED)


def plain_numeral(text: str) -> str:
    """Return the shortest spelling of a numeral: ``1`` for ``1.0`` and ``1,0``."""
    point = f"{Decimal(text):f}" if "e" in text else text.replace(",", ".")
    short = point.rstrip("0").rstrip(".") if "." in point else text
    return "0" if short == "-0" else short


def _plain(label: str) -> str:
    """Return a label as it is, or a number in its shortest spelling."""
    return plain_numeral(label) if NUMERAL.fullmatch(label) else label


def plain_names(names: Sequence[str]) -> list[str]:
    """Return trimmed names; where all are whole numbers, ``7.0`` becomes ``7``."""
    trimmed = [trim(name) for name in names]
    if any("." in name for name in trimmed) and all(map(_IS_WHOLE, filter(None, trimmed))):
        return [plain_numeral(name) for name in trimmed]
    return trimmed


def missing_number_note(numbers: Iterable[float]) -> list[str]:
    """Return a note about ratings that may mark missing ones: −1 or 99 beside 1, 2, …, 5."""
    distinct = {number for number in numbers if number == number}
    others = distinct - MISSING_CODES
    if len(others) < 2:
        return []
    low, high = min(others), max(others)
    codes = sorted(
        int(code) for code in distinct & MISSING_CODES if code < 0 <= low or code > 2 * high > 0
    )
    if not codes:
        return []
    return [
        f"read as numbers: {list_names(codes)}. If they mark missing ratings, pass --missing "
        f"{codes[0]} (NaN in place of them in Python)"
    ]


def whole_number_note(role: str) -> str:
    """Return the note for names that are whole numbers, some of them written as floats."""
    return f"{role}s are whole numbers, so that 7.0 and 7 are one {role}"


_IS_WHOLE = re.compile(WHOLE_NUMERAL).match


def _rounded_value(numeral: str) -> float:
    """Return the value of a loose numeral, without what arithmetic adds, as in 0.30000000000004."""
    number = float(numeral.rstrip(" %").replace(",", "."))
    return round(number / 100 if numeral.endswith("%") else number, 6)


def _is_empty(label: Any) -> bool:
    return isinstance(label, str) and not label


def _is_numeral(label: Any) -> bool:
    return isinstance(label, str) and NUMERAL.fullmatch(label) is not None


def _whole_number(label: Any) -> int | None:
    if isinstance(label, str):
        return int(label) if re.fullmatch(r"-?\d+", label) and len(label) < 20 else None
    return int(label) if isinstance(label, int) and not isinstance(label, bool) else None


def _groups(texts: Iterable[str], key: Callable[[str], Any]) -> list[list[str]]:
    """Return the texts that share a key with another one, grouped."""
    groups: dict[Any, list[str]] = {}
    for text in texts:
        groups.setdefault(key(text), []).append(text)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)
