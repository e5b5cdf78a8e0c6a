"""Signs that columns were mistaken: classes that are not classes, annotators that are not.

The checks are cheap, and looked at before anything is fused or written. None of them proves a
mistake, so they are notes that name the option to set.
"""

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from blindfuse.errors import list_names
from blindfuse.responses.markers import is_missing_marker
from blindfuse.responses.scalars import WHOLE_NUMERAL, is_numeral, plain_numeral
from blindfuse.responses.set_coding import compound_texts
from blindfuse.responses.values import visible
from blindfuse.typing import Array

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

_MANY_CLASSES = 10
"""With fewer classes, their number and their form are not suspicious."""
_DIGITS = set("0123456789")
"""Classes that are numbers, but no scores."""
_MIN_ITEMS = 30
"""Items on which an annotator must agree with the vote before always agreeing is suspicious."""
_MAX_NAMES = 50_000
"""Number of items or annotators above which names are not compared."""
_MAX_VOTES = 500_000
"""Responses by classes up to which votes are counted; of larger tables, those of some items."""
_MANY_WORDS = 5


def sanity_notes(responses: "Responses") -> list[str]:
    """Return a note for every sign that a column was mistaken."""
    if not responses.is_plain:
        return []
    return [
        *_name_notes("item", responses.items),
        *_name_notes("annotator", responses.annotators),
        *_class_notes(responses),
        *_leak_notes(responses),
    ]


def _name_notes(role: str, names: Array) -> list[str]:
    """Return notes about names that are almost the same, or mark missing names."""
    texts = [str(name) for name in names.tolist()]
    if not 1 < len(texts) <= _MAX_NAMES:
        return []
    notes = []
    missing = list(filter(is_missing_marker, texts))
    if missing:
        notes.append(
            f"Check the {role}s: {list_names(missing)} is read as the name of an {role}. If it "
            "marks missing names, delete these rows"
        )
    plain = list(map(_plain_name, texts))
    counts = Counter(plain)
    if len(counts) < len(plain):
        first = next(text for text, count in counts.items() if count > 1)
        alike = names[[text == first for text in plain]]
        notes.append(
            f"Check the {role}s: {len(plain) - len(counts):,} of {len(plain):,} differ from "
            f"others only by case, Unicode form, zeros or type ({list_names(alike)}), and are "
            f"different {role}s. Write them alike if they are the same"
        )
    return notes


def _plain_name(text: str) -> str:
    """Return a key that is equal for names that are probably the same."""
    plain = text if text.isascii() else visible(unicodedata.normalize("NFKC", text))
    plain = plain_numeral(plain) if re.match(WHOLE_NUMERAL, plain) else plain.casefold()
    return re.sub(r"(?<![\d.,])0+(?=\d)", "", plain)


def _class_notes(responses: "Responses") -> list[str]:
    """Return a note if classes are too many, or look like several labels, numbers or sentences."""
    texts = [str(name) for name in responses.classes.tolist()]
    n_classes, examples = len(texts), list_names(responses.classes, 3)
    compounds = compound_texts(texts)
    if compounds:
        return [
            f"Check the labels: {len(compounds):,} of {n_classes:,} classes name several "
            f"labels at once ({list_names(compounds, 3)}). Add --multi-label (fuse_sets in "
            "Python) to fuse them one by one"
        ]
    is_many = n_classes >= _MANY_CLASSES
    remedy = "If this is not the label column, pass --label (label= in Python)"
    long = [text for text in texts if len(text.split()) > _MANY_WORDS or "\n" in text]
    if long and (len(long) < n_classes or is_many):
        return [
            f"Check the labels: {len(long):,} of {n_classes:,} classes are sentences or contain "
            f"line breaks ({list_names((text[:80] for text in long), 2)}). {remedy}. If models "
            "wrote their reasoning there, keep only the verdict, or pass the texts as --missing "
            "(missing= in Python)"
        ]
    if is_many and all(map(is_numeral, texts)) and set(texts) != _DIGITS:
        return [
            f"Check the labels: the {n_classes:,} classes are numbers ({examples}). If they are "
            "scores, add --scores for a class per item (Responses.from_scores in Python) or "
            f"--numbers for a number per item (fuse_numbers). {remedy}"
        ]
    n_with_digits = sum(any(map(str.isdigit, text)) for text in texts)  # as ids have
    are_ids = n_classes > 20 and n_with_digits > 0.8 * n_classes
    if is_many and (4 * n_classes > responses.n_items or are_ids):
        return [
            f"Check the labels: there are {n_classes:,} classes ({examples}) for "
            f"{responses.n_items:,} items. {remedy}"
        ]
    return []


def _leak_notes(responses: "Responses") -> list[str]:
    """Return a note about annotators with whom the vote of the others always agrees."""
    if responses.n_annotators < 3 or not responses.n_responses:
        return []
    step = 1 + responses.n_responses * responses.n_classes // _MAX_VOTES
    sample = responses.select_items(np.arange(0, responses.n_items, step))
    items, (_, annotators, symbols) = sample.item_of_response(), sample.by_item
    votes = np.zeros((sample.n_items, sample.n_classes), dtype=np.int32)
    np.add.at(votes, (items, symbols), 1)
    others, response = votes[items], np.arange(len(symbols))
    others[response, symbols] -= 1
    best = others.max(axis=1)
    is_decided = (np.count_nonzero(others == best[:, None], axis=1) == 1) & (others.sum(axis=1) > 1)
    decided, agreeing = (
        np.bincount(annotators[mask], minlength=sample.n_annotators)
        for mask in (is_decided, is_decided & (others[response, symbols] == best))
    )
    is_complete = 10 * sample.responses_per_annotator >= 9 * sample.n_items
    always = is_complete & (decided >= _MIN_ITEMS) & (agreeing == decided)
    if not always.any() or agreeing[~always].sum() >= 0.95 * decided[~always].sum():
        return []
    return [
        "Check the annotators: the vote of the others always agrees with "
        f"{list_names(responses.annotators[always])}, as with gold labels or a fused result. If a "
        "column is not an annotator, name the annotators with --annotator (annotator= in Python)"
    ]
