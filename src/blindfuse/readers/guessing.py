"""Which column is the item, which the annotator, which the label: by name, and by what it holds."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from blindfuse.errors import BadFile, meant, naming
from blindfuse.readers.tables import Table
from blindfuse.responses.coding import MOST_CLASSES


@dataclass(frozen=True)
class Asked:
    """The columns and the question that the user named; None for what is to be guessed."""

    item: str | None = None
    annotator: str | Sequence[str] | None = None
    label: str | None = None
    question: str | None = None


# Names of columns in tiers, the likeliest first; two names of one tier are ambiguous.
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

TRUTHS = frozenset(
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
"""Names of columns that hold the truth: never an answer."""

QUESTIONS = frozenset(
    ["question", "aspect", "criterion", "criteria", "dimension", "metric", "attribute"]
)
"""Names of columns that tell several questions about one item apart."""

_SUFFIXES = {"id", "ids", "name", "key", "uuid", "hash", "email", "code", "label"}


def stem(name: str) -> str:
    """A column's name in lower case, without what names add: ``worker`` for ``WorkerId``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = [word for word in re.split(r"[\W_]+", spaced.casefold()) if word]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    return "_".join(words)


def is_known(name: str) -> bool:
    """Whether this is a name that columns have."""
    known = stem(name)
    return known in TRUTHS or any(known in tier for tiers in _TIERS.values() for tier in tiers)


def pick(role: str, table: Table, asked: str | None, taken: Collection[str] = ()) -> str | None:
    """The column of this role: the one that was asked for, or the likeliest by name, or None."""
    if asked is not None:
        return existing(table, asked)
    free = [column for column in table.columns if column not in taken]
    if role in free:
        return role
    for tier in _TIERS[role]:
        found = [column for column in free if stem(column) in tier]
        found = _likelier(role, found, table)
        if len(found) > 1:
            raise BadFile(
                f"{table.name}: the {role} may be in column {naming(found)}. "
                f"Say which with {role}=, as in {role}={found[0]!r}."
            )
        if found:
            return found[0]
    return None


def _likelier(role: str, found: list[str], table: Table) -> list[str]:
    """Of several candidates: the only id for items and annotators, classes for labels."""
    ids = [column for column in found if re.search(r"[\W_][Ii][Dd]$|[a-z]I[Dd]$", column)]
    if role != "label":
        return ids if len(ids) == 1 else found
    found = [column for column in found if column not in ids] or found
    return [column for column in found if is_categorical(table.sample[column])] or found


def needed(role: str, table: Table, asked: str | None, taken: Collection[str] = ()) -> str:
    """As ``pick``, but it must be there."""
    column = pick(role, table, asked, taken)
    if column is None:
        raise BadFile(
            f"{table.name}: no column looks like the {role}, among {naming(table.columns)}. "
            f"Say which with {role}=, or pass format='wide' if each annotator has a column."
        )
    return column


def existing(table: Table, column: str) -> str:
    """The column, or an error with the one that may be meant."""
    if column in table.columns:
        return column
    raise BadFile(f"{table.name} has no column {column!r}: {meant(column, table.columns)}")


def is_categorical(values: pl.Series) -> bool:
    """Whether values come again as classes do: at most two, or half as many as answers."""
    answered = values.drop_nulls()
    return 0 < answered.n_unique() <= min(MOST_CLASSES, max(2, len(answered) // 2))


def one_question(table: Table, candidates: Sequence[str], prefix: str, asked: Asked) -> str:
    """The column of the question that is asked for, or of the only one with classes."""
    wish = asked.label if asked.label is not None else asked.question
    if wish is not None:
        named = prefix + wish.removeprefix(prefix)
        if named in candidates or not candidates:
            return existing(table, named)
        raise BadFile(f"{table.name} has no question {wish!r}: {meant(named, candidates)}")
    if not candidates:
        raise BadFile(f"{table.name} has no column {prefix + '…'!r} with answers. Say label=.")
    classes = [one for one in candidates if is_categorical(table.sample[one])]
    found = classes if len(candidates) > 1 and len(classes) == 1 else list(candidates)
    if len(found) > 1:
        short = [one.removeprefix(prefix) for one in classes or found]
        raise BadFile(
            f"{table.name} asks several questions: {naming(short)}. "
            f"Say which with question=, as in question={short[0]!r}."
        )
    return found[0]
