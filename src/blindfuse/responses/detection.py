"""Detect which columns hold items, annotators, labels and comparisons, by names and values.

Files and frames use the same detection. It reads a sample of the rows, and only where names do not
decide.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from blindfuse.errors import BadParameter, BlindfuseError, list_names, suggest
from blindfuse.responses.coding import MAX_CLASSES
from blindfuse.responses.column_names import (
    TIERS,
    base_name,
    is_descriptive,
    is_gold_name,
    is_id,
    name_of_role,
)
from blindfuse.responses.markers import (
    TIES,
    WINS,
    is_failed_verdict,
    is_missing_marker,
    parse_literal,
    plain_word,
    side_of,
    word_set,
)
from blindfuse.responses.scalars import is_null

SAMPLE_ROWS = 1000
"""Number of rows that detection looks at."""


class SampledTable(Protocol):
    """A table of a file or a frame, of which detection reads names and some rows.

    ``name`` is the table as messages name it, ``error`` the class of the errors that detection
    raises, and ``call`` is " to " and the function that takes the names of the columns, if it must
    be named.
    """

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def error(self) -> type[BlindfuseError]: ...
    @property
    def call(self) -> str: ...
    def texts(self, column: str) -> Sequence[str | None]:
        """Return the first rows of a column as text, None for null."""


@dataclass(frozen=True)
class ColumnOptions:
    """The columns and the question that the user named; None for what is to be detected.

    ``question_exists`` says that some partition has the question, so that this one need not,
    ``all_choices`` that labels are sets, of which readers keep all classes, and ``own_labels`` that
    they are clusters, whose names annotators need not share.
    """

    item: str | None = None
    annotator: str | Sequence[str] | None = None
    label: str | None = None
    question: str | None = None
    question_exists: bool = False
    all_choices: bool = False
    own_labels: bool = False

    @property
    def annotators(self) -> list[str]:
        """The annotator columns that the user named, as a list."""
        named = self.annotator
        return [named] if isinstance(named, str) else [*(named or ())]

    @property
    def names(self) -> list[str]:
        """The columns that the user named."""
        return [*self.annotators, *filter(None, (self.item, self.label))]

    @property
    def all_named(self) -> bool:
        """Whether the user named the item, the annotators and the label."""
        return bool(self.item and self.annotator and self.label)

    def with_label_as_question(self) -> "ColumnOptions":
        """Return options whose question may have been named as the label."""
        return replace(self, question=self.label or self.question)


# One column per role


def detect_column(
    role: str, table: SampledTable, named: str | None, taken: Collection[str] = ()
) -> str | None:
    """Return the column of a role: the one the user named, the likeliest by name, or None."""
    if named is not None:
        return existing_column(table, named)
    candidates = _candidates(role, table, taken)
    if len(candidates) > 1:
        raise table.error(
            f"{table.name}: the {role} may be in column {list_names(candidates)}. "
            f"Pass {role}={table.call}, as in {role}={candidates[0]!r}."
        )
    return candidates[0] if candidates else None


def _candidates(role: str, table: SampledTable, taken: Collection[str] = ()) -> list[str]:
    """Return the columns that are equally likely by name, or an empty list."""
    free = [column for column in table.columns if column not in taken and not is_gold_name(column)]
    ids = [column for column in free if is_id(column)]
    if role in free:
        return [role]
    tiers = [
        [one for one in free if tier & {base_name(one), base_name(one).removesuffix("s")}]
        for tier in TIERS[role]
    ]
    named = [tier for tier in tiers if tier]
    if role == "item" and len(named) > 1:  # a column with one value may name the kind of task
        varies = {one: len({*table.texts(one)} - {None}) > 1 for tier in named for one in tier}
        named = [tier for tier in named if any(map(varies.get, tier))] or named
    if not named:
        return ids if role == "item" and len(ids) == 1 else []
    likely = named[0]
    if role != "label":
        named_ids = [column for column in likely if column in ids]
        return named_ids if len(named_ids) == 1 else likely
    likely = [column for column in likely if column not in ids] or likely
    return [column for column in likely if has_classes(table.texts(column))] or likely


def require_column(
    role: str, table: SampledTable, named: str | None, taken: Collection[str] = ()
) -> str:
    """As ``detect_column``, with an error if no column is found."""
    if (column := detect_column(role, table, named, taken)) is not None:
        return column
    free = [one for one in table.columns if one not in taken]
    nested = [one for one in free if is_nested(table.texts(one))]
    paths = {field: f"{one}.{field}" for one in nested for field in _fields(table.texts(one))}
    remedy = "Write one row per response, with the columns item, annotator and label."
    if paths:
        likely = paths[name_of_role(role, list(paths)) or next(iter(paths))]
        remedy = f"Name a field, as in {role}={likely!r}, or write one row per response."
    found = f"but column {list_names(nested)} holds nested values."
    if not nested:
        found = suggest(role, free)
        remedy = (
            f"Pass item=, annotator= and label={table.call}, or name all columns of a wide table "
            "by annotator=. If rows or cells hold several responses, or count them, write one row "
            "per response."
        )
    separator = ", " if nested else ": "
    raise table.error(
        f"{table.name}: no column name looks like the {role}{separator}{found} {remedy}"
    )


_NESTED = re.compile(r"[\[{][\s\]}{\[\"'\d]")


def is_nested(texts: Sequence[str | None]) -> bool:
    """Return whether most of the first cells are lists or objects, in JSON or Python."""
    cells = [text for text in texts if text][:10]
    return sum(_NESTED.match(text) is not None for text in cells) > len(cells) / 2


def _fields(texts: Sequence[str | None]) -> list[str]:
    """Return the fields of the object in the first cell of a column."""
    value = parse_literal(next(filter(None, texts), ""))
    return list(value) if isinstance(value, dict) else []


def existing_column(table: SampledTable, column: str) -> str:
    """Return the column, with an error that suggests the closest name if it does not exist."""
    if column in table.columns:
        return column
    raise table.error(f"{table.name} has no column {column!r}: {suggest(column, table.columns)}")


def gold_column(tables: Sequence[SampledTable], taken: Collection[str] = ()) -> str | None:
    """Return the first column that all tables have and whose name says gold labels, or None."""
    flags_last = sorted(tables[0].columns, key=lambda column: str(column).startswith("_"))
    named = (one for one in flags_last if is_gold_name(one) and one not in taken)
    return next((one for one in named if all(one in table.columns for table in tables)), None)


def has_classes(texts: Sequence[str | None]) -> bool:
    """Return whether the values of a column repeat as classes do."""
    present = [text for text in texts if text is not None]
    return repeats_as_classes(len(set(present)), len(present))


def repeats_as_classes(n_distinct: int, n_responses: int) -> bool:
    """Return whether there are at most two values, or half as many as responses."""
    return 0 < n_distinct <= min(MAX_CLASSES, max(2, n_responses // 2))


# Long tables


def is_long(table: SampledTable, options: ColumnOptions) -> bool:
    """Return whether a label column is named or detected, or an annotator column is detected."""
    if options.label is not None:
        return True
    if not isinstance(options.annotator, str | None):
        return False
    return any(_candidates(role, table) for role in ("annotator", "label"))


def long_columns(table: SampledTable, options: ColumnOptions) -> dict[str, str]:
    """Return the columns of item, annotator and label; no column has two roles."""
    if not isinstance(options.annotator, str | None):
        raise BadParameter("A long table has one annotator column: pass annotator= as text.")
    named = {"annotator": options.annotator, "label": options.label, "item": options.item}
    found: dict[str, str] = {}
    for role, column in named.items():  # detected in this order
        taken = {*filter(None, named.values()), *found.values()}
        if role == "label" and column is None and not _candidates(role, table, taken):
            column = _remaining_label(table, taken)
        found[role] = require_column(role, table, column, taken)
    if len(set(found.values())) < 3:
        raise table.error(
            f"{table.name}: one column cannot have two of the roles {found}. "
            "Name three different columns."
        )
    return {role: found[role] for role in ("item", "annotator", "label")}


def _remaining_label(table: SampledTable, taken: Collection[str]) -> str | None:
    """Return the only column that has no other role and holds classes, or None."""
    items = _candidates("item", table, taken)
    free = [column for column in table.columns if column not in {*taken, *items}]
    left = [column for column in free if not is_descriptive(column)]
    return left[0] if len(left) == 1 and items and has_classes(table.texts(left[0])) else None


# Comparisons

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
    others = [name for role, name in found.items() if role not in ("left", "right")]
    pair = detect_pair([name for name in table.columns if name not in others])
    if pair is None and not {"left", "right"} <= found.keys():
        raise table.error(
            f"{table.name}: no two columns look like the compared items: "
            f"{suggest('left', table.columns)} Pass left=, right= and winner={table.call}."
        )
    if pair is not None:
        left, right = pair
        sides = found.get("left", right), found.get("right", left)
        if sides == (right, left) and {"left", "right"} & found.keys():
            raise table.error(
                f"{table.name}: {left!r} is the left item by its name, so a winner 'left' or 'a' "
                f"means it. Pass left={left!r} and right={right!r}{table.call}."
            )
        found = {"left": left, "right": right} | found
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
    words = TIES if plain_word(pair[0]) == "a" else WINS  # a and b may be classes
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
