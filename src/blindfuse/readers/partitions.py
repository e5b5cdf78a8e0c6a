"""Read files larger than memory: items are split into partitions on disk, read one by one.

A partition holds the columns that the reader of long tables needs, as text, so that the same
reader reads the whole file and its partitions. What depends on all rows is decided before the
first partition is read: the question, the classes, and whether names are whole numbers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers import long
from blindfuse.readers.encoding import NameForm, encode, name_notes, plain_numbers
from blindfuse.readers.gold import matching_gold
from blindfuse.readers.parsed_responses import GoldLabels, ParsedResponses
from blindfuse.readers.questions import check_question, several_questions
from blindfuse.readers.reading import open_tables, several_note, summary, text_label_options
from blindfuse.readers.sources import FileInput
from blindfuse.readers.tables import Table, check_same_columns
from blindfuse.responses.coding import MAX_CLASSES, code_distinct
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.inputs import Names
from blindfuse.responses.notes import sum_notes
from blindfuse.responses.repeats import Repeats, repeat_notes
from blindfuse.responses.responses import Responses
from blindfuse.responses.values import TRIMMED, LabelOptions

PARTITION_BYTES = 2**28
"""File bytes per partition. Reading a partition takes a few times as much memory."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """A long table in partitions, each with all responses to its items.

    Calling it iterates over the partitions.

    Attributes
    ----------
    columns
        where the item, the annotator and the label were found.
    notes
        sentences about what was detected, skipped or converted.
    files
        the partitions on disk.
    repeats
        which response counts if an annotator labelled an item more than once.
    gold
        gold labels in the same file, ``{item: label}``.
    """

    columns: Mapping[str, str]
    notes: tuple[str, ...]
    files: Sequence[Path]
    repeats: Repeats
    gold: Mapping[str, str]
    _tables: Sequence[Table]
    _options: ColumnOptions
    _labels: LabelOptions
    _forms: Mapping[str, NameForm]
    _repeated: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> Iterator[Responses]:
        for file, table in zip(self.files, self._tables, strict=True):
            parsed = long.read([table], self._options)
            responses, _ = encode(table, parsed, self._labels, self.repeats, self._forms)
            self._repeated[file] = responses.repeated, responses.contradictory
            yield responses

    @property
    def classes(self) -> Sequence[str]:
        """The classes of the whole table."""
        return self._labels.classes or ()

    def items_among(self, names: Iterable[str]) -> set[str]:
        """The names that are items."""
        wanted = set(names)
        return {name for part in self() for name in wanted.intersection(part.items.tolist())}

    @property
    def repeat_notes(self) -> list[str]:
        """Notes about repeated responses in the partitions read so far."""
        counts = self._repeated.values()
        return repeat_notes(sum(one for one, _ in counts), sum(one for _, one in counts))


@contextmanager
def read_partitions(
    paths: FileInput | Iterable[FileInput],
    *,
    format: str | None = None,
    item: str | None = None,
    annotator: str | Sequence[str] | None = None,
    label: str | None = None,
    question: str | None = None,
    classes: Names | None = None,
    missing: Any = None,
    keep_na: bool = False,
    fold_case: bool = False,
    repeats: Repeats = "most_frequent",
    partition_bytes: int | None = None,
) -> Iterator[Partitions]:
    """Split the items of long tables into partitions, which are deleted on exit.

    Files must be CSV, TSV, Parquet or Arrow, and neither compressed nor piped. The parameters are
    those of :func:`blindfuse.read`, and the responses are the same. ``partition_bytes`` defaults to
    ``PARTITION_BYTES``.
    """
    options = ColumnOptions(item, annotator, label, question)
    tables, reader = open_tables(paths, format, options)
    if reader is not long:
        raise BadFile(
            f"{tables[0].name} is {reader.TITLE}, but only long tables can be read in partitions. "
            "Read it whole, or convert it to a table with the columns item, annotator and label."
        )
    used = long.columns_of_roles(tables, options)
    rows = _scan(tables, [column for column in used.values() if column is not None])
    count = max(
        1, sum(table.source.size for table in tables) // (partition_bytes or PARTITION_BYTES)
    )
    with TemporaryDirectory(prefix="blindfuse-") as folder:
        files = _write_partitions(rows, str(used["item"]), count, Path(folder), tables[0])
        partitions = [_partition(tables[0], file) for file in files]
        options = _pin_question(tables[0], partitions, used, options)
        labels = text_label_options(classes, missing, keep_na, fold_case, abstain=False)
        values = _ValueSummary()
        for partition in partitions:
            values.add(long.read([partition], options))
        labels, label_notes = values.pin_classes(tables[0], labels)
        all_named = bool(format and item and annotator and label)
        notes = [
            summary(reader, tables, values.columns, detected=not all_named),
            *dict.fromkeys(note for table in tables for note in table.notes),
            *values.notes,
            *several_note(values.several),
            *label_notes,
            *name_notes(values.forms),
        ]
        gold, gold_notes = matching_gold(values.gold, labels, np.array(labels.classes, object))
        notes += gold_notes
        yield Partitions(
            values.columns,
            tuple(notes),
            files,
            repeats,
            gold,
            partitions,
            options,
            labels,
            values.forms,
        )


class _ValueSummary:
    """What the partitions hold in total: labels with counts, the form of names, gold labels."""

    def __init__(self) -> None:
        self.columns: dict[str, str] = {}
        self.notes: list[str] = []
        self.several = 0
        self.forms = {"item": NameForm(), "annotator": NameForm()}
        self.gold: GoldLabels | None = None
        self._labels: Counter[str | None] = Counter()

    def add(self, parsed: ParsedResponses) -> None:
        """Add the responses of a partition."""
        self.columns = parsed.columns
        self.notes = sum_notes([*self.notes, *parsed.notes])
        self.several += parsed.several
        for role, form in self.forms.items():
            self.forms[role] = form.joined(NameForm.of(parsed.frame[role].unique()))
        if parsed.gold is not None:
            pairs = parsed.gold.frame.unique(maintain_order=True)
            earlier = [] if self.gold is None else [self.gold.frame]
            self.gold = parsed.gold._replace(frame=pl.concat([*earlier, pairs]))
        has_annotator = parsed.frame["annotator"].is_not_null()
        counts = parsed.frame.group_by("label").agg(pl.len())
        reported = parsed.frame.filter(has_annotator).group_by("label").agg(pl.len())
        if len(self._labels) <= MAX_CLASSES:
            self._labels.update(dict.fromkeys(counts["label"].to_list(), 0))
            self._labels.update(dict(reported.iter_rows()))

    def pin_classes(self, table: Table, options: LabelOptions) -> tuple[LabelOptions, list[str]]:
        """Return the options with the classes of all partitions, and notes about labels."""
        if len(self._labels) > MAX_CLASSES:
            raise BadFile(
                f"{table.name}: {self.columns['label']!r} contains more than {MAX_CLASSES:,} "
                "different labels. Name the label column with label=."
            )
        values = sorted(self._labels, key=str)
        counts = [self._labels[value] for value in values]
        coded = code_distinct(values, lambda: counts, options, lambda _: table.name)
        if not len(coded.names):
            raise BadFile(
                f"{table.name} contains no labels, so there is nothing to fuse. "
                "Check the label column."
            )
        return replace(options, classes=coded.names.tolist()), coded.notes


def _scan(tables: Sequence[Table], columns: Sequence[str]) -> pl.LazyFrame:
    check_same_columns(tables, columns)
    frames = []
    for table in tables:
        if table.scan is None:
            raise BadFile(
                f"{table.name} cannot be read in partitions: only regular CSV, TSV, Parquet and "
                "Arrow files can, neither compressed nor piped. Unpack or convert it, or read it "
                "whole."
            )
        frames.append(table.scan(columns))
    return pl.concat(frames)


_ALL_COLUMNS = pl.QueryOptFlags(projection_pushdown=False)
"""Polars would ignore what is left over in a row after the chosen columns."""


def _write_partitions(
    rows: pl.LazyFrame, item: str, count: int, folder: Path, table: Table
) -> list[Path]:
    """Write each row to the partition given by a hash of its item, in one pass over the table."""
    name = plain_numbers(pl.col(item).str.strip_chars(TRIMMED))  # spellings that may be one item
    files = pl.PartitionBy(
        folder,
        key={"partition": name.hash() % count},
        include_key=False,
        approximate_bytes_per_file=None,
    )
    try:
        rows.sink_parquet(files, mkdir=True, optimizations=_ALL_COLUMNS)
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(
            f"{table.name} cannot be read in partitions: {reason}. Correct it, or read it whole."
        ) from None
    return sorted(folder.rglob("*.parquet"))


def _partition(table: Table, file: Path) -> Table:
    """Return a partition as a table with the sample of the file, so that detection agrees."""

    def load(columns: Sequence[str]) -> pl.DataFrame:
        return pl.read_parquet(file, columns=list(columns), glob=False).select(columns)

    return replace(table, load=load, records=None, scan=None, row_numbers=False)


def _pin_question(
    table: Table,
    partitions: Sequence[Table],
    used: Mapping[str, str | None],
    options: ColumnOptions,
) -> ColumnOptions:
    """Return options that name the question, if there is a column of several questions."""
    column = used["question"]
    if column is None:
        return options
    questions: dict[str, None] = {}
    several = False
    for partition in partitions:
        frame = partition.load([str(used["item"]), column])
        frame = frame.rename({str(used["item"]): "item", column: "question"})
        several = several or long.has_several_questions(frame)
        questions |= dict.fromkeys(frame["question"].drop_nulls().unique().to_list())
    if options.question is None and several:
        raise BadFile(several_questions(table.name, sorted(questions)))
    if options.question is not None:
        check_question(table.name, options.question, list(questions))
    return replace(options, question_exists=True)
