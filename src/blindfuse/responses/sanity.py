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
from blindfuse.responses.set_values import compound_texts
from blindfuse.responses.spellings import visible
from blindfuse.responses.values import LOOSE_NUMERAL, NUMERAL, WHOLE_NUMERAL, plain_numeral
from blindfuse.typing import Array, Codes, Flags, Floats, Integers

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

MIN_CLASSES = 10
"""With fewer classes, their number and their form are not suspicious."""

MIN_ITEMS = 30
"""Items that an annotator must share with others before agreement is suspicious."""

MAX_NAMES = 50_000
"""Number of items or annotators above which names are not compared; other checks take the first."""

MAX_CELLS = 500_000
"""Size of the tables in which agreement is counted: of responses by classes, or of items by
annotators."""

MAX_COLUMNS = 200
"""Annotators above which pairs of them are not compared."""

_MANY_WORDS = 5
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")
_TWO_PARTS = re.compile(r"(.+?)[\W_]+([^\W_]+)")
_DAMAGED = re.compile("\ufffd|[ÂÃ][\u0080-\u00bf]|â€")
"""What text becomes where it is decoded in another encoding than its own."""

_WRITE_LONG = "write one row per response, with the columns item, annotator and label"
_NAME_ANNOTATORS = (
    "If a column is not an annotator, name the annotators with --annotator (annotator= in Python)"
)


def sanity_notes(responses: "Responses") -> list[str]:
    """Return a note for every sign that a column was mistaken."""
    if not responses.is_plain:
        return []
    names = {"label": responses.classes, "item": responses.items, "annotator": responses.annotators}
    return [
        *_repetition_notes(responses),
        *_name_notes("item", responses.items),
        *_name_notes("annotator", responses.annotators),
        *(note for role, texts in names.items() for note in _encoding_notes(role, texts)),
        *_stray_notes(responses),
        *_class_notes(responses),
        *_agreement_notes(responses),
        *_pair_notes(responses),
    ]


# Names


def _name_notes(role: str, names: Array) -> list[str]:
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
    plain = [_plain_name(text) for text in texts]
    if len(set(plain)) < len(plain):
        first = next(text for text, count in Counter(plain).items() if count > 1)
        alike = [name for name, text in zip(names.tolist(), plain, strict=True) if text == first]
        notes.append(
            f"Check the {role}s: {len(plain) - len(set(plain)):,} of {len(plain):,} differ from "
            f"others only by case, Unicode form, zeros or type ({list_names(alike)}), and are "
            f"different {role}s. Write them alike if they are the same"
        )
    return notes


def _plain_name(text: str) -> str:
    """Return a key that is equal for names that are probably the same."""
    plain = text if text.isascii() else visible(unicodedata.normalize("NFKC", text))
    if re.match(WHOLE_NUMERAL, plain):
        return plain_numeral(plain)
    return _LEADING_ZEROS.sub("", plain.casefold())


def _encoding_notes(role: str, names: Array) -> list[str]:
    """Return a note about names that were decoded in another encoding than their own."""
    damaged = [name for name in names[:MAX_NAMES].tolist() if _DAMAGED.search(str(name))]
    if not damaged:
        return []
    return [
        f"Check the {role}s: {len(damaged):,} of {len(names):,} have damaged characters "
        f"({list_names(damaged, 3)}). Export the table again as UTF-8"
    ]


# Items


def _stray_notes(responses: "Responses") -> list[str]:
    """Return a note about a few items that share no label with others, as totals and headers do.

    The only item of a rare class is none of them: its annotators agree on a label that is not its
    name, nor a number among words, and label others.
    """
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    first, last = np.zeros((2, responses.n_classes), dtype=np.intp)
    last[symbols], first[symbols[::-1]] = items, items[::-1]
    is_new = (first == last) & (responses.responses_per_symbol > 0)
    candidates = np.unique(first[is_new])
    if 10 * len(candidates) > np.count_nonzero(responses.responses_per_item):
        return []
    starts, stray = responses.by_item.starts, []
    are_words = not any(NUMERAL.fullmatch(str(name)) for name in responses.classes[~is_new])
    for item in candidates.tolist():
        row = slice(starts[item], starts[item + 1])
        labels = np.unique(symbols[row])
        first_label = str(responses.classes[labels[0]])
        is_named = first_label == str(responses.items[item])
        is_number = NUMERAL.fullmatch(first_label) is not None and are_words
        is_alone = np.all(responses.responses_per_annotator[annotators[row]] == 1)
        if is_new[labels].all() and (len(labels) > 1 or is_named or is_number or is_alone):
            stray.append(item)
    if not stray:
        return []
    return [
        f"Check the items: {list_names(responses.items[stray])} "
        f"{'has' if len(stray) == 1 else 'have'} labels that no other item has, as a row of totals "
        "or a second header would. Delete the row if it is not an item"
    ]


