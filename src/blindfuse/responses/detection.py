"""Detect which columns hold the item, the annotator and the label, from names and values.

Files and frames use the same detection. It reads a sample of the rows, and only where names do not
decide.
"""

import json
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

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
    column = detect_column(role, table, named, taken)
    if column is not None:
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
    """Return the fields of the JSON object in the first cell of a column."""
    with suppress(ValueError, RecursionError):
        value = json.loads(next(filter(None, texts), ""))
        return list(value) if isinstance(value, dict) else []
    return []


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
