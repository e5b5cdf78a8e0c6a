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
from blindfuse.responses.spellings import repair_encoding, visible
from blindfuse.responses.values import NUMERAL, WHOLE_NUMERAL, is_missing_marker, plain_numeral
from blindfuse.typing import Array, Codes, Flags, Floats

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

MIN_CLASSES = 10
"""With fewer classes, their number and their form are not suspicious."""

MANY_NUMBERS = 10
"""Classes above which numbers are more likely ratings than names of classes."""

MIN_ITEMS = 30
"""Items that an annotator must share with others before agreement is suspicious."""

MAX_NAMES = 50_000
"""Number of items or annotators above which names are not compared; other checks take the first."""

MAX_CELLS = 500_000
"""Size of the sample in which agreement is counted: responses times classes."""

MIN_COUNTED_ITEMS = 10
"""Minimum number of items for agreement below chance to be a sign of columns that count."""

MIN_DISAGREEMENT = 0.1
"""How far below zero the chance-corrected agreement is where columns count."""

MIN_AGREEMENT = 0.3
"""Chance-corrected agreement of annotators who respond to the same question; those who respond to
different ones have a third of that at most."""

MAX_COLUMNS = 200
"""Annotators above which names are not divided into annotators and questions."""

MANY_TIMES = 10
"""Responses of an annotator to an item above which they are hardly responses to one item."""

CLEAR_Z = 3.0
"""Standard errors by which agreement must be below chance."""

_TOTALS = ("total", "totals", "grand total", "subtotal", "sum", "count", "average", "mean")
"""Names of rows that summarise the others."""

_COMMENT_SIGNS = ("#", "//", "--", "%")

MAX_SPREAD = 0.5
"""Variance of the sum of an item's labels, relative to independent annotators, below which columns
hold counts or shares: where one class has more, the others have less."""

MAX_ROUNDING = 0.02
"""How far the sum of the shares of an item may be from one."""

_TRUTH_VALUES = {"0": 0, "1": 1, "false": 0, "true": 1, "no": 0, "yes": 1}
_TWO_WORDS = re.compile(r"(.+?)[\W_]+([^\W_]+)")
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")

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
        *_lost_character_notes("label", responses.classes),
        *_lost_character_notes("item", responses.items),
        *_lost_character_notes("annotator", responses.annotators),
        *_stray_notes(responses),
        *_commented_notes(responses),
        *_class_notes(responses),
        *_date_notes(responses),
        *_agreement_notes(responses),
        *(_column_notes(responses) or _question_notes(responses)),
    ]


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
    plain = text
    if not text.isascii():
        plain = visible(unicodedata.normalize("NFKC", repair_encoding(text)))
    if re.match(WHOLE_NUMERAL, plain):
        return plain_numeral(plain)
    return _LEADING_ZEROS.sub("", plain.casefold())


def _stray_notes(responses: "Responses") -> list[str]:
    """Return a note about rows that are no items, such as totals and second headers.

    Their labels are new, and their names or labels are unlike those of items.
    """
    names = [str(name).casefold() for name in responses.items[-MAX_NAMES:].tolist()]
    before = responses.n_items - len(names)
    totals = [before + at for at, one in enumerate(names) if one in _TOTALS]
    n_heard = np.count_nonzero(responses.responses_per_item)
    has_classes = MIN_COUNTED_ITEMS <= n_heard > 4 * responses.n_classes
    ends = [0, 1, responses.n_items - 1] if has_classes else []
    found = [
        item
        for item in dict.fromkeys([*totals, *ends])
        if _has_new_labels(responses, item) and (item in totals or _is_header(responses, item))
    ]
    found = list(dict.fromkeys([*found, *_unconnected_items(responses)]))
    if not found:
        return []
    return [
        f"Check the items: {list_names(responses.items[found])} "
        f"{'has' if len(found) == 1 else 'have'} labels that no other item has, as a row of totals "
        "or a second header would. Delete the row if it is not an item"
    ]