def _repetition_notes(responses: "Responses") -> list[str]:
    """Return a note if most responses are repeated, and contradict each other or are very many."""
    labelled = max(responses.n_responses + responses.contradictory, 1)
    times = 1 + responses.repeated / labelled
    if times < 10 and (times < 2 or 4 * responses.contradictory < labelled):
        return []
    return [
        f"Check the items: annotators labelled an item {times:.1f} times on average. If another "
        "column tells apart what was labelled, such as an id, a data set or a version, pass it as "
        "--item (item= in Python), or join it to the items"
    ]


# Classes


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
    long = [text for text in texts if len(text.split()) > _MANY_WORDS or "\n" in text]
    if long and (len(long) < n_classes or n_classes >= MIN_CLASSES):
        return [
            f"Check the labels: {len(long):,} of {n_classes:,} classes are sentences or contain "
            f"line breaks ({list_names((text[:80] for text in long), 2)}). If this is not the "
            "label column, pass --label (label= in Python). If models wrote their reasoning there, "
            "keep only the verdict, or pass the texts as --missing (missing= in Python). If a "
            'quote is not closed, write quotes inside of cells twice, as in "a ""b"" c"'
        ]
    if n_classes < MIN_CLASSES:
        return []
    remedy = "If this is not the label column, pass --label (label= in Python)"
    if n_classes > MIN_CLASSES and all(map(LOOSE_NUMERAL.fullmatch, texts)):
        return [
            f"Check the labels: the {n_classes:,} classes are numbers ({examples}). If they are "
            "scores, add --scores for a class per item (Responses.from_scores in Python) or "
            f"--numbers for a number per item (fuse_numbers). {remedy}"
        ]
    n_with_digits = sum(any(map(str.isdigit, text)) for text in texts)  # as ids have
    if 4 * n_classes > responses.n_items or (n_classes > 20 and n_with_digits > 0.8 * n_classes):
        return [
            f"Check the labels: there are {n_classes:,} classes ({examples}) for "
            f"{responses.n_items:,} items. {remedy}"
        ]
    return []


# Annotators


def _agreement_notes(responses: "Responses") -> list[str]:
    """Return notes about annotators who agree with nobody, or always with the others' vote."""
    if responses.n_annotators < 3 or not responses.n_responses:
        return []
    sample = _sample(responses, responses.n_responses * responses.n_classes)
    votes = _votes_of_others(sample)
    annotators = sample.by_item.codes
    reported = np.take_along_axis(votes, _column(sample.by_item.symbols), axis=1)[:, 0]
    n_others, best = votes.sum(axis=1), votes.max(axis=1)
    is_decided = (n_others > 1) & (np.count_nonzero(votes == _column(best), axis=1) == 1)

    def count(where: Flags) -> Codes:
        return np.bincount(annotators[where], minlength=sample.n_annotators)

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
            f"{_NAME_ANNOTATORS}"
        )
    if always.any() and others.any() and following[others].sum() < 0.95 * decided[others].sum():
        notes.append(
            "Check the annotators: the vote of the others always agrees with "
            f"{list_names(responses.annotators[always])}, as with gold labels or a fused result. "
            f"{_NAME_ANNOTATORS}"
        )
    return notes


