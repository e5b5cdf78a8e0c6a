"""Detect which columns hold the item, the annotator and the label, from names and values.

Files and frames use the same detection. It reads a sample of the rows, and only where names do not
decide.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from blindfuse.errors import BadParameter, BlindfuseError, list_names, suggest
from blindfuse.responses.coding import MAX_CLASSES
from blindfuse.responses.notes import count_note
from blindfuse.responses.values import NUMERAL, is_missing_marker, plain_numeral, trim

SAMPLE_ROWS = 1000
"""Number of rows that detection looks at."""

_MIN_ROWS = 10
"""With fewer rows, values do not show whether a column holds labels."""

_FEW_VALUES = 20
"""A column with more distinct values is suspected to hold numbers, ids or texts."""


class SampledTable(Protocol):
    """A table of a file or a frame, of which detection reads names and some rows.

    Attributes
    ----------
    name
        the table as messages name it.
    error
        the class of the errors that detection raises.
    call
        " to " and the function that takes the names of the columns, if it must be named.
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


class CountedTable(SampledTable, Protocol):
    """A table of which detection also counts the values of whole columns."""

    @property
    def n_rows(self) -> int:
        """Number of rows that ``value_counts`` counts."""

    def value_counts(self, column: str) -> Mapping[str, int] | None:
        """Count the distinct values of a column as text; None if there are too many classes."""

    def is_unique(self, column: str) -> bool:
        """Return whether every row has another value, and none is null."""


@dataclass(frozen=True)
class ColumnOptions:
    """The columns and the question that the user named; None for what is to be detected.

    ``question_exists`` says that some partition has the question, so that this one need not, and
    ``all_choices`` that labels are sets, of which readers keep all classes.
    """

    item: str | None = None
    annotator: str | Sequence[str] | None = None
    label: str | None = None
    question: str | None = None
    question_exists: bool = False
    all_choices: bool = False

    @property
    def annotators(self) -> list[str]:
        """The annotator columns that the user named, as a list."""
        named = self.annotator
        return [named] if isinstance(named, str) else [*(named or ())]

    def with_label_as_question(self) -> "ColumnOptions":
        """Return options whose question may have been named as the label."""
        return replace(self, question=self.label or self.question)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
        "category decision prediction grade winner preference passed",
        "value score result output",
    ),
}
_TIERS = {role: [_names(tier) for tier in tiers] for role, tiers in _ROLES.items()}

GOLD_NAMES = _names(
    "truth gold golden ground_truth groundtruth gt true expected target reference correct actual "
    "answer_key gold_standard goldstandard"
)
"""Names of columns with gold labels. They are never read as responses."""

_LABEL_WORDS = _names("label answer class category value y")
"""Words that may stand beside such a name: ``correct_answer``, ``y_true``."""

QUESTION_NAMES = _names("question aspect criterion criteria dimension metric attribute")
"""Names of columns that distinguish several questions about one item."""

_RESULT_NAMES = _names(
    "final consensus majority majority_vote adjudicated adjudication aggregated aggregate fused "
    "agreed resolved mv merged voted"
)
"""Names of columns with labels that were derived from the responses."""

_DESCRIPTIVE_WORDS = _names(
    "text texts sentence prompt question url uri link image images file filename path input "
    "comment comments remark remarks note notes tweet title body content context length len "
    "count size duration date time timestamp datetime created updated split fold lang language "
    "dataset subset domain topic weight confidence conf certainty probability agreement "
    "difficulty explanation rationale reason reasoning email status seconds secs ms minutes "
    "total totals sum votes address"
)
"""Last words of the names of columns that describe the item or the work, not its label."""

_COUNT_WORDS = _names("n num number nb count total")
"""First words of the names of columns that count something: ``n_votes``."""

_INDEX_NAME = re.compile(r"|Unnamed: \d+(_level_\d+)?|index|level_\d+|__index_level_\d+__|_id")
"""Names that pandas, Arrow and databases give to row numbers."""

_IS_ID = re.compile(r"[\W_][Ii][Dd]$|[a-z]I[Dd]$").search

_SUFFIXES = {"id", "ids", "name", "key", "uuid", "hash", "email", "code", "label"}