def _unconnected_items(responses: "Responses") -> list[int]:
    """Return a few items whose only response is the only one of its annotator and of its class."""
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    alone = np.flatnonzero(np.bincount(symbols, minlength=responses.n_classes)[symbols] == 1)
    is_alone = (responses.responses_per_item[items[alone]] == 1) & (
        responses.responses_per_annotator[annotators[alone]] == 1
    )
    found: list[int] = items[alone][is_alone].tolist()
    return found if MIN_ITEMS * len(found) <= responses.n_items else []


def _has_new_labels(responses: "Responses", item: int) -> bool:
    """Return whether no other item has the labels of this one."""
    every = responses.by_item.symbols
    own = responses.select_items(np.array([item])).by_item.symbols
    new = (np.count_nonzero(every == one) == np.count_nonzero(own == one) for one in np.unique(own))
    return bool(len(own)) and all(new)


def _is_header(responses: "Responses", item: int) -> bool:
    """Return whether the labels of an item differ, name the item, or have annotators of their own.

    So do the cells of a second header, such as questions and types.
    """
    _, annotators, symbols = responses.select_items(np.array([item])).by_item
    labels = {str(name) for name in responses.classes[np.unique(symbols)].tolist()}
    is_alone = responses.responses_per_annotator[annotators] == 1
    return len(labels) > 1 or labels == {str(responses.items[item])} or bool(is_alone.all())


def _commented_notes(responses: "Responses") -> list[str]:
    """Return a note about a few items that begin as comments do, as rows that were taken out."""
    is_heard = responses.responses_per_item > 0
    names = [str(name) for name in responses.items[is_heard][:MAX_NAMES].tolist()]
    marked = [name for name in names if name.startswith(_COMMENT_SIGNS)]
    if not 0 < MIN_COUNTED_ITEMS * len(marked) <= len(names):
        return []
    return [
        f"Check the items: {list_names(marked, 3)} begin{'s' if len(marked) == 1 else ''} as "
        "comments do. Delete these rows if they are comments"
    ]


def _lost_character_notes(role: str, names: Array) -> list[str]:
    """Return a note about names with the sign that replaces characters of another encoding."""
    lost = [name for name in names[:MAX_NAMES].tolist() if "\ufffd" in str(name)]
    if not lost:
        return []
    return [
        f"Check the {role}s: {len(lost):,} of {len(names):,} contain '\ufffd' "
        f"({list_names(lost, 3)}), where characters were lost. Export the table again as UTF-8"
    ]


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
    """Return a note if items seem to stand for several, by their names or repeated responses."""
    if not responses.repeated:
        return []
    names = responses.items[:MAX_NAMES].tolist()
    rounded = [name for name in names if _ROUNDED.fullmatch(str(name))]
    if not rounded:
        return _repetition_notes(responses)
    return [
        f"Check the items: {len(rounded):,} of {len(names):,} are numbers that a "
        f"spreadsheet has rounded ({list_names(rounded, 3)}), so that several may have become "
        "one. Export the column as text"
    ]


def _repetition_notes(responses: "Responses") -> list[str]:
    """Return a note if most responses are repeated, and contradict each other or are very many."""
    kept = max(responses.n_responses + responses.contradictory, 1)
    times = 1 + responses.repeated / kept
    if times < MANY_TIMES and (times < 2 or 4 * responses.contradictory < kept):
        return []
    return [
        f"Check the items: annotators labelled an item {times:.1f} times on average. If another "
        "column tells apart what was labelled, such as an id, a data set or a version, pass it as "
        "--item (item= in Python), or join it to the items"
    ]


def _class_notes(responses: "Responses") -> list[str]:
    """Return a note if the classes are too many, or look like numbers, ids or sentences."""
    texts = [str(name) for name in responses.classes.tolist()]
    n_classes, examples = len(texts), list_names(responses.classes, 3)
    broken = [text for text in texts if "\n" in text]
    if broken and len(broken) < n_classes:
        return [
            f"Check the labels: {len(broken):,} of {n_classes:,} classes contain line breaks "
            f"({list_names((text[:80] for text in broken), 1)}), as where a quote in the file is "
            'not closed. Write quotes inside of cells twice, as in "a ""b"" c"'
        ]
    compounds = compound_texts(texts)
    if compounds:
        return [
            f"Check the labels: {len(compounds):,} of {n_classes:,} classes name several "
            f"labels at once ({list_names(compounds, 3)}). Add --multi-label (fuse_sets in "
            "Python) to fuse them one by one"
        ]
    if n_classes < MIN_CLASSES:
        return _sentence_notes(texts)
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
    return _sentence_notes(texts)


