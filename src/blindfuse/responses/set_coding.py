"""Conversion of users' sets (lists, texts, ticks) to codes of distinct sets."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import as_values, code_distinct
from blindfuse.responses.markers import is_missing_marker, truth_value
from blindfuse.responses.nested_labels import choose_separator, parse_set, set_key
from blindfuse.responses.notes import count_note
from blindfuse.responses.scalars import is_null, name_key
from blindfuse.responses.values import LabelOptions
from blindfuse.typing import Array, Codes, Flags, Floats

Members = Flags


class CodedSets(NamedTuple):
    """Codes of distinct sets, −1 if missing; the classes; ``members[set, class]``; and notes."""

    codes: Codes
    classes: Array
    members: Members
    notes: list[str]


def code_sets(
    values: Sequence[Any],
    options: LabelOptions,
    separator: str | None,
    describe: Callable[[int], str],
    name_of: Callable[[Any], Any] = lambda member: member,
) -> CodedSets:
    """Return the codes of sets, with the classes sorted unless given.

    Each distinct value is read once. A value that only names missing markers is missing; next to a
    class, they are left out. ``describe`` names a row, for error messages, and ``name_of`` converts
    the members of lists.
    """
    code_of: dict[Any, int] = {}
    seen = (code_of.setdefault(set_key(value), len(code_of)) for value in values)
    rows = np.fromiter(seen, np.intp, len(values))
    firsts = np.unique(rows, return_index=True)[1].tolist()
    counts = np.bincount(rows, minlength=len(firsts))
    used = choose_separator([values[row] for row in firsts], separator)
    whole = {name for name in options.classes or () if isinstance(name, str)}
    lists: list[list[Any] | None] = []
    names: dict[Any, Any] = {}
    times: Counter[Any] = Counter()
    first_row: dict[Any, int] = {}
    for row, count in zip(firsts, counts.tolist(), strict=True):
        try:
            members = parse_set(values[row], used, whole)
        except BadLabels as error:
            raise BadLabels(f"{describe(row)}: {error}") from None
        named = [(name_key(name), name) for name in map(name_of, members or ())]
        for key, name in named:
            names.setdefault(key, name)
            first_row.setdefault(key, row)
            times[key] += count
        lists.append(None if members is None else [key for key, _ in named])
    coded = code_distinct(
        list(names.values()),
        lambda: list(times.values()),
        options,
        lambda code: describe(list(first_row.values())[code]),
    )
    if not len(coded.names):
        raise BadLabels(
            "No response names a class, so there is nothing to fuse. Check the label column, or "
            "list the classes."
        )
    class_of = dict(zip(names, coded.codes.tolist(), strict=True))
    table = np.zeros((len(lists), len(coded.names)), dtype=bool)
    missing, twice = np.zeros((2, len(lists)), dtype=bool)
    for at, keys in enumerate(lists):
        classes = [code for key in keys or () if (code := class_of[key]) >= 0]
        missing[at] = keys is None or (bool(keys) and not classes)
        twice[at] = len(set(classes)) < len(classes)
        table[at, classes] = True
    sets, set_of_value = distinct_rows(table)
    set_of_value[missing] = -1
    is_split = any(len(keys or ()) > 1 for keys in lists)
    detected = (
        f"classes in one text are separated at {used!r} (detected; --separator or separator= "
        "names another)"
    )
    notes = [
        *([detected] if used != separator and is_split else []),
        *coded.notes,
        *count_note(
            int(counts[twice].sum()), "response{s} named a class more than once: counted once"
        ),
    ]
    return CodedSets(set_of_value[rows], coded.names, sets, notes)


def distinct_rows(table: Members) -> tuple[Members, Codes]:
    """Return the distinct rows, in order of first appearance, and the position of each row."""
    seen: dict[bytes, int] = {}
    packed = np.packbits(table, axis=1)
    codes = np.fromiter(
        (seen.setdefault(row.tobytes(), len(seen)) for row in packed), np.intp, len(table)
    )
    firsts = np.unique(codes, return_index=True)[1]
    return table[firsts], codes


def join_rows(
    items: Array, annotators: Array, codes: Array, members: Members
) -> tuple[Array, Members, int]:
    """Join the sets of rows with the same item and annotator; count pairs with several classes.

    The first row of a pair has the joined set, and the others are missing.
    """
    given = np.flatnonzero(codes >= 0)
    width = int(annotators.max(initial=0)) + 1
    cells = items[given].astype(np.int64) * width + annotators[given]
    distinct, firsts, at = np.unique(cells, return_index=True, return_inverse=True)
    if len(distinct) == len(cells):
        return codes, members, 0
    table = np.zeros((len(distinct), members.shape[1]), dtype=bool)
    np.logical_or.at(table, at, members[codes[given]])
    joined = int(np.count_nonzero(table.sum(axis=1) > 1))
    if not joined:  # the same class again and again
        return codes, members, 0
    sets, set_of_pair = distinct_rows(table)
    joined_codes = np.full(len(codes), -1)
    joined_codes[given[firsts]] = set_of_pair
    return joined_codes, sets, joined


def as_ticks(indicators: Any, n_classes: int) -> Floats:
    """Return 0 and 1 ``[response, class]``, NaN where there is no value."""
    table = as_values(indicators)
    if table.ndim != 2 or table.shape[1] != n_classes:
        raise BadLabels(
            f"indicators must be a matrix [response, class] with one column for each of the "
            f"{n_classes:,} classes, not an array of shape {table.shape}."
        )
    ticks = np.array([_as_tick(cell) for cell in table.ravel().tolist()]).reshape(table.shape)
    if np.any(ticks > 1):
        row, column = np.argwhere(ticks > 1)[0].tolist()
        raise BadLabels(
            f"{list_names([table[row, column]])} (row {row}, column {column}) does not say whether "
            "a class applies. Use 0 and 1, or true and false, or nothing if it is missing."
        )
    return ticks


def _as_tick(cell: Any) -> float:
    """Return 0 or 1, NaN for a missing value, and 2 for anything else."""
    text = str(cell).strip()
    if not text or is_null(cell) or is_missing_marker(text) or is_missing_marker(text.upper()):
        return np.nan
    value = True if text in ("x", "X") else truth_value(text)
    return 2.0 if value is None else float(value)
