"""Detect the annotators of a wide table, from the names and values of its columns."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from blindfuse.errors import list_names
from blindfuse.responses.column_names import INDEX_NAME, is_descriptive
from blindfuse.responses.detection import (
    ColumnOptions,
    CountedTable,
    SampledTable,
    detect_column,
    existing_column,
    is_nested,
)
from blindfuse.responses.notes import count_note
from blindfuse.responses.values import NUMERAL, is_missing_marker, plain_numeral, trim

_MIN_ROWS = 10
"""With fewer rows, values do not show whether a column holds labels."""

_FEW_VALUES = 20
"""A column with more distinct values is suspected to hold numbers, ids or texts."""


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
    candidates = [column for column in others if not is_descriptive(column)]
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
    nested = [one for one in candidates if is_nested(table.texts(one))]
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
    if INDEX_NAME.fullmatch(str(first)):
        return first
    stored = [one for one in table.columns if str(one).startswith("__index_level_")]
    return stored[0] if len(stored) == 1 else None


def _identifying_column(table: CountedTable, annotators: Collection[str]) -> str | None:
    """Return the first column if it holds one value per row, such as a text or a path."""
    first = table.columns[0]
    if first in annotators or table.n_rows < _MIN_ROWS or not table.is_unique(first):
        return None
    return first


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