def _sentence_notes(texts: Sequence[str]) -> list[str]:
    """Return a note if some classes are sentences, and the others are words."""
    long = [text for text in texts if len(text.split()) > _MANY_WORDS]
    if not long or len(long) == len(texts):
        return []
    return [
        f"Check the labels: {len(long):,} of {len(texts):,} classes are sentences "
        f"({list_names((text[:80] for text in long), 2)}). If a model wrote its reasoning there, "
        "keep only the verdict, or pass the texts as --missing (missing= in Python)"
    ]


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

    def count(chosen: Flags) -> Codes:
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


def _column_notes(responses: "Responses") -> list[str]:
    """Return a note if columns that were read as annotators are classes, or one of each.

    Columns that count votes, or hold one 1 per item, agree less often than by chance.
    """
    texts = [str(name).casefold() for name in responses.classes.tolist()]
    if responses.n_annotators < 2 or not all(_is_count(text) for text in texts):
        return []
    sample = _sample(responses)
    write = "Write one row per response, with the columns item, annotator and label"
    pair = _annotator_and_class(sample, texts)
    if pair is not None:
        return [
            f"Check the annotators: columns such as {pair!r} seem to hold one annotator and one "
            f"class each, because each item has one 1 per group of columns. {write}"
        ]
    observed, chance, z = _agreement(sample)
    spread = _spread_of_sums(sample, texts)
    if spread is not None and spread < MAX_SPREAD:
        sign = "the labels of an item have nearly the same sum for all items"
    elif z < -CLEAR_Z and observed - chance < -MIN_DISAGREEMENT * (1 - chance):
        sign = f"{100 * observed:.0f} % of pairs agree, where {100 * chance:.0f} % would by chance"
    else:
        return []
    return [
        f"Check the annotators: {sign}, as in columns with the counts or shares of votes per "
        f"class. If they are not annotators: {write[0].lower()}{write[1:]}"
    ]


def _is_count(text: str) -> bool:
    return text in _TRUTH_VALUES or (NUMERAL.fullmatch(text) is not None and text[0] != "-")


def _spread_of_sums(responses: "Responses", texts: Sequence[str]) -> float | None:
    """Return the variance of the sum of labels, divided by the sum of their variances.

    It is one for independent annotators, and larger if they agree. Only items with all responses
    count. None if they are too few, or if labels are 0 and 1 and have different sums: one
    annotator who is always wrong would look the same.
    """
    values = np.array([_TRUTH_VALUES.get(text, text.replace(",", ".")) for text in texts], float)
    if _are_shares(responses, values):
        return 0.0
    is_complete = responses.responses_per_item == responses.n_annotators
    labels = values[responses.by_item.symbols][is_complete[responses.item_of_response()]]
    table = labels.reshape(-1, responses.n_annotators)
    if len(table) < MIN_COUNTED_ITEMS or np.ptp(table, axis=0).max() == 0:
        return None
    sums, is_binary = table.sum(axis=1), set(values) <= {0, 1}
    return None if is_binary and np.ptp(sums) > 0 else float(sums.var() / table.var(axis=0).sum())


def _are_shares(responses: "Responses", values: Floats) -> bool:
    """Return whether labels are fractions whose sum is one for nearly all items."""
    if responses.n_items < MIN_COUNTED_ITEMS or np.all(values == np.round(values)):
        return False
    labels = values[responses.by_item.symbols]
    sums = np.bincount(responses.item_of_response(), labels, minlength=responses.n_items)
    return bool(np.mean(np.abs(sums - 1) < MAX_ROUNDING) > 0.95)


