"""Detect which columns hold the item, the annotator and the label, from names and values."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from blindfuse.errors import BadFile, list_names, suggest
from blindfuse.readers.tables import Table
from blindfuse.responses.coding import MAX_CLASSES


@dataclass(frozen=True)
class ColumnOptions:
    """The columns and the question that the user named; None for what is to be detected."""

    item: str | None = None
    annotator: str | Sequence[str] | None = None
    label: str | None = None
    question: str | None = None


# Column names in tiers, the likeliest first. Two names of the same tier are ambiguous.
_ROLES = {
    "item": (
        "item task unit example sample document doc instance object hit datapoint record case",
        "id idx index key uid uuid",
        "question image text sentence prompt url file filename input pair",
    ),
    "annotator": (
        "annotator worker performer user judge model rater labeler labeller coder grader evaluator "
        "reviewer assessor participant respondent classifier expert",
        "source session author",
    ),
    "label": (
        "label answer response vote verdict choice rating judgment judgement annotation class "
        "category decision prediction grade",
        "value score result output",
    ),
}
_TIERS = {role: [frozenset(tier.split()) for tier in tiers] for role, tiers in _ROLES.items()}

GOLD_NAMES = frozenset(
    [
        "truth",
        "gold",
        "golden",
        "ground_truth",
        "true",
        "true_label",
        "gold_label",
        "expected",
        "target",
        "reference",
        "correct",
        "correct_answer",
        "correct_label",
    ]
)
"""Names of columns with gold labels. They are never read as responses."""

QUESTION_NAMES = frozenset(
    ["question", "aspect", "criterion", "criteria", "dimension", "metric", "attribute"]
)
"""Names of columns that distinguish several questions about one item."""

_SUFFIXES = {"id", "ids", "name", "key", "uuid", "hash", "email", "code", "label"}


def base_name(column: str) -> str:
    """Return a column's name in lower case without a suffix: ``worker`` for ``WorkerId``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column)
    words = [word for word in re.split(r"[\W_]+", spaced.casefold()) if word]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    return "_".join(words)


def is_known_name(column: str) -> bool:
    """Return whether the name is one of those that detection knows."""
    base = base_name(column)
    return base in GOLD_NAMES or any(base in tier for tiers in _TIERS.values() for tier in tiers)


def detect_column(
    role: str, table: Table, named: str | None, taken: Collection[str] = ()
) -> str | None:
    """Return the column of a role: the one the user named, the likeliest by name, or None."""
    if named is not None:
        return existing_column(table, named)
    free = [column for column in table.columns if column not in taken]
    if role in free:
        return role
    for tier in _TIERS[role]:
        candidates = [column for column in free if base_name(column) in tier]
        candidates = _likelier(role, candidates, table)
        if len(candidates) > 1:
            raise BadFile(
                f"{table.name}: the {role} may be in column {list_names(candidates)}. "
                f"Pass {role}=, as in {role}={candidates[0]!r}."
            )
        if candidates:
            return candidates[0]
    return None


def _likelier(role: str, candidates: list[str], table: Table) -> list[str]:
    """Prefer the only id column for items and annotators, and categorical columns for labels."""
    ids = [column for column in candidates if re.search(r"[\W_][Ii][Dd]$|[a-z]I[Dd]$", column)]
    if role != "label":
        return ids if len(ids) == 1 else candidates
    others = [column for column in candidates if column not in ids] or candidates
    return [column for column in others if is_categorical(table.sample[column])] or others


def require_column(role: str, table: Table, named: str | None, taken: Collection[str] = ()) -> str:
    """As ``detect_column``, with an error if no column is found."""
    column = detect_column(role, table, named, taken)
    if column is None:
        raise BadFile(
            f"{table.name}: no column name looks like the {role}, among "
            f"{list_names(table.columns)}. "
            f"Pass {role}=, or format='wide' if each annotator has a column."
        )
    return column


def existing_column(table: Table, column: str) -> str:
    """Return the column, with an error that suggests the closest name if it does not exist."""
    if column in table.columns:
        return column
    raise BadFile(f"{table.name} has no column {column!r}: {suggest(column, table.columns)}")


def gold_column(tables: Sequence[Table], taken: Collection[str] = ()) -> str | None:
    """Return the first column that all tables have and whose name says gold labels, or None."""
    for column in tables[0].columns:
        is_gold = base_name(column) in GOLD_NAMES and column not in taken
        if is_gold and all(column in table.columns for table in tables):
            return column
    return None


def is_categorical(values: pl.Series) -> bool:
    """Return whether values repeat as classes do: at most two, or half as many as responses."""
    responses = values.drop_nulls()
    return 0 < responses.n_unique() <= min(MAX_CLASSES, max(2, len(responses) // 2))
