"""Tables of pairwise comparisons: which columns they have, and what a winner is."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from blindfuse.errors import BadParameter, list_names, suggest
from blindfuse.responses.column_names import TIERS, base_name
from blindfuse.responses.detection import ColumnOptions, SampledTable, existing_column
from blindfuse.responses.markers import is_failed_verdict, is_missing_marker, word_set
from blindfuse.responses.scalars import is_null

NOUNS = ("model", "item", "system", "option", "player", "response")
"""What is compared, in names of columns such as ``model_a`` and ``model_b``."""
ROLES = {
    "left": word_set("left"),
    "right": word_set("right"),
    "winner": word_set("winner preference preferred choice outcome result vote verdict label"),
    "annotator": TIERS["annotator"][0] - {"model", "modell", "modele", "modelo"},
    "prompt": word_set("prompt question task conversation example document"),
    "weight": word_set("weight weights count counts n"),
    "right_wins": frozenset(),
}
"""Names of the columns, in lower case without suffixes such as ``_id``. Where ``right_wins`` says
whether the right item won, the winner says so of the left item; a tie is neither."""

LISTED = ("chosen_model rejected_model", "chosen rejected", "winner loser")
"""Names of two columns of which the first one lists the winners."""
CLEAR_WINNERS = word_set("winner preference preferred outcome")
"""Names of columns that hold nothing but winners."""


def detect_pair(columns: Sequence[str]) -> list[str] | None:
    """Return the columns of both items by their names."""
    names = {plain_word(column): column for column in reversed(columns)}
    suffixes = ("{}_a {}_b", "{}_1 {}_2", "{}1 {}2", "{}_left {}_right", "left_{} right_{}")
    sides = [text.format(noun, noun) for noun in NOUNS for text in suffixes]
    for pair in ("left right", *sides, "a b", *LISTED):
        if all(side in names for side in pair.split()):
            return [names[side] for side in pair.split()]
    return None


def detect_columns(table: SampledTable, named: Mapping[str, str | None]) -> dict[str, str]:
    """Return the column of each role that is named, or that has a name of that role."""
    unknown = [role for role in named if role not in ROLES]
    if unknown:
        raise BadParameter(f"{list_names(unknown)} must be one of {list_names(ROLES, len(ROLES))}.")
    found = {role: existing_column(table, name) for role, name in named.items() if name is not None}
    if len(set(found.values())) < len(found):
        raise BadParameter(f"One column cannot have two of the roles {found}. Name different ones.")
    if not {"left", "right"} <= found.keys():
        pair = detect_pair([name for name in table.columns if name not in found.values()])
        if pair is None:
            raise table.error(
                f"{table.name}: no two columns look like the compared items: "
                f"{suggest('left', table.columns)} Pass left=, right= and winner={table.call}."
            )
        found = dict(zip(("left", "right"), pair, strict=True)) | found
    flags = _winner_flags(table.columns, found["left"], found["right"])
    if flags and found.get("winner", flags[0]) == flags[0]:
        found |= {"winner": flags[0], "right_wins": flags[1]}
    for role, names in list(ROLES.items())[2:]:
        if role in found or (role == "winner" and _lists_winners(found["left"], found["right"])):
            continue
        free = [name for name in table.columns if name not in found.values()]
        exact = [name for name in free if plain_word(name) == role]
        likely = exact or [name for name in free if {plain_word(name), base_name(name)} & names]
        if role == "winner" and len(likely) != 1:
            raise table.error(
                f"{table.name}: {len(likely) or 'no'} columns look like the winner: "
                f"{suggest('winner', likely or free)} Pass winner={table.call}."
            )
        found |= {role: likely[0]} if likely else {}
    return {role: found[role] for role in ROLES if role in found}


def _winner_flags(columns: Sequence[str], left: str, right: str) -> list[str]:
    """Return the columns, such as ``winner_model_a``, that say whether either item won."""
    flags = [f"winner_{plain_word(side)}" for side in (left, right)]
    named = {plain_word(column): column for column in columns}
    return [named[flag] for flag in flags] if set(flags) <= named.keys() else []


def _lists_winners(left: str, right: str) -> bool:
    return f"{plain_word(left)} {plain_word(right)}" in LISTED


def refuse_comparisons(table: SampledTable, options: ColumnOptions) -> None:
    """Raise an error if the rows of a table compare two items, and no labels are named."""
    if options.label is not None or not isinstance(options.annotator, str | None):
        return
    columns = _comparison_columns(table)
    if columns is not None:
        raise table.error(
            f"{table.name}: these are comparisons of two items per row, by the columns "
            f"{list_names(columns)}: use `blindfuse rank` (fuse_pairs in Python). If they are "
            f"labels, pass label={table.call}, or all columns of a wide table by annotator=."
        )


def _comparison_columns(table: SampledTable) -> list[str] | None:
    """Return the columns of both items and of the winner, by their names and values.

    The items of a row differ, as labels of two annotators do not, and a winner is one of them, a
    side or a tie.
    """
    pair = detect_pair(table.columns)
    if pair is None:
        return None
    left, right = map(table.texts, pair)
    differ = [a is not None and b is not None and a != b for a, b in zip(left, right, strict=True)]
    if sum(differ) <= _MOST * len(differ):
        return None
    if _lists_winners(*pair) or _winner_flags(table.columns, *pair):
        return pair
    words = TIES if plain_word(pair[0]) == "a" else {*TIES, *SIDES}  # a and b may be classes
    for column in table.columns:
        name = plain_word(column)
        if name in ROLES["winner"] and column not in pair:
            rows = [*zip(left, right, table.texts(column), strict=True)]
            rows = [row for row in rows if not is_missing_winner(row[2])]
            winners = [
                winner in (a, b)
                or plain_word(winner) in words
                or (name in CLEAR_WINNERS and side_of(winner) == side_of(winner))
                for a, b, winner in rows
            ]
            if sum(winners) > _MOST * len(winners):
                return [*pair, column]
    return None


_MOST = 0.9
"""Share of the rows that must look like comparisons."""


def is_missing_winner(value: Any) -> bool:
    """Return whether a value is null, empty, a missing marker or a failed verdict."""
    text = value.strip() if isinstance(value, str) else value
    return is_null(text) or text == "" or is_missing_marker(text) or is_failed_verdict(text)


SIDES = {
    **dict.fromkeys(
        word_set("left l a model_a item_a response_a option_a first model_1 win a>b a>>b"), 1.0
    ),
    **dict.fromkeys(
        word_set("right r b model_b item_b response_b option_b second model_2 loss b>a b>>a"), 0.0
    ),
}
"""Words for the left and the right side, in lower case with underscores for spaces."""
TIES = word_set(
    "tie tied draw equal same both both_good both_bad bothbad tie_(bothbad) tie_(both_bad) "
    "tie_both_bad neither no_preference a=b c 1/2"
)
"""Words for a tie; C is one in the verdicts A, B and C of judges."""


def side_of(value: Any) -> float:
    """Return the share of the win that goes to the left; NaN if the value says no side."""
    if isinstance(value, str):
        word = plain_word(value)
        if word in TIES:
            return 0.5
        if word in SIDES:
            return SIDES[word]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return float("nan")
    return number if 0 <= number <= 1 else float("nan")


def plain_word(value: Hashable) -> str:
    """Return a text in lower case, without brackets, with underscores for spaces and hyphens."""
    if not isinstance(value, str):
        return ""
    return "_".join(value.strip().strip("[]").casefold().replace("-", " ").split())
