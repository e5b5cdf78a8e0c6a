"""Conversion of users' sets (lists, texts, ticks) to codes of distinct sets."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import as_values, code_distinct
from blindfuse.responses.keys import is_null, name_key
from blindfuse.responses.markers import is_missing_marker, truth_value
from blindfuse.responses.notes import count_note
from blindfuse.responses.set_values import choose_separator, parse_set, set_key
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

    Each distinct value is read once. ``describe`` names a row, for error messages, and ``name_of``
    converts the members of lists.
    """
    code_of: dict[Any, int] = {}
    rows = np.empty(len(values), dtype=np.intp)
    distinct: list[Any] = []
    firsts: list[int] = []
    for row, value in enumerate(values):
        code = rows[row] = code_of.setdefault(set_key(value), len(code_of))
        if code == len(distinct):
            distinct.append(value)
            firsts.append(row)
    counts = np.bincount(rows, minlength=len(distinct))
    used = choose_separator(distinct, separator)
    whole = {name for name in options.classes or () if isinstance(name, str)}
    parsed = [
        _parse_at(value, used, whole, firsts[at], describe) for at, value in enumerate(distinct)
    ]
    found: dict[Any, int] = {}
    names: list[Any] = []
    times: Counter[int] = Counter()
    row_of: dict[int, int] = {}
    keys: list[list[int] | None] = []
    for at, one in enumerate(parsed):
        codes: list[int] = []
        for member in map(name_of, one or ()):
            code = found.setdefault(name_key(member), len(found))
            if code == len(names):
                names.append(member)
            times[code] += int(counts[at])
            row_of.setdefault(code, firsts[at])
            codes.append(code)
        keys.append(None if one is None else codes)
    coded = code_distinct(
        names,
        lambda: [times[code] for code in range(len(names))],
        options,
        lambda code: describe(row_of[code]),
    )
    if not len(coded.names):
        raise BadLabels(
            "No response names a class, so there is nothing to fuse. Check the label column, or "
            "list the classes."
        )
    members, set_codes, twice = _membership(keys, coded.codes, len(coded.names))
    notes = [
        *_separator_note(used, separator, any(len(one or ()) > 1 for one in parsed)),
        *coded.notes,
        *count_note(
            int(counts[twice].sum()), "response{s} named a class more than once: counted once"
        ),
    ]
    return CodedSets(set_codes[rows], coded.names, members, notes)


def _parse_at(
    value: Any, separator: str | None, whole: set[str], row: int, describe: Callable[[int], str]
) -> list[Any] | None:
    try:
        return parse_set(value, separator, whole)
    except BadLabels as error:
        raise BadLabels(f"{describe(row)}: {error}") from None


def _separator_note(used: str | None, given: str | None, is_split: bool) -> list[str]:
    if used is None or given is not None or not is_split:
        return []
    return [
        f"classes in one text are separated at {used!r} (detected; --separator or separator= "
        "names another)"
    ]


def _membership(
    keys: Sequence[list[int] | None], class_of: Array, n_classes: int
) -> tuple[Members, Codes, Flags]:
    """Return distinct sets ``[set, class]``, the set of each value, and who names a class twice.

    A value that only names missing markers is missing; next to a class, they are left out.
    """
    table = np.zeros((len(keys), n_classes), dtype=bool)
    missing, twice = np.zeros(len(keys), dtype=bool), np.zeros(len(keys), dtype=bool)
    for at, names in enumerate(keys):
        codes = [] if names is None else [int(class_of[name]) for name in names]
        kept = [code for code in codes if code >= 0]
        missing[at] = names is None or (bool(codes) and not kept)
        twice[at] = len(set(kept)) < len(kept)
        table[at, kept] = True
    members, codes_of_value = distinct_rows(table)
    codes_of_value[missing] = -1
    return members, codes_of_value, twice


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
    if table.dtype.kind not in "buif":
        ticks = np.array([_as_tick(cell) for cell in table.ravel().tolist()]).reshape(table.shape)
    else:
        ticks = table.astype(np.float64)
    wrong = ~(np.isnan(ticks) | (ticks == 0) | (ticks == 1))
    if wrong.any():
        row, column = (int(place[0]) for place in np.nonzero(wrong))
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
