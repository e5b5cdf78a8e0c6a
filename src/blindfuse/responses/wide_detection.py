"""Detect the annotators of a wide table, from the names and values of its columns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from blindfuse.errors import counted, list_names
from blindfuse.responses.column_names import INDEX_NAME, is_descriptive
from blindfuse.responses.detection import (
    ColumnOptions,
    SampledTable,
    detect_column,
    existing_column,
    is_nested,
)
from blindfuse.responses.frames import FrameSample
from blindfuse.responses.markers import is_missing_marker
from blindfuse.responses.notes import count_note
from blindfuse.responses.scalars import plain_if_numeral
from blindfuse.responses.values import trim

_MIN_ROWS = 10
"""With fewer rows, values do not show whether a column holds labels."""

_MIN_UNIQUE = 3
"""With fewer rows, other values in every row are not unusual."""

_MAX_LONG_COLUMNS = 6
"""A long table whose columns have no known names has at most as many."""

_FEW_VALUES = 20
"""A column with more distinct values is suspected to hold numbers, ids or texts."""


class WideColumns(NamedTuple):
    """The columns of a wide table: the items (None for row numbers), annotators and gold labels."""

    item: str | None
    annotators: list[str]
    gold: str | None

    def notes(self, columns: Sequence[str]) -> list[str]:
        """Return notes on the annotators, and on those of the columns that are none of these."""
        skipped = [one for one in columns if one not in {self.item, self.gold, *self.annotators}]
        annotators = list_names(self.annotators)
        return [
            *count_note(len(self.annotators), f"annotator column{{s}}: {annotators}"),
            *count_note(
                len(skipped),
                "column{s} not read as annotators, by their names or values: "
                f"{list_names(skipped)}. Name the annotators with annotator= (--annotator) if this "
                "is wrong",
            ),
        ]


def transposed_note(n_annotators: int, n_items: int) -> list[str]:
    """Return a note if there are far more annotators than items, as in the table of a form."""
    if not 0 < 2 * n_items < n_annotators:
        return []
    return [
        f"Check the annotators: there are {n_annotators:,} columns for {counted(n_items, 'row')}. "
        "If the rows are annotators and the columns are items, transpose the table"
    ]


def wide_candidates(table: SampledTable, options: ColumnOptions) -> tuple[str | None, list[str]]:
    """Return the item column that is named or detected by name, and the possible annotators."""
    columns = table.columns
    if not columns:
        raise table.error(f"{table.name} has no annotator column. Pass one column per annotator.")
    named = [existing_column(table, name) for name in options.annotators]
    item = detect_column("item", table, options.item, named)
    if item is None:
        stored = [one for one in columns if str(one).startswith("__index_level_")]
        is_index = INDEX_NAME.fullmatch(str(columns[0])) is not None
        item = columns[0] if is_index else stored[0] if len(stored) == 1 else None
    candidates = [one for one in columns if one != item and not is_descriptive(one)]
    if not named and not candidates:
        raise table.error(
            f"{table.name} has no column with labels, only {list_names(columns)}. "
            "A wide table needs one column per annotator; name them with annotator=."
        )
    return item, named or candidates


def wide_columns(
    table: FrameSample,
    item: str | None,
    candidates: list[str],
    gold: str | None,
    options: ColumnOptions,
) -> WideColumns:
    """Return the columns of a wide table; of the candidates, those that hold labels are annotators.

    ``gold`` is the column of gold labels. Columns whose names or values suggest texts, ids, dates,
    numbers, gold labels or results are not annotators, unless the user names them.
    """
    if gold == item or gold in candidates:
        gold = None
    if not options.all_choices:
        candidates = _without_nested(table, candidates, options)
    if options.annotators:
        return WideColumns(item, candidates, gold)
    _refuse_long(table, [*filter(None, [item]), *candidates])
    annotators = _columns_of_labels(table, candidates, options.own_labels)
    first = table.columns[0]
    if item is options.item is None and first not in annotators and _names_rows(table, annotators):
        item = first
    return WideColumns(item, annotators, gold)


def _without_nested(
    table: SampledTable, candidates: Sequence[str], options: ColumnOptions
) -> list[str]:
    """Return the columns whose cells are not lists or objects.

    Refuse lists and objects in columns that were named, or beside which there are not two others.
    """
    nested = [one for one in candidates if is_nested(table.texts(one))]
    if nested and (options.annotators or len(nested) > len(candidates) - 2):
        raise table.error(
            f"{table.name}: column {list_names(nested)} holds nested values. Write one row per "
            "response, with the columns item, annotator and label."
        )
    return [one for one in candidates if one not in nested]


def _refuse_long(table: FrameSample, columns: Sequence[str]) -> None:
    """Raise an error if two of a few columns name the rows, as item and annotator of a long table.

    A long table whose columns have no known names is taken for a wide one otherwise. The values of
    its columns repeat, but pairs of items and annotators do not. Annotators of a wide table who
    agree with each other give the same pair of labels again and again.
    """
    if table.n_rows < _MIN_ROWS or len(columns) > _MAX_LONG_COLUMNS:
        return
    share = {column: table.distinct_share([column]) for column in columns}
    repeating = [column for column in columns if share[column] <= 0.5]
    if not 3 <= len(repeating) <= 4:  # item, annotator, label and perhaps a gold label
        return
    for pair in combinations(repeating, 2):
        if min(share[one] for one in pair) <= 0.25 and table.distinct_share(pair) >= 0.95:
            item, annotator = sorted(pair, key=lambda one: -share[one])
            label = next(one for one in repeating if one not in pair)
            raise table.error(
                f"{table.name}: the columns {list_names([item, annotator])} together name each "
                "row, as the item and the annotator of a long table do. Pass item=, annotator= and "
                f"label={table.call}, as in item={item!r}, annotator={annotator!r}, "
                f"label={label!r}, or name all annotators of a wide table by annotator=."
            )


def _names_rows(table: FrameSample, annotators: Sequence[str]) -> bool:
    """Return whether the first column holds one value per row, such as a text or a path.

    In a few rows, gold labels and results differ as well; but annotators report the same values.
    """
    first = table.columns[0]
    labels = {value for one in annotators for value in table.value_counts(one) or ()}
    return table.is_unique(first) and not (
        table.n_rows < _MIN_ROWS and labels & set(table.value_counts(first) or ())
    )


def _columns_of_labels(
    table: FrameSample, candidates: list[str], own_labels: bool = False
) -> list[str]:
    """Return the columns that share their values with others, as annotators do.

    Too few rows or columns do not show that, and are all taken for annotators, but for columns of
    other texts or numbers in every row. Columns with labels of their own need not share any: their
    values occur twice on average.
    """
    values = {column: table.value_counts(column) for column in candidates}
    counts = {one: _label_counts(own) for one, own in values.items() if own is not None}
    if own_labels:
        return [one for one, own in counts.items() if own.total() >= 2 * len(own) > 0] or candidates
    if len(candidates) < 2:
        return candidates
    columns_with = Counter(value for own in counts.values() for value in own)
    sharing = {one for one, own in counts.items() if any(columns_with[value] > 1 for value in own)}
    is_tiny = table.n_rows < _MIN_UNIQUE or len(candidates) < 3
    if table.n_rows < _MIN_ROWS and (sharing or is_tiny):
        repeating = {one for one in counts if len(counts[one]) < max(table.n_rows, _MIN_UNIQUE)}
        return [one for one in counts if one in sharing | repeating] if sharing else candidates
    # a labelling function that knows one class, or never fired
    may_abstain = {
        one
        for one, own in counts.items()
        if len(own) < 2 and own.total() != 1 and own.total() < table.n_rows
    }
    labels = {
        one: own
        for one, own in counts.items()
        if one not in may_abstain and _holds_labels(own, columns_with, len(candidates))
    }
    groups = _groups(labels)
    if len(groups) > 1 and len(groups[0]) == len(groups[1]):
        raise table.error(
            f"{table.name}: the annotators may be {list_names(groups[0])}, or "
            f"{list_names(groups[1])}. Name all of them by passing annotator={table.call}."
        )
    annotators = may_abstain.union(*groups[:1])
    if len(annotators) < 2:
        raise table.error(
            f"{table.name}: no two of the columns {list_names(candidates)} share labels, so it is "
            f"not a wide table. Pass item=, annotator= and label={table.call} for a long "
            "table, or name all annotators of a wide table by annotator=."
        )
    return [column for column in candidates if column in annotators]


def _label_counts(values: Mapping[str, int]) -> Counter[str]:
    """Count the distinct values that may be labels, in a plain spelling."""
    counts: Counter[str] = Counter()
    for value, count in values.items():
        text = trim(value)
        if text and not is_missing_marker(text):
            counts[plain_if_numeral(text).casefold()] += count
    return counts


def _holds_labels(values: Counter[str], columns_with: Counter[str], n_columns: int) -> bool:
    """Return whether values repeat, and half of the cells hold values of other columns.

    Many distinct values must occur in two other columns, because two columns of numbers, such as
    lengths and counts, share some by chance.
    """
    n_cells, n_distinct = values.total(), len(values)
    if n_distinct > _FEW_VALUES and n_distinct > n_cells / 2:
        return False
    needed = 3 if n_distinct > _FEW_VALUES and n_columns > 3 else 2
    shared = sum(count for value, count in values.items() if columns_with[value] >= needed)
    return 2 * shared >= n_cells > 0


def _groups(counts: Mapping[str, Counter[str]]) -> list[list[str]]:
    """Return groups of columns that are connected by shared values, the largest first."""
    groups: list[tuple[list[str], set[str]]] = []
    for column, own in counts.items():
        members, values = [column], set(own)
        for group in [one for one in groups if one[1] & values]:
            groups.remove(group)
            members, values = group[0] + members, values | group[1]
        groups.append((members, values))
    return sorted((members for members, _ in groups), key=len, reverse=True)