def _pair_notes(responses: "Responses") -> list[str]:
    """Return a note if annotators agree less than by chance, or only within groups of columns.

    Columns with counts or shares of votes, or with one class each, do the former: where one
    has more, the others have less. Columns of one annotator and one question do the latter.
    """
    if not 2 <= responses.n_annotators <= MAX_COLUMNS:
        return []
    sample = _sample(responses, responses.n_items * responses.n_annotators)
    agreeing, expected, shared = _agreement_of_pairs(sample)
    pairs = np.triu_indices(sample.n_annotators, 1)
    n_pairs = max(float(shared[pairs].sum()), 1.0)
    observed, chance = agreeing[pairs].sum() / n_pairs, expected[pairs].sum() / n_pairs
    error = np.sqrt(chance * (1 - chance) / n_pairs)
    if chance - observed > error and sample.n_items >= 10:
        return [
            f"Check the annotators: {100 * observed:.0f} % of pairs agree, where "
            f"{100 * chance:.0f} % would by chance, as in columns with the counts or shares of "
            f"votes per class, or of one class each. If they are not annotators: {_WRITE_LONG}"
        ]
    kappa = (agreeing - expected) / np.maximum(shared - expected, 1e-9)
    return _question_notes(responses.annotators, kappa)


def _agreement_of_pairs(responses: "Responses") -> tuple[Floats, Floats, Floats]:
    """Count the items on which two annotators agree, would by chance, and that they share.

    By chance, annotators report classes as often as they do, whatever the item. All
    ``[annotator, annotator]``.
    """
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    shape = responses.n_items, responses.n_annotators
    agreeing, counts = np.zeros((shape[1], shape[1])), []
    responded = np.zeros(shape, dtype=np.float32)
    responded[items, annotators] = 1
    shared = (responded.T @ responded).astype(float)
    for symbol in range(responses.n_classes):
        reports = np.zeros(shape, dtype=np.float32)
        reports[items[symbols == symbol], annotators[symbols == symbol]] = 1
        agreeing += reports.T @ reports
        counts.append(reports.sum(axis=0))
    shares = np.stack(counts, axis=1) / np.maximum(responded.sum(axis=0), 1)[:, None]
    return agreeing, shared * (shares @ shares.T), shared


def _question_notes(names: Array, kappa: Floats) -> list[str]:
    """Return a note if only columns that share a part of their two-part names agree.

    The parts occur in all combinations, as with one annotator and one class or question each.
    """
    parts = [_TWO_PARTS.fullmatch(str(name)) for name in names.tolist()]
    pairs = [part.groups() for part in parts if part is not None]
    if len(pairs) < max(len(parts), 4):
        return []
    (first, one), (second, other) = (
        np.unique(side, return_inverse=True) for side in zip(*pairs, strict=True)
    )
    if len(first) * len(second) != len(set(pairs)) or min(len(first), len(second)) < 2:
        return []
    for codes, others in ((one, other), (other, one)):
        within, across = _mean_within(kappa, codes), _mean_within(kappa, others)
        if within > 0.3 and across < within / 3:
            return [
                f"Check the annotators: columns such as {list_names(names[codes == 0], 2)} agree, "
                f"and columns such as {list_names(names[others == 0], 2)} do not, as with one "
                "annotator and one class or question per column. Name the columns of one question "
                f"with --annotator (annotator= in Python), or {_WRITE_LONG}"
            ]
    return []


def _mean_within(kappa: Floats, groups: Codes) -> float:
    """Return the mean of the pairs within groups."""
    is_same = groups[:, None] == groups
    np.fill_diagonal(is_same, False)
    return float(kappa[is_same].mean())


def _column(values: Array) -> Array:
    return values.astype(np.intp)[:, None]


def _sample(responses: "Responses", n_cells: int) -> "Responses":
    """Return the responses to evenly spaced items, so that a table of that size becomes small."""
    step = 1 + n_cells // MAX_CELLS
    return responses.select_items(np.arange(0, responses.n_items, step)) if step > 1 else responses


def _votes_of_others(responses: "Responses") -> Integers:
    """Count the other responses to the item of each response, ``[response, class]``."""
    votes = np.zeros((responses.n_items, responses.n_classes), dtype=np.int32)
    items, symbols = responses.item_of_response(), responses.by_item.symbols
    np.add.at(votes, (items, symbols), 1)
    others = votes[items]
    others[np.arange(len(symbols)), symbols] -= 1
    return others