def base_name(column: str) -> str:
    """Return a column's name in lower case without a suffix: ``worker`` for ``WorkerId``."""
    words = _words(column)
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    base = "_".join(words)
    plain = base.removesuffix("id")
    return plain if any(plain in tier for tiers in _TIERS.values() for tier in tiers) else base


def _words(column: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(column))
    return [word for word in re.split(r"[\W_]+", spaced.casefold()) if word]


def _is_named(column: str, names: frozenset[str]) -> bool:
    """Return whether a name is one of these, with or without a word for labels beside it."""
    words = _words(column)
    others = "_".join(word for word in words if word not in _LABEL_WORDS)
    return bool({base_name(column), "_".join(words), others} & names)


def is_gold_name(column: str) -> bool:
    """Return whether the name says gold labels, as ``truth`` and ``animal_gold`` do."""
    return _is_named(column, GOLD_NAMES) or _words(column)[-1:] in (["gold"], ["truth"])


def _singular(column: str) -> str:
    return base_name(column).removesuffix("s")


def is_known_name(column: str) -> bool:
    """Return whether the name is one of those that detection knows."""
    base = base_name(column)
    return is_gold_name(column) or any(base in tier for tiers in _TIERS.values() for tier in tiers)


def name_of_role(role: str, names: Sequence[str]) -> str | None:
    """Return the only likeliest name of a role, or None."""
    for tier in _TIERS[role]:
        found = [name for name in names if base_name(name) in tier]
        if found:
            return found[0] if len(found) == 1 else None
    return None


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
    if role in free:
        return [role]
    for tier in _TIERS[role]:
        candidates = [column for column in free if {base_name(column), _singular(column)} & tier]
        if candidates:
            return _likelier(role, candidates, table)
    ids = [column for column in free if _IS_ID(str(column))]
    return ids if role == "item" and len(ids) == 1 else []


def _likelier(role: str, candidates: list[str], table: SampledTable) -> list[str]:
    """Prefer the only id column for items and annotators, and categorical columns for labels."""
    ids = [column for column in candidates if _IS_ID(str(column))]
    if role != "label":
        return ids if len(ids) == 1 else candidates
    others = [column for column in candidates if column not in ids] or candidates
    if len(others) == 1:
        return others
    return [column for column in others if has_classes(table.texts(column))] or others


def require_column(
    role: str, table: SampledTable, named: str | None, taken: Collection[str] = ()
) -> str:
    """As ``detect_column``, with an error if no column is found."""
    column = detect_column(role, table, named, taken)
    if column is None:
        free = [one for one in table.columns if one not in taken]
        counts = [one for one in free if base_name(one) in _COUNT_WORDS or _singular(one) == "vote"]
        if role == "annotator" and counts:
            raise table.error(
                f"{table.name} counts responses in column {list_names(counts)} and does not say "
                "who gave them. Write one row per response, with the columns item, annotator and "
                "label."
            )
        nested = [one for one in free if _is_nested(table.texts(one))]
        if nested:
            raise table.error(
                f"{table.name}: no column name looks like the {role}, but column "
                f"{list_names(nested)} holds nested values. Write one row per response, with the "
                "columns item, annotator and label."
            )
        raise table.error(
            f"{table.name}: no column name looks like the {role}: {suggest(role, free)} "
            f"Pass item=, annotator= and label={table.call}, or name all columns of a wide table "
            "by annotator=."
        )
    return column


_NESTED = re.compile(r"[\[{][\s\]}{\[\"'\d]")


def _is_nested(texts: Sequence[str | None]) -> bool:
    """Return whether most of the first cells are lists or objects, in JSON or Python."""
    cells = [text for text in texts if text][:10]
    return sum(_NESTED.match(text) is not None for text in cells) > len(cells) / 2


def existing_column(table: SampledTable, column: str) -> str:
    """Return the column, with an error that suggests the closest name if it does not exist."""
    if column in table.columns:
        return column
    raise table.error(f"{table.name} has no column {column!r}: {suggest(column, table.columns)}")


def gold_column(tables: Sequence[SampledTable], taken: Collection[str] = ()) -> str | None:
    """Return the first column that all tables have and whose name says gold labels, or None."""
    flags_last = sorted(tables[0].columns, key=lambda column: str(column).startswith("_"))
    for column in flags_last:
        is_gold = is_gold_name(column) and column not in taken
        if is_gold and all(column in table.columns for table in tables):
            return column
    return None


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
    columns = {role: found[role] for role in ("item", "annotator", "label")}
    if len(set(columns.values())) < 3:
        raise table.error(
            f"{table.name}: one column cannot have two of the roles {columns}. "
            "Name three different columns."
        )
    return columns


