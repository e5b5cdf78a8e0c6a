"""Signs that columns were mistaken: classes that are not classes, annotators that are not.

The checks are cheap, and looked at before anything is fused or written. None of them proves a
mistake, so they are notes that name the option to set.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import list_names
from blindfuse.responses.set_values import compound_texts
from blindfuse.responses.values import NUMERAL, is_missing_marker

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

MIN_CLASSES = 10
"""With fewer classes, their number and their form are not suspicious."""

MANY_NUMBERS = 10
"""Classes above which numbers are more likely ratings than names of classes."""

MIN_ITEMS = 30
"""Items that an annotator must share with others before agreement is suspicious."""

MAX_NAMES = 50_000
"""Number of items or annotators above which names are not compared."""

MAX_CELLS = 500_000
"""Size of the sample in which agreement is counted: responses times classes."""

_ID = re.compile(r"[A-Za-z]{0,8}[-_ ]?\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-fA-F]{16,}")
_ROUNDED = re.compile(r"\d\.\d+E\+\d+")
_MANY_WORDS = 5
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_DATE = re.compile(rf"\d{{1,2}}[-. ]{{1,2}}{_MONTH}(?:[-. ]\d{{2,4}})?|{_MONTH}[-. ]\d{{1,4}}")
"""A date as spreadsheets abbreviate it, such as ``02-Jan`` and ``Jan-24``."""


def sanity_notes(responses: "Responses") -> list[str]:
    """Return a note for every sign that a column was mistaken."""
    if not responses.is_plain:
        return []
    return [
        *_item_notes(responses),
        *_name_notes("item", responses.items),
        *_name_notes("annotator", responses.annotators),
        *_class_notes(responses),
        *_date_notes(responses),
        *_agreement_notes(responses),
    ]


def _name_notes(role: str, names: NDArray[Any]) -> list[str]:
    """Return notes about names that are almost the same, or mark missing names."""
    if len(names) > MAX_NAMES:
        return []
    texts = [str(name) for name in names.tolist()]
    notes = []
    missing = [text for text in texts if is_missing_marker(text)]
    if missing and len(texts) > 1:
        notes.append(
            f"Check the {role}s: {list_names(missing)} is read as the name of an {role}. If it "
            "marks missing names, delete these rows"
        )
    plain = [
        (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
        for text in texts
    ]
    if len(set(plain)) < len(plain):
        first = next(text for text, count in Counter(plain).items() if count > 1)
        alike = [name for name, text in zip(names.tolist(), plain, strict=True) if text == first]
        notes.append(
            f"Check the {role}s: {len(plain) - len(set(plain)):,} of {len(plain):,} differ from "
            f"others only by case, Unicode form or type ({list_names(alike)}), and are different "
            f"{role}s. Write them alike if they are the same"
        )
    return notes


def _date_notes(responses: "Responses") -> list[str]:
    """Return a note if a spreadsheet has turned labels such as 1-2 into dates."""
    texts = [str(name) for name in responses.classes.tolist()]
    dates = [text for text in texts if _DATE.fullmatch(text)]
    if not dates:
        return []
    return [
        f"Check the labels: {len(dates):,} of {len(texts):,} classes are dates "
        f"({list_names(dates, 3)}), as spreadsheets make of labels such as 1-2. Format the column "
        "as text and enter them again"
    ]


def _item_notes(responses: "Responses") -> list[str]:
    """Return a note if a spreadsheet has rounded the items, so that several became one."""
    if not responses.repeated:
        return []
    rounded = [name for name in responses.items.tolist() if _ROUNDED.fullmatch(str(name))]
    if not rounded:
        return []
    return [
        f"Check the items: {len(rounded):,} of {responses.n_items:,} are numbers that a "
        f"spreadsheet has rounded ({list_names(rounded, 3)}), so that several may have become "
        "one. Export the column as text"
    ]


def _class_notes(responses: "Responses") -> list[str]:
    """Return a note if the classes are too many, or look like numbers, ids or sentences."""
    texts = [str(name) for name in responses.classes.tolist()]
    n_classes, examples = len(texts), list_names(responses.classes, 3)
    compounds = compound_texts(texts)
    if compounds:
        return [
            f"Check the labels: {len(compounds):,} of {n_classes:,} classes name several "
            f"labels at once ({list_names(compounds, 3)}). Add --multi-label (fuse_sets in "
            "Python) to fuse them one by one"
        ]
    if n_classes < MIN_CLASSES:
        return []
    remedy = "If this is not the label column, pass --label (label= in Python)"
    if _share(texts, lambda text: len(text.split()) >= _MANY_WORDS) > 0.5:
        return [f"Check the labels: the {n_classes:,} classes are sentences ({examples}). {remedy}"]
    if n_classes > MANY_NUMBERS and all(NUMERAL.fullmatch(text) for text in texts):
        return [
            f"Check the labels: the {n_classes:,} classes are numbers ({examples}). If they are "
            "scores, add --scores for a class per item (Responses.from_scores in Python) or "
            f"--numbers for a number per item (fuse_numbers). {remedy}"
        ]
    if _share(texts, lambda text: _ID.fullmatch(text) is not None) > 0.8 and n_classes > 20:
        return [f"Check the labels: the {n_classes:,} classes look like ids ({examples}). {remedy}"]
    if 4 * n_classes > responses.n_items:
        return [
            f"Check the labels: there are {n_classes:,} classes ({examples}) for "
            f"{responses.n_items:,} items. {remedy}"
        ]
    return []


def _share(texts: Sequence[str], has: Any) -> float:
    return sum(1 for text in texts if has(text)) / len(texts)


def _agreement_notes(responses: "Responses") -> list[str]:
    """Return notes about annotators who agree with nobody, or always with the others' vote."""
    if responses.n_annotators < 3 or not responses.n_responses:
        return []
    sample = _sample(responses)
    votes = _votes_of_others(sample)
    annotators = sample.by_item.codes
    reported = np.take_along_axis(votes, _column(sample.by_item.symbols), axis=1)[:, 0]
    n_others, best = votes.sum(axis=1), votes.max(axis=1)
    is_decided = (n_others > 1) & (np.count_nonzero(votes == _column(best), axis=1) == 1)

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.bincount(annotators[chosen], minlength=sample.n_annotators)

    shared, agreeing = count(n_others > 0), count(reported > 0)
    decided, following = count(is_decided), count(is_decided & (reported == best))
    alone = (shared >= MIN_ITEMS) & (agreeing == 0)
    is_complete = 10 * sample.responses_per_annotator >= 9 * sample.n_items
    always = is_complete & (decided >= MIN_ITEMS) & (following == decided)
    others = ~always & (decided > 0)
    notes = []
    if 0 < 2 * np.count_nonzero(alone) < np.count_nonzero(shared):  # sources may know one class
        notes.append(
            f"Check the annotators: nobody agrees with {list_names(responses.annotators[alone])}. "
            "If a column is not an annotator, name the annotators with --annotator (annotator= in "
            "Python)"
        )
    if always.any() and others.any() and 20 * following[others].sum() < 19 * decided[others].sum():
        notes.append(
            "Check the annotators: the vote of the others always agrees with "
            f"{list_names(responses.annotators[always])}, as with gold labels or a fused result. "
            "If a column is not an annotator, name the annotators with --annotator (annotator= in "
            "Python)"
        )
    return notes


def _column(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.intp)[:, None]


def _sample(responses: "Responses") -> "Responses":
    """Return the responses to evenly spaced items."""
    cells = responses.n_responses * responses.n_classes
    step = 1 + cells // MAX_CELLS
    return responses.select_items(np.arange(0, responses.n_items, step)) if step > 1 else responses


def _votes_of_others(responses: "Responses") -> NDArray[np.int32]:
    """Count the other responses to the item of each response, ``[response, class]``."""
    votes = np.zeros((responses.n_items, responses.n_classes), dtype=np.int32)
    items, symbols = responses.item_of_response(), responses.by_item.symbols
    np.add.at(votes, (items, symbols), 1)
    others = votes[items]
    others[np.arange(len(symbols)), symbols] -= 1
    return others
