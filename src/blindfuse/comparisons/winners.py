"""What the values in a column of winners mean: a name, a side, a tie or a probability."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from blindfuse.comparisons.columns import CodedColumn
from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import as_plain_names, positions
from blindfuse.responses.keys import is_null
from blindfuse.responses.markers import is_failed_verdict, is_missing_marker, word_set
from blindfuse.responses.notes import count_note
from blindfuse.typing import Array, Codes, Flags, Floats

SIDES = {
    **dict.fromkeys(word_set("left l a model_a item_a response_a option_a first model_1 win"), 1.0),
    **dict.fromkeys(
        word_set("right r b model_b item_b response_b option_b second model_2 loss"), 0.0
    ),
}
"""Words for the left and the right side, in lower case with underscores for spaces."""
TIES = word_set(
    "tie tied draw equal same both both_good both_bad bothbad tie_(bothbad) tie_(both_bad) "
    "tie_both_bad neither no_preference a=b 1/2"
)
"""Words for a tie."""


def winner_shares(
    winner: CodedColumn, left: Codes, right: Codes, items: Array
) -> tuple[Floats, list[str]]:
    """Return 1 where the left item won, 0 where the right one did, ½ for ties, NaN if missing.

    Values between are probabilities that the left item won. A column holds names of items, or
    sides; names count where they fit every row.
    """
    values, codes = winner.names.tolist(), winner.codes
    meanings = np.array([_meaning(value) for value in values])  # NaN: neither a side nor missing
    absent = np.array([_is_missing(value) for value in values], dtype=bool)
    tied = np.array([_word(value) in TIES for value in values], dtype=bool)
    item = positions(as_plain_names(winner.names), items)[codes]
    is_left, is_right = item == left, item == right
    is_named = is_left | is_right
    has_meaning = (~np.isnan(meanings) | absent)[codes]
    by_name = np.where(is_named, is_left.astype(float), meanings[codes])
    notes = count_note(int(absent[codes].sum()), "comparison{s} without a winner left out")
    if (is_named | (tied | absent)[codes]).all():
        _check_numbers(winner, has_meaning.all() and (by_name != meanings[codes])[is_named].any())
        return by_name, notes
    if has_meaning.all():
        return meanings[codes], notes
    _check_sides(winner, is_named | has_meaning, left, right, items)
    _check_one_meaning(winner, is_named, has_meaning)
    return by_name, notes


def _meaning(value: Any) -> float:
    """Return the share of the win that goes to the left; NaN if the value says no side."""
    if isinstance(value, str):
        word = _word(value)
        if word in TIES:
            return 0.5
        if word in SIDES:
            return SIDES[word]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return float("nan")
    return number if 0 <= number <= 1 else float("nan")


def _word(value: Hashable) -> str:
    """Return a text in lower case, without brackets, with underscores for spaces and hyphens."""
    if not isinstance(value, str):
        return ""
    return "_".join(value.strip().strip("[]").casefold().replace("-", " ").split())


def _is_missing(value: Any) -> bool:
    text = value.strip() if isinstance(value, str) else value
    return is_null(text) or text == "" or is_missing_marker(text) or is_failed_verdict(text)


def _check_numbers(winner: CodedColumn, is_ambiguous: bool) -> None:
    """Raise BadLabels if numbers may be names of items or shares of the win, which differ."""
    if is_ambiguous and winner.names.dtype.kind in "biuf":
        raise BadLabels(
            f"Winners {list_names(winner.names)} may be names of items, or 1 for the left item and "
            "0 for the right one. Write 'left', 'right' and 'tie', or names that are text."
        )


def _check_sides(
    winner: CodedColumn, is_clear: Flags, left: Codes, right: Codes, items: Array
) -> None:
    """Raise BadLabels for the first winner that is neither item of its row."""
    if is_clear.all():
        return
    row = int(np.argmin(is_clear))
    unclear = dict.fromkeys(winner.names[winner.codes[~is_clear]].tolist())
    raise BadLabels(
        f"Winners {list_names(unclear)} are neither side of their comparison: row {row} compares "
        f"{list_names(items[[left[row]]])} with {list_names(items[[right[row]]])}. Write the name "
        "of the winner, 'tie', 'left' or 'right', or the probability from 0 to 1 that the left "
        "item wins."
    )


def _check_one_meaning(winner: CodedColumn, is_named: Flags, has_meaning: Flags) -> None:
    """Raise BadLabels if a value is the name of an item in one row and a side in another."""
    named = set(winner.codes[is_named & has_meaning].tolist())
    if named & set(winner.codes[~is_named].tolist()):
        names = list_names(winner.names[sorted(named)])
        raise BadLabels(
            f"Winners {names} are names of items in some rows, and sides in others. Write names in "
            "all rows, or 'left' and 'right'."
        )