def _remaining_label(table: SampledTable, taken: Collection[str]) -> str | None:
    """Return the only column that has no other role and holds classes, or None."""
    items = _candidates("item", table, taken)
    free = [column for column in table.columns if column not in {*taken, *items}]
    left = [column for column in free if not _is_descriptive(column)]
    return left[0] if len(left) == 1 and items and has_classes(table.texts(left[0])) else None


# Wide tables


@dataclass(frozen=True)
class WideColumns:
    """The columns of a wide table: the items (None for row numbers), annotators and others."""

    item: str | None
    annotators: list[str]
    gold: str | None
    skipped: list[str]
    n_rows: int | None = None

    @property
    def notes(self) -> list[str]:
        """The annotators that were found, and the columns that are not annotators."""
        return [
            *self._transposed_note(),
            *count_note(
                len(self.annotators), f"annotator column{{s}}: {list_names(self.annotators)}"
            ),
            *count_note(
                len(self.skipped),
                "column{s} not read as annotators, by their names or values: "
                f"{list_names(self.skipped)}. Name the annotators with annotator= (--annotator) if "
                "this is wrong",
            ),
        ]

    def _transposed_note(self) -> list[str]:
        """A note if there are far more annotators than items, as in the table of a form."""
        if self.n_rows is None or len(self.annotators) <= 2 * self.n_rows:
            return []
        return [
            f"Check the annotators: there are {len(self.annotators):,} columns for "
            f"{self.n_rows:,} rows. If the rows are annotators and the columns are items, "
            "transpose the table"
        ]


def wide_candidates(table: SampledTable, options: ColumnOptions) -> tuple[str | None, list[str]]:
    """Return the item column that is named or detected by name, and the possible annotators."""
    if not table.columns:
        raise table.error(f"{table.name} has no annotator column. Pass one column per annotator.")
    named = [existing_column(table, name) for name in options.annotators]
    item = _item_column(table, options.item, named)
    if named:
        return item, named
    others = [column for column in table.columns if column != item]
    candidates = [column for column in others if not _is_descriptive(column)]
    if not candidates:
        raise table.error(
            f"{table.name} has no column with labels, only {list_names(table.columns)}. "
            "A wide table needs one column per annotator; name them with annotator=."
        )
    return item, candidates


def wide_columns(
    table: CountedTable, options: ColumnOptions, gold: str | None = None
) -> WideColumns:
    """Return the columns of a wide table; all columns that hold labels are annotators.

    ``gold`` is the column of gold labels. Columns whose names or values suggest texts, ids, dates,
    numbers, gold labels or results are not annotators, unless the user names them.
    """
    item, candidates = wide_candidates(table, options)
    if gold == item or gold in candidates:
        gold = None
    if not options.all_choices:
        candidates = _without_nested(table, candidates, options)
    if options.annotators:
        return WideColumns(item, candidates, gold, [])
    annotators = _columns_of_labels(table, candidates)
    if item is None and options.item is None:
        item = _identifying_column(table, annotators)
    used = {item, gold, *annotators}
    skipped = [column for column in table.columns if column not in used]
    return WideColumns(item, annotators, gold, skipped, table.n_rows)


def _without_nested(
    table: SampledTable, candidates: Sequence[str], options: ColumnOptions
) -> list[str]:
    """Return the columns whose cells are not lists or objects; refuse those that were named."""
    nested = [one for one in candidates if _is_nested(table.texts(one))]
    if nested and (options.annotators or len(nested) == len(candidates)):
        raise table.error(
            f"{table.name}: column {list_names(nested)} holds nested values. Write one row per "
            "response, with the columns item, annotator and label."
        )
    return [one for one in candidates if one not in nested]


def _item_column(table: SampledTable, named: str | None, annotators: Sequence[str]) -> str | None:
    first = table.columns[0]
    found = detect_column("item", table, named, annotators)
    if found is not None or named is not None:
        return found
    if _INDEX_NAME.fullmatch(str(first)):
        return first
    stored = [one for one in table.columns if str(one).startswith("__index_level_")]
    return stored[0] if len(stored) == 1 else None


