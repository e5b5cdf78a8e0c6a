"""What the values in a column of winners mean: a name, a side, a tie or a probability."""

import numpy as np

from blindfuse.comparisons.columns import CodedColumn
from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import as_plain_names, positions
from blindfuse.responses.comparison_detection import (
    TIES,
    is_missing_winner,
    plain_word,
    side_of,
)
from blindfuse.responses.notes import count_note
from blindfuse.typing import Array, Codes, Flags, Floats


def winner_shares(
    winner: CodedColumn, left: Codes, right: Codes, items: Array
) -> tuple[Floats, list[str]]:
    """Return 1 where the left item won, 0 where the right one did, ½ for ties, NaN if missing.

    Values between are probabilities that the left item won. A column holds names of items, or
    sides; names count where they fit every row.
    """
    values, codes = winner.names.tolist(), winner.codes
    meanings = np.array([side_of(value) for value in values])  # NaN: neither a side nor missing
    absent = np.array([is_missing_winner(value) for value in values], dtype=bool)
    tied = np.array([plain_word(value) in TIES for value in values], dtype=bool)
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
