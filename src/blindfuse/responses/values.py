"""How the values of a table become labels and names: one set of rules for all inputs.

Files, frames, arrays and partitions apply these rules to their distinct values, so they cost
nothing per row.
"""

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from blindfuse.errors import list_names
from blindfuse.responses.markers import (
    APOSTROPHES,
    MISSING_CODES,
    SURROUNDING,
    is_failed_verdict,
    is_missing_marker,
    is_suspect,
)
from blindfuse.responses.notes import count_note
from blindfuse.responses.scalars import (
    WHOLE_NUMERAL,
    is_null,
    is_numeral,
    name_key,
    plain_if_numeral,
    plain_numeral,
)

TRIMMED = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\u200c\u200d\u200e\u200f\u2060\u00ad\ufeff"
)
"""White space and invisible characters, such as the byte-order mark: removed around names and
labels."""


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
        self._drop_given_markers()
        if not options.keep_na:
            self._drop_known_markers()
        self._join_numerals()
        self._drop_codes()
        self._join_variants()

    def _note(self, places: Iterable[int], text: str) -> None:
        """Add a note with the number of responses at these places, if there are any."""
        chosen = list(places)
        if chosen:
            self.notes += count_note(sum(self._counts()[place] for place in chosen), text)

    def _distinct(self) -> list[Any]:
        """Return the distinct labels that occur."""
        return list({name_key(one): one for one in self.labels if one is not None}.values())

    def _replace(self, new: Callable[[Any], Any]) -> list[int]:
        """Replace each label that is not a given class, and return the places that changed."""
        changed = []
        for place, label in enumerate(self.labels):
            if label is None or name_key(label) in self._given:
                continue
            self.labels[place] = new(label)
            if self.labels[place] is None or name_key(self.labels[place]) != name_key(label):
                changed.append(place)
        return changed

    def _drop(self, is_missing: Callable[[Any], bool], remedy: str) -> None:
        """Treat labels as missing, and name them in a note with what to do if they are not."""
        before = list(self.labels)
        self._note_dropped(before, self._replace(lambda x: None if is_missing(x) else x), remedy)

    def _note_dropped(self, before: Sequence[Any], dropped: Sequence[int], remedy: str) -> None:
        words = list_names(sorted({before[place] for place in dropped}, key=str))
        self._note(dropped, f"label{{s}} treated as missing: {words}{remedy}")

    def _note_suspects(self, suspects: Sequence[Any]) -> None:
        """Add a note about classes that may mark missing responses."""
        if not suspects or self._given:
            return
        ordered = sorted(suspects, key=str)
        texts = [str(label).replace('"', '""') for label in ordered]
        option = ",".join(f'"{text}"' if re.search('[,"]', text) else text for text in texts)
        needs_quotes = re.search(r"[\s()<>&;|*$`'\"\\]", option)
        self.notes.append(
            f"read as classes: {list_names(ordered)}. If they mark missing responses, pass "
            f"--missing {shlex.quote(option) if needs_quotes else option} "
            f"(missing={(ordered if len(ordered) > 1 else ordered[0])!r} in Python)"
        )

    # The rules, in the order in which they are applied

    def _trim(self) -> None:
        nulls = [place for place, label in enumerate(self.labels) if label is None]
        changed = self._replace(lambda x: (trim(x) or None) if isinstance(x, str) else x)
        empty = [*nulls, *(place for place in changed if self.labels[place] is None)]
        self._note({*changed} - {*empty}, "label{s} trimmed of outer white space")
        self._note(empty, "empty label{s} treated as missing")

    def _drop_given_markers(self) -> None:
        """Drop the labels that the user calls missing, and report those that do not occur."""
        given = {_marker_key(one): one for one in self.options.missing if not is_null(one)}
        before = list(self.labels)
        dropped = self._replace(lambda label: None if _marker_key(label) in given else label)
        occurring = {_marker_key(before[place]) for place in dropped}
        absent = [marker for key, marker in given.items() if key not in {*occurring, _MINUS_ONE}]
        if absent:
            self.notes.append(f"no label is {list_names(absent)}, given as missing")
        self._note_dropped(before, [at for at in dropped if isinstance(before[at], str)], "")
        if _MINUS_ONE in occurring and {*self._distinct()} <= {0, 1}:
            classes = [-1, *sorted(self._distinct())]
            options = f"missing=None, classes={classes}"
            remedy = f" (if it is a class: Responses.from_matrix(…, {options}))"
            self._note_dropped(before, dropped, remedy)

    def _drop_known_markers(self) -> None:
        """Drop what programs write for missing values and failed verdicts, or report suspects."""
        self._drop(is_missing_marker, _KEEP_NA)
        others = [label for label in self._distinct() if not is_suspect(label)]
        if len(others) > 1 or self._given:
            self._drop(is_failed_verdict, _KEEP_NA)
            self._note_suspects([label for label in self._distinct() if is_suspect(label)])

    def _join_numerals(self) -> None:
        """Write numbers of equal value alike, if all labels are numbers in decimal notation."""
        if not all(map(is_numeral, list(self._given.values()) or self._distinct())):
            return
        given = {plain_numeral(name): name for name in self._given.values()}

        def plain(label: Any) -> Any:
            text = plain_numeral(label) if is_numeral(label) else label
            return given.get(text, text)

        self._note(
            self._replace(plain), "label{s} read as numbers, so that 1.0 and 1 are one class"
        )

    def _drop_codes(self) -> None:
        """Drop −1 where it marks abstentions, or report numbers that may mark missing responses.

        They may, beside words and beside whole numbers from 0 to 19.
        """
        labels = self._distinct()
        numbers = [_whole_number(label) for label in (*labels, *self._given.values())]
        if self.options.abstain and None not in numbers and not set(numbers) <= {-1, 1}:
            self._drop(lambda label: _whole_number(label) == -1, _LIST_CLASSES)
        codes = [label for label in self._distinct() if _whole_number(label) in MISSING_CODES]
        others = [label for label in labels if _whole_number(label) not in MISSING_CODES]
        are_words = all(isinstance(label, str) and not is_numeral(label) for label in others)
        if len(others) > 1 and (are_words or {*map(_whole_number, others)} <= {*range(20)}):
            self._note_suspects(codes)

    def _join_variants(self) -> None:
        """Join spellings that differ by case, Unicode form or punctuation, or report them."""
        texts = [x for x in (*self._given.values(), *self._distinct()) if isinstance(x, str)]
        spellings: dict[str, list[str]] = {}
        for text in sorted(set(texts)):
            spellings.setdefault(fold(text), []).append(text)
        groups = sorted(group for group in spellings.values() if len(group) > 1)
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
        count_of: Counter[Any] = Counter()
        for label, count in zip(self.labels, self._counts(), strict=True):
            count_of[label] += count
        given = set(self._given)
        usual = {
            fold(group[0]): max(group, key=lambda x: (x in given, _is_bare(x), count_of[x], x))
            for group in groups
            if len(given.intersection(group)) < 2  # else the user keeps them apart
        }
        self._note(
            self._replace(lambda x: usual.get(fold(x), x) if isinstance(x, str) else x),
            "label{s} read in the most frequent spelling of their class",
        )