def _agreement(responses: "Responses") -> tuple[float, float, float]:
    """Return the share of pairs that agree, the share by chance, and their difference in σ.

    By chance, annotators report classes as often as they do, whatever the item. Items are
    independent.
    """
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    shares = np.zeros((responses.n_annotators, responses.n_classes))
    np.add.at(shares, (annotators, symbols), 1)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
    sums = np.zeros((responses.n_items, responses.n_classes))
    np.add.at(sums, items, shares[annotators])
    own = shares[annotators]
    expected = np.einsum("rk,rk->r", own, sums[items] - own)
    votes = _votes_of_others(responses)
    agreeing = np.take_along_axis(votes, _column(symbols), axis=1)[:, 0]
    n_pairs = float(votes.sum())
    if responses.n_items < MIN_COUNTED_ITEMS or not n_pairs:
        return 0.0, 0.0, 0.0
    excess = np.bincount(items, agreeing - expected, minlength=responses.n_items)
    z = excess.sum() / max(float(np.sqrt(np.sum(excess**2))), 1e-12)
    return float(agreeing.sum() / n_pairs), float(expected.sum() / n_pairs), float(z)


def _annotator_and_class(responses: "Responses", texts: Sequence[str]) -> str | None:
    """Return the name of a column if every column holds one annotator and one class, else None.

    Names then consist of two parts, in all combinations, and where all columns of an annotator
    have a value, one of them is 1.
    """
    parts = _name_parts(responses)
    if parts is None or any(text not in _TRUTH_VALUES for text in texts):
        return None
    is_one = np.array([_TRUTH_VALUES[text] for text in texts])[responses.by_item.symbols]
    items = responses.item_of_response()
    for codes in parts:
        n_groups = int(codes.max()) + 1
        cells = items * n_groups + codes[responses.by_item.codes]
        is_complete = np.bincount(cells) == responses.n_annotators // n_groups
        ones = np.bincount(cells, is_one)[is_complete]
        if len(ones) >= MIN_COUNTED_ITEMS and np.mean(ones == 1) > 0.95:
            return str(responses.annotators[0])
    return None


def _name_parts(responses: "Responses") -> tuple[Codes, Codes] | None:
    """Return codes of the first and second parts of the annotators' names, ``[annotator]`` each.

    None unless all names have two parts, and the parts occur in all combinations.
    """
    names = [str(name) for name in responses.annotators.tolist()]
    if not 4 <= len(names) <= MAX_COLUMNS:
        return None
    parts = [match.groups() for name in names if (match := _TWO_WORDS.fullmatch(name))]
    if len(parts) < len(names):
        return None
    (first, one), (second, other) = (
        np.unique(side, return_inverse=True) for side in zip(*parts, strict=True)
    )
    is_product = len(first) * len(second) == len(set(parts)) and min(len(first), len(second)) > 1
    return (one, other) if is_product else None


def _question_notes(responses: "Responses") -> list[str]:
    """Return a note if every column holds one annotator and one question of several.

    Names then consist of two parts, and only columns that share the part of the question agree.
    """
    parts = _name_parts(responses)
    if parts is None:
        return []
    sample, names = _sample(responses), responses.annotators
    for codes, others in (parts, parts[::-1]):
        agreement, across = _agreement_within(sample, codes), _agreement_within(sample, others)
        if agreement > MIN_AGREEMENT and across < agreement / 3:
            shown = names[codes == 0], names[others == 0]
            return [
                f"Check the annotators: columns such as {list_names(shown[0], 2)} agree, and "
                f"columns such as {list_names(shown[1], 2)} do not, as with one annotator and one "
                "question per column. Name the columns of one question with --annotator "
                "(annotator= in Python)"
            ]
    return []


def _agreement_within(responses: "Responses", groups: Codes) -> float:
    """Return the mean agreement, corrected for chance, of annotators of the same group."""
    found = []
    for group in range(int(groups.max()) + 1):
        observed, chance, _ = _agreement(responses.select_annotators(groups == group))
        found.append((observed - chance) / max(1 - chance, 1e-9))
    return float(np.mean(found))


def _column(values: Array) -> Array:
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
