"""From columns of text to the integer codes of Responses, without a step in Python per row."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse.errors import BadFile, naming
from blindfuse.kernels.hash_codes import number
from blindfuse.kernels.threads import thread_count
from blindfuse.readers.answers import Answers, counted
from blindfuse.readers.guessing import is_categorical
from blindfuse.readers.tables import Table
from blindfuse.responses.coding import MOST_CLASSES, code_labels
from blindfuse.responses.responses import Names, Responses
from blindfuse.responses.rows import Repeats

_ROLES = ("item", "annotator", "label")
_PIECE = 1 << 18

Coded = tuple[NDArray[np.int32], pl.Series]
"""Codes, and the values that they stand for."""


def coded(
    table: Table, answers: Answers, classes: Names | None, repeats: Repeats
) -> tuple[Responses, list[str]]:
    """Responses, and notes about what was empty or came again."""
    columns = [answers.frame[role] for role in _ROLES]
    with ThreadPoolExecutor(thread_count(None)) as pool:
        item, annotator, label = pool.map(numbered, columns)
    labels, class_names, notes = _code_labels(table, answers, label, classes)
    items, item_names = _named(table, item, labels, "item")
    annotators, annotator_names = _named(table, annotator, labels, "annotator")
    responses = Responses.from_codes(
        items,
        annotators,
        labels,
        items=item_names,
        annotators=annotator_names,
        classes=class_names,
        repeats=repeats,
    )
    again = f"answers dropped: their (item, annotator) pair came again, and the {repeats} is kept"
    return responses, [*notes, *counted(responses.repeated, again), *_single(responses)]


def numbered(column: pl.Series) -> Coded:
    """Codes in the order of first appearance, and the values that they stand for.

    Values are told apart by a hash. Should two share one, all are hashed anew with another seed.
    """
    for seed in count():
        codes, firsts = number(column.hash(seed).to_numpy())
        values = column.gather(firsts)
        if _stand_for(codes, values, column):
            return codes, values
    raise AssertionError("seeds do not end")


def _stand_for(codes: NDArray[np.int32], values: pl.Series, column: pl.Series) -> bool:
    """Whether codes and values give the column; piece by piece, to need little memory."""
    for piece in range(0, len(codes), _PIECE):
        part = values.gather(codes[piece : piece + _PIECE])
        if part.ne_missing(column.slice(piece, _PIECE)).any():
            return False
    return True


def _code_labels(
    table: Table, answers: Answers, label: Coded, classes: Names | None
) -> tuple[NDArray[Any], NDArray[Any], list[str]]:
    """Class codes, −1 for no answer; the classes; and notes on what counts as no answer."""
    codes, values = label
    if len(values) > MOST_CLASSES:
        raise BadFile(_too_many(table, answers, values))
    texts = values.to_list()
    named = None if classes is None else [str(one) for one in classes]
    blank = [_is_blank(text) for text in texts]
    unsaid = [
        text is not None and text.casefold() in answers.missing and text not in (named or ())
        for text in texts
    ]
    given = [text for text, *no in zip(texts, blank, unsaid, strict=True) if not any(no)]
    if not given and named is None:
        raise BadFile(f"{table.name} holds no label at all: nothing can be fused.")
    kept = [None if text not in given else text for text in texts]
    by_value, names = code_labels(
        np.array(kept, dtype=object),
        named if named is not None else _in_order(given),
        None,
        lambda at: f"{table.name}, row {int(np.argmax(codes == at)) + 1:,}",
    )
    given_by = answers.frame["annotator"].is_not_null().to_numpy()
    empty, void = (
        int(np.count_nonzero(np.array(which)[codes] & given_by)) if any(which) else 0
        for which in (blank, unsaid)
    )
    words = [text for text, out in zip(texts, unsaid, strict=True) if out]
    notes = [
        *counted(empty, "empty answers"),
        *counted(void, f"labels taken as no answer: {naming(words)}"),
    ]
    return by_value[codes], names, notes


def _is_blank(text: str | None) -> bool:
    return text is None or text.strip().casefold() in ("", "nan")


def _in_order(labels: list[str]) -> list[str]:
    """Labels as they sort: by value if all are numbers, so that 10 comes after 9."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def _too_many(table: Table, answers: Answers, values: pl.Series) -> str:
    used = set(answers.columns.values())
    better = [
        column.name for column in table.sample if column.name not in used and is_categorical(column)
    ]
    where = answers.columns["label"]
    if where not in table.columns:
        hint = f"Say which columns hold them with annotator=; there are {naming(better)}."
    elif better:
        hint = f"Did you mean label={better[0]!r}?"
    else:
        hint = "Say which column holds the label."
    some = naming(text[:40] for text in values.drop_nulls().head(3))
    return (
        f"{table.name}: {where!r} holds {len(values):,} different labels ({some}, …): "
        f"at most {MOST_CLASSES:,} classes are taken. {hint}"
    )


def _named(
    table: Table, column: Coded, labels: NDArray[Any], kind: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes into the names that are not empty, −1 for those that are; only non-answers may be."""
    codes, values = column
    empty = (values.is_null() | (values == "").fill_null(True)).to_numpy()
    if not empty.any():
        return codes, values.to_numpy()
    code_of = np.where(empty, -1, np.cumsum(~empty) - 1)
    nameless = (code_of[codes] < 0) & (labels >= 0)
    if nameless.any():
        raise BadFile(
            f"{table.name}, row {int(np.argmax(nameless)) + 1:,} has a label but no {kind}: "
            "every label needs one. Fill it in or drop it."
        )
    return code_of[codes], values.filter(~empty).to_numpy()


def _single(responses: Responses) -> list[str]:
    """A note if no item was labelled twice, as when a column of row numbers is taken for items."""
    if responses.n_items > 1 and responses.responses_per_item.max(initial=0) <= 1:
        return ["no item has more than one answer: is it the right item column?"]
    return []