def _identifying_column(table: CountedTable, annotators: Collection[str]) -> str | None:
    """Return the first column if it holds one value per row, such as a text or a path."""
    first = table.columns[0]
    if first in annotators or table.n_rows < _MIN_ROWS or not table.is_unique(first):
        return None
    return first


def _is_descriptive(column: str) -> bool:
    """Return whether the name says a text, a date, a number, gold labels, a result or an index."""
    words, base = _words(column), base_name(column)
    return (
        is_gold_name(column)
        or _is_named(column, _RESULT_NAMES)
        or _INDEX_NAME.fullmatch(str(column)) is not None
        or str(column).startswith("_")  # what Appen, Prodigy and MongoDB add
        or bool({words[-1], base} & _DESCRIPTIVE_WORDS if words else False)
        or (len(words) > 1 and words[0] in _COUNT_WORDS)
    )


def _columns_of_labels(table: CountedTable, candidates: Sequence[str]) -> list[str]:
    """Return the columns that share their values with others, as annotators do.

    Too few rows or columns do not show that, and are all taken for annotators.
    """
    if len(candidates) < 2 or table.n_rows < _MIN_ROWS:
        return list(candidates)
    counts = {column: _label_counts(table.value_counts(column)) for column in candidates}
    columns_with = Counter(value for values in counts.values() for value in values or ())
    single = [one for one in candidates if _may_abstain(counts[one], table.n_rows)]
    others = [one for one in candidates if one not in single]
    found = [one for one in others if _holds_labels(counts[one], columns_with, len(candidates))]
    chosen = _largest_group(table, found, counts)
    if not chosen and len(single) < 2:
        raise table.error(
            f"{table.name}: no two of the columns {list_names(candidates)} share labels, so it is "
            f"not a wide table. Pass item=, annotator= and label={table.call} for a long "
            "table, or name all annotators of a wide table by annotator=."
        )
    return [column for column in candidates if column in chosen or column in single]


def _label_counts(values: Mapping[str, int] | None) -> Counter[str] | None:
    """Count the distinct values that may be labels, in a plain spelling."""
    if values is None:
        return None
    counts: Counter[str] = Counter()
    for value, count in values.items():
        text = trim(value)
        if text and not is_missing_marker(text):
            counts[plain_numeral(text) if NUMERAL.fullmatch(text) else text.casefold()] += count
    return counts


def _holds_labels(values: Counter[str] | None, columns_with: Counter[str], n_columns: int) -> bool:
    """Return whether values repeat, and half of the cells hold values of other columns.

    Many distinct values must occur in two other columns, because two columns of numbers, such as
    lengths and counts, share some by chance.
    """
    if values is None:
        return False
    n_cells, n_distinct = values.total(), len(values)
    if n_distinct > _FEW_VALUES and n_distinct > n_cells / 2:
        return False
    needed = 3 if n_distinct > _FEW_VALUES and n_columns > 3 else 2
    shared = sum(count for value, count in values.items() if columns_with[value] >= needed)
    return 2 * shared >= n_cells > 0


def _may_abstain(values: Counter[str] | None, n_rows: int) -> bool:
    """Return whether this may be a labelling function that knows one class, or never fired."""
    if values is None or len(values) > 1:
        return False
    return values.total() != 1 and values.total() < n_rows


def _largest_group(
    table: SampledTable, columns: Sequence[str], counts: Mapping[str, Counter[str] | None]
) -> list[str]:
    """Return the most columns that are connected by shared values; a tie is ambiguous."""
    groups: list[tuple[list[str], set[str]]] = []
    for column in columns:
        members, values = [column], set(counts[column] or ())
        for group in [one for one in groups if one[1] & values]:
            groups.remove(group)
            members, values = group[0] + members, values | group[1]
        groups.append((members, values))
    groups.sort(key=lambda group: len(group[0]), reverse=True)
    if len(groups) > 1 and len(groups[0][0]) == len(groups[1][0]):
        raise table.error(
            f"{table.name}: the annotators may be {list_names(groups[0][0])}, or "
            f"{list_names(groups[1][0])}. Name all of them by passing annotator={table.call}."
        )
    return groups[0][0] if groups else []
