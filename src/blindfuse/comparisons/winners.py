"""What the values in a column of winners mean: a name, a side, a tie or a probability."""

from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import as_plain_names, factorize, positions
from blindfuse.responses.detection import is_missing_winner
from blindfuse.responses.markers import TIES, plain_word, side_of
from blindfuse.typing import Array, Codes, Floats

_YES, _NO = ("1", "1.0", "true"), ("0", "0.0", "false")


def winner_shares(winner: Array, left: Codes, right: Codes, items: Array) -> Floats:
    """Return 1 where the left item won, 0 where the right one did, ½ for ties, NaN if missing.

    Values between are probabilities that the left item won. A column holds names of items, or
    sides; names count where they fit every row.
    """
    codes, names = factorize(winner)

    def per_row(describe: Any) -> Array:
        return np.array([describe(value) for value in names.tolist()])[codes]

    sides, absent = per_row(side_of), per_row(is_missing_winner).astype(bool)
    tied = per_row(lambda value: plain_word(value) in TIES).astype(bool)
    item = positions(as_plain_names(names), items)[codes]
    is_named = (item == left) | (item == right)
    by_name = np.where(is_named, item == left, np.where(absent, np.nan, sides))
    has_side = ~np.isnan(sides) | absent
    if (is_named | tied | absent).all():
        if winner.dtype.kind in "biuf" and has_side.all() and (by_name != sides)[is_named].any():
            raise BadLabels(
                f"Winners {list_names(names)} may be names of items, or 1 for the left item and 0 "
                "for the right one. Write 'left', 'right' and 'tie', or names that are text."
            )
        return by_name
    if has_side.all():
        return np.where(absent, np.nan, sides)
    neither, is_clear = ~(is_named | has_side), is_named | tied | absent
    problem, wrong = "neither side of their comparison", neither
    if not neither.any():
        problem, wrong = "sides, where others are names", ~is_clear
    row = int(np.argmax(wrong))
    pair = " with ".join(list_names(items[[side[row]]]) for side in (left, right))
    raise BadLabels(
        f"Winners {list_names(dict.fromkeys(winner[wrong].tolist()))} are {problem}: row {row} "
        f"compares {pair}. Write the name of the winner or 'tie' in all rows; or 'left', 'right' "
        "and 'tie'; or the probability from 0 to 1 that the left item wins."
    )


def shares_of_flags(left_wins: Array, right_wins: Array) -> Floats:
    """Return the share of the win that goes to the left item, from 1 or 0 for each side."""
    left, right = (np.char.lower(flags.astype(str)) for flags in (left_wins, right_wins))
    for flags, text in ((left_wins, left), (right_wins, right)):
        wrong = ~np.isin(text, (*_YES, *_NO))
        if wrong.any():
            raise BadLabels(
                f"{list_names(dict.fromkeys(flags[wrong].tolist()))} in a column that says which "
                "side won is neither 1 nor 0. Correct it, or name another column as winner=."
            )
    return np.asarray((1.0 + np.isin(left, _YES) - np.isin(right, _YES)) / 2)
