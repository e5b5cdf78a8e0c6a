"""Encode text columns as the integer codes of ``Responses``, without a Python step per row."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse.errors import BadFile, list_names
from blindfuse.kernels.hash_codes import factorize_hashes
from blindfuse.kernels.threads import thread_count
from blindfuse.readers.detection import is_categorical
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table
from blindfuse.responses.coding import MAX_CLASSES, code_labels
from blindfuse.responses.notes import count_note
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.responses import Names, Responses

_ROLES = ("item", "annotator", "label")
_BLOCK_ROWS = 1 << 18

Factor = tuple[NDArray[np.int32], pl.Series]
"""``codes[row]``, and ``values[code]``."""


def encode(
    table: Table, parsed: ParsedResponses, classes: Names | None, repeats: Repeats
) -> tuple[Responses, list[str]]:
    """Return the responses, and notes about missing and repeated ones."""
    columns = [parsed.frame[role] for role in _ROLES]
    with ThreadPoolExecutor(thread_count(None)) as pool:
        item, annotator, label = pool.map(factorize, columns)
    labels, class_names, notes = _encode_labels(table, parsed, label, classes)
    items, item_names = _encode_names(table, item, labels, "item")
    annotators, annotator_names = _encode_names(table, annotator, labels, "annotator")
    responses = Responses.from_codes(
        items,
        annotators,
        labels,
        items=item_names,
        annotators=annotator_names,
        classes=class_names,
        repeats=repeats,
    )
    return responses, [*notes, *responses.repeat_notes, *_overlap_note(responses)]


def factorize(column: pl.Series) -> Factor:
    """Return codes in order of first appearance, and the value of each code.

    Values are compared by their hash. If two distinct values share a hash, all values are hashed
    again with another seed.
    """
    for seed in count():
        codes, firsts = factorize_hashes(column.hash(seed).to_numpy())
        values = column.gather(firsts)
        if _reproduces(codes, values, column):
            return codes, values
    raise AssertionError("the seeds never end")


def _reproduces(codes: NDArray[np.int32], values: pl.Series, column: pl.Series) -> bool:
    """Return whether ``values[codes]`` equals the column; block by block, to save memory."""
    for start in range(0, len(codes), _BLOCK_ROWS):
        block = values.gather(codes[start : start + _BLOCK_ROWS])
        if block.ne_missing(column.slice(start, _BLOCK_ROWS)).any():
            return False
    return True


def _encode_labels(
    table: Table, parsed: ParsedResponses, label: Factor, classes: Names | None
) -> tuple[NDArray[Any], NDArray[Any], list[str]]:
    """Return class codes (−1 for missing), the classes, and notes about missing labels."""
    codes, values = label
    if len(values) > MAX_CLASSES:
        raise BadFile(_too_many_classes(table, parsed, values))
    texts = values.to_list()
    named = None if classes is None else [str(one) for one in classes]
    is_empty = [_is_empty(text) for text in texts]
    is_missing = [
        text is not None and text.casefold() in parsed.missing and text not in (named or ())
        for text in texts
    ]
    reported = [
        text for text, *skipped in zip(texts, is_empty, is_missing, strict=True) if not any(skipped)
    ]
    if not reported and named is None:
        raise BadFile(
            f"{table.name} contains no labels, so there is nothing to fuse. Check the label column."
        )
    kept = [text if text in reported else None for text in texts]
    class_of_value, names = code_labels(
        np.array(kept, dtype=object),
        named if named is not None else _sorted_labels(reported),
        None,
        lambda at: f"{table.name}, row {int(np.argmax(codes == at)) + 1:,}",
    )
    has_annotator = parsed.frame["annotator"].is_not_null().to_numpy()
    empty, missing = (
        int(np.count_nonzero(np.array(which)[codes] & has_annotator)) if any(which) else 0
        for which in (is_empty, is_missing)
    )
    words = [text for text, skipped in zip(texts, is_missing, strict=True) if skipped]
    notes = [
        *count_note(empty, "empty label{s} treated as missing"),
        *count_note(missing, f"label{{s}} treated as missing: {list_names(words)}"),
    ]
    return class_of_value[codes], names, notes


def _is_empty(text: str | None) -> bool:
    return text is None or text.strip().casefold() in ("", "nan")


def _sorted_labels(labels: Sequence[str]) -> list[str]:
    """Sort labels as text, or by value if all are numbers, so that 10 comes after 9."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def _too_many_classes(table: Table, parsed: ParsedResponses, values: pl.Series) -> str:
    used = set(parsed.columns.values())
    categorical = [
        column.name for column in table.sample if column.name not in used and is_categorical(column)
    ]
    where = parsed.columns["label"]
    if where not in table.columns:
        hint = f"Name the columns with labels by annotator=; there are {list_names(categorical)}."
    elif categorical:
        hint = f"Did you mean label={categorical[0]!r}?"
    else:
        hint = "Name the label column with label=."
    examples = list_names(text[:40] for text in values.drop_nulls().head(3))
    return (
        f"{table.name}: {where!r} contains {len(values):,} different labels ({examples}, …), "
        f"but at most {MAX_CLASSES:,} classes are supported. {hint}"
    )


def _encode_names(
    table: Table, column: Factor, labels: NDArray[Any], role: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return codes (−1 for an empty name) and names. Only missing responses may lack a name."""
    codes, values = column
    is_empty = (values.is_null() | (values == "").fill_null(True)).to_numpy()
    if not is_empty.any():
        return codes, values.to_numpy()
    code_of_value = np.where(is_empty, -1, np.cumsum(~is_empty) - 1)
    nameless = (code_of_value[codes] < 0) & (labels >= 0)
    if nameless.any():
        raise BadFile(
            f"{table.name}, row {int(np.argmax(nameless)) + 1:,} has a label but no {role}. "
            "Fill it in or drop the row."
        )
    return code_of_value[codes], values.filter(~is_empty).to_numpy()


def _overlap_note(responses: Responses) -> list[str]:
    """Return a note if no item has two responses, as when the item column holds row numbers."""
    if responses.n_items > 1 and responses.responses_per_item.max(initial=0) <= 1:
        return ["no item has more than one response: check that the item column is right"]
    return []