_KEEP_NA = " (pass --keep-na, or keep_na=True in Python, if they are classes)"
_LIST_CLASSES = " (list all classes with --classes, or classes= in Python, if it is a class)"
_MINUS_ONE = name_key(-1)


def _marker_key(label: Any) -> Any:
    """Return a key that is equal for texts that differ by outer space or as numbers do."""
    return name_key(plain_if_numeral(trim(label)) if isinstance(label, str) else label)


def _whole_number(label: Any) -> int | None:
    if isinstance(label, str):
        return int(label) if re.fullmatch(r"-?\d{1,18}", label) else None
    return int(label) if isinstance(label, int) and not isinstance(label, bool) else None


def trim(text: str) -> str:
    """Return the text without outer white space."""
    return text.strip(TRIMMED)


def plain_names(names: Sequence[str]) -> list[str]:
    """Return trimmed names; where all are whole numbers, ``7.0`` becomes ``7``."""
    trimmed = [trim(name) for name in names]
    is_whole = re.compile(WHOLE_NUMERAL).match
    if any("." in name for name in trimmed) and all(map(is_whole, filter(None, trimmed))):
        return [plain_numeral(name) for name in trimmed]
    return trimmed


def whole_number_note(role: str) -> str:
    """Return the note for names that are whole numbers, some of them written as floats."""
    return f"{role}s are whole numbers, so that 7.0 and 7 are one {role}"


# Spellings

_HEADING = re.compile(
    r"(?:(?:the|my|final|correct|overall) )*(?:answer|label|verdict|class|category|choice|decision|"
    r"judgment|judgement|rating|grade|score|result|response|output|assistant)"
    r"(?:(?: is)?\s*[:=]| is\b| -(?= ))\s*(?=.)"
    r"|(?:option|choice|answer|candidate|response|model|assistant) (?=\w$)"
    r"|(?:label|class|category) (?=\w)"
    r"|#+ (?=.)"
)
"""What a language model may write before its verdict: ``Final verdict: yes``, ``Option A``."""

_TAG = re.compile(r"<[/|]?\w[\w-]*\|?>")
"""A tag of HTML or XML, or a special token of a language model."""

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")


def fold(text: str) -> str:
    """Return a key that is equal for spellings that differ by case, Unicode form or spaces.

    Nor do invisible characters, the kind of dashes, underscores for spaces, ``1.0`` for ``1``, and
    what stands around a word, as in ``**Yes.**``, ``<b>Yes</b>`` and ``Verdict: yes``, count.
    """
    shown = visible(unicodedata.normalize("NFKC", text))
    untagged = _TAG.sub(" ", shown) if _TAG.sub("", shown).strip(SURROUNDING) else shown
    plain = untagged.casefold().translate(_DASHES).translate(APOSTROPHES).replace("_", " ")
    spaced = " ".join(re.sub(r"(?<=\w)-(?=[^\W\d])", " ", plain).split()) or shown
    word = _HEADING.sub("", spaced.strip(SURROUNDING), count=1).strip(SURROUNDING)
    return plain_if_numeral(word or spaced)


def _is_bare(text: str) -> bool:
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
