"""Columns of comparisons: what they hold by their names, and their values as integer codes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from blindfuse.errors import BadParameter, list_names, suggest
from blindfuse.responses import frames
from blindfuse.responses.coding import as_column, as_names, code_names
from blindfuse.responses.column_names import TIERS, base_name
from blindfuse.responses.detection import SampledTable, existing_column
from blindfuse.responses.keys import key_value, name_key
from blindfuse.responses.markers import word_set
from blindfuse.typing import Array, Codes

NOUNS = ("model", "item", "system", "option", "player", "response")
"""What is compared, in names of columns such as ``model_a`` and ``model_b``."""
ROLES = {
    "left": word_set("left"),
    "right": word_set("right"),
    "winner": word_set("winner preference preferred choice outcome result vote verdict label"),
    "annotator": TIERS["annotator"][0] - {"model", "modell", "modele", "modelo"},
    "prompt": word_set("prompt question task conversation example document"),
    "weight": word_set("weight weights count counts n"),
}
"""Names of the columns, in lower case without suffixes such as ``_id``."""


def detect_pair(columns: Sequence[str]) -> tuple[str, str, bool] | None:
    """Return the columns of both items by their names, and whether they list winners."""
    names = {_plain(column): column for column in reversed(columns)}
    suffixes = ("{}_a {}_b", "{}_1 {}_2", "{}1 {}2", "{}_left {}_right", "left_{} right_{}")
    sides = [text.format(noun, noun) for noun in NOUNS for text in suffixes]
    winners = ("chosen_model rejected_model", "chosen rejected", "winner loser")
    for pair in ("left right", *sides, "a b", *winners):
        left, right = pair.split()
        if left in names and right in names:
            return names[left], names[right], pair in winners
    return None


def detect_columns(table: SampledTable, named: Mapping[str, str | None]) -> dict[str, str]:
    """Return the column of each role that is named, or that has a name of that role."""
    unknown = [role for role in named if role not in ROLES]
    if unknown:
        raise BadParameter(f"{list_names(unknown)} must be one of {list_names(ROLES, len(ROLES))}.")
    found = {role: existing_column(table, name) for role, name in named.items() if name is not None}
    lists_winners = False
    if not {"left", "right"} <= found.keys():
        pair = detect_pair([name for name in table.columns if name not in found.values()])
        if pair is None:
            raise table.error(
                f"{table.name}: no two columns look like the compared items: "
                f"{suggest('left', table.columns)} Pass left=, right= and winner={table.call}."
            )
        *sides, lists_winners = pair
        found = dict(zip(("left", "right"), sides, strict=True)) | found
    for role, names in list(ROLES.items())[2:]:
        if role in found or (role == "winner" and lists_winners):
            continue
        free = [name for name in table.columns if name not in found.values()]
        exact = [name for name in free if _plain(name) == role]
        likely = exact or [name for name in free if {_plain(name), base_name(name)} & names]
        if role == "winner" and len(likely) != 1:
            raise table.error(
                f"{table.name}: {len(likely) or 'no'} columns look like the winner: "
                f"{suggest('winner', likely or free)} Pass winner={table.call}."
            )
        found |= {role: likely[0]} if likely else {}
    return {role: found[role] for role in ROLES if role in found}


def _plain(column: str) -> str:
    return "_".join(str(column).casefold().replace("-", " ").split())


class CodedColumn(NamedTuple):
    """``names[codes]`` are the values of the column; names are distinct."""

    codes: Codes
    names: Array


def code_values(column: Any) -> CodedColumn:
    """Return the codes of values of any kind, missing ones included."""
    array = as_column(frames.values(column))
    if array.dtype.kind in "biuf":
        names, codes = np.unique(array, return_inverse=True)
        return CodedColumn(codes.reshape(-1), names)
    return _text_codes(array) or _key_codes(array)


def code_column(column: Any, kind: str) -> CodedColumn:
    """Return the codes of names; ``kind`` is what they name, for errors about missing names."""
    array = as_column(frames.values(column))
    coded = _text_codes(array) if array.dtype.kind in "OUT" else None
    if coded is None or not all(map(str.strip, coded.names.tolist())):
        codes, names, _ = code_names(array, kind)
        return CodedColumn(codes, names)
    place, names, _ = code_names(coded.names, kind)
    return CodedColumn(place[coded.codes], names)


def code_sides(left: Any, right: Any) -> tuple[Codes, Codes, Array]:
    """Return the codes of the left and the right items, and their names."""
    sides = [code_column(column, "item") for column in (left, right)]
    both = as_names([*sides[0].names.tolist(), *sides[1].names.tolist()])
    place, names, _ = code_names(both, "item")
    place, n_left = place.astype(np.intp), len(sides[0].names)
    return place[:n_left][sides[0].codes], place[n_left:][sides[1].codes], names


def _text_codes(array: Array) -> CodedColumn | None:
    """Return the codes of a column of text, by one dictionary; None if it has other values."""
    values = array.tolist()
    try:
        code_of = dict.fromkeys(values)
    except TypeError:  # unhashable
        return None
    if not all(type(value) is str for value in code_of):
        return None
    code_of = {value: code for code, value in enumerate(code_of)}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.intp, count=len(values))
    return CodedColumn(codes, np.fromiter(code_of, dtype=object, count=len(code_of)))


def _key_codes(array: Array) -> CodedColumn:
    code_of: dict[Any, int] = {}
    keys = map(name_key, array.tolist())
    codes = np.array([code_of.setdefault(key, len(code_of)) for key in keys], dtype=np.intp)
    return CodedColumn(codes, np.fromiter(map(key_value, code_of), object, len(code_of)))
