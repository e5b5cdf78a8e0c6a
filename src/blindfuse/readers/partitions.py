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
from blindfuse.readers.encoding import matching_gold, to_responses
from blindfuse.readers.names import NameForm, name_forms, name_notes, plain_numbers
from blindfuse.readers.reader import (
    ParsedResponses,
    check_question,
    parse,
    several_questions,
    split_path,
)
from blindfuse.readers.reading import (
    READERS,
    file_notes,
    find_format,
    open_tables,
    text_label_options,
)
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


@dataclass(eq=False)
class Partitions:
    """A long table in partitions, each with all responses to its items.

    Calling it iterates over the partitions.

    Attributes
    ----------
    files
        the partitions on disk.
    columns
        where the item, the annotator and the label were found.
    notes
        sentences about what was detected, skipped or converted.
    gold
        gold labels in the same file, ``{item: label}``.
    """

    files: Sequence[Path]
    columns: Mapping[str, str]
    notes: Sequence[str]
    gold: Mapping[str, str]
    _tables: Sequence[Table]
    _options: ColumnOptions
    _labels: LabelOptions
    _repeats: Repeats
    _forms: Mapping[str, NameForm]
    _repeated: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> Iterator[Responses]:
        for file, table in zip(self.files, self._tables, strict=True):
            parsed = parse(long, [table], self._options)
            responses, _ = to_responses(table, parsed, self._labels, self._repeats, self._forms)
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
        return repeat_notes(sum(n for n, _ in counts), sum(n for _, n in counts))


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
    tables = open_tables(paths)
    name = find_format(tables, format, options)
    if READERS[name] is not long:
        raise BadFile(
            f"{tables[0].name} is {READERS[name].TITLE}, but only long tables can be read in "
            "partitions. Read it whole, or convert it to a table with the columns item, annotator "
            "and label."
        )
    used = long.columns_of_roles(tables, split_path(tables[0], options)[0])
    size = sum(table.source.size for table in tables)
    with TemporaryDirectory(prefix="blindfuse-") as folder:
        count = max(1, size // (partition_bytes or PARTITION_BYTES))
        files = _write_partitions(tables, used, count, Path(folder))
        partitions = [_partition(tables[0], file) for file in files]
        if "question" in used:
            _check_question(partitions, used, question)
            options = replace(options, question_exists=True)
        labels = text_label_options(classes, missing, keep_na, fold_case)
        values = _ValueSummary()
        for partition in partitions:
            values.add(parse(long, [partition], options))
        labels, label_notes = values.pin_classes(tables[0].name, labels)
        gold = pl.concat(values.gold) if values.gold else None
        pinned, gold_notes = matching_gold(gold, labels, np.array(labels.classes, object))
        all_named = bool(format and item and annotator and label)
        notes = [
            *file_notes(name, tables, values.columns, all_named),
            *values.notes,
            *label_notes,
            *name_notes(values.forms),
            *gold_notes,
        ]
        yield Partitions(
            files,
            values.columns,
            notes,
            pinned,
            partitions,
            options,
            labels,
            repeats,
            values.forms,
        )


class _ValueSummary:
    """What the partitions hold in total: labels with counts, the form of names, gold labels."""

    def __init__(self) -> None:
        self.columns: dict[str, str] = {}
        self.notes: list[str] = []
        self.forms = {"item": NameForm(), "annotator": NameForm()}
        self.gold: list[pl.DataFrame] = []
        self._labels: Counter[str | None] = Counter()

    def add(self, parsed: ParsedResponses) -> None:
        """Add the responses of a partition."""
        self.columns = parsed.columns
        self.notes = sum_notes([*self.notes, *parsed.notes])
        forms = name_forms(*(parsed.frame[role].unique() for role in self.forms))
        self.forms = {role: form.joined(forms[role]) for role, form in self.forms.items()}
        if parsed.gold is not None:
            self.gold.append(parsed.gold.unique(maintain_order=True))
        if len(self._labels) <= MAX_CLASSES:
            reported = pl.col("annotator").is_not_null().sum()
            counts = parsed.frame.group_by("label").agg(reported)
            self._labels.update(dict(counts.iter_rows()))

    def pin_classes(self, name: str, options: LabelOptions) -> tuple[LabelOptions, list[str]]:
        """Return the options with the classes of all partitions, and notes about labels."""
        if len(self._labels) > MAX_CLASSES:
            raise BadFile(
                f"{name}: {self.columns['label']!r} contains more than {MAX_CLASSES:,} "
                "different labels. Name the label column with label=."
            )
        values = sorted(self._labels, key=str)
        counts = [self._labels[value] for value in values]
        coded = code_distinct(values, lambda: counts, options, lambda _: name)
        if not len(coded.names):
            raise BadFile(
                f"{name} contains no labels, so there is nothing to fuse. Check the label column."
            )
        return replace(options, classes=coded.names.tolist()), coded.notes


_ALL_COLUMNS = pl.QueryOptFlags(projection_pushdown=False)
"""Polars would ignore what is left over in a row after the chosen columns."""


def _write_partitions(
    tables: Sequence[Table], used: Mapping[str, str], count: int, folder: Path
) -> list[Path]:
    """Write each row to the partition given by a hash of its item, in one pass over the tables."""
    columns = list(used.values())
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
    item = pl.col(used["item"]).str.strip_chars(TRIMMED)  # spellings that may be one item
    files = pl.PartitionBy(
        folder,
        key={"partition": plain_numbers(item).hash() % count},
        include_key=False,
        approximate_bytes_per_file=None,
    )
    try:
        pl.concat(frames).sink_parquet(files, mkdir=True, optimizations=_ALL_COLUMNS)
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(
            f"{tables[0].name} cannot be read in partitions: {reason}. Correct it, or read it "
            "whole."
        ) from None
    return sorted(folder.rglob("*.parquet"))


def _partition(table: Table, file: Path) -> Table:
    """Return a partition as a table with the sample of the file, so that detection agrees."""

    def load(columns: Sequence[str]) -> pl.DataFrame:
        return pl.read_parquet(file, columns=list(columns), glob=False).select(columns)

    return replace(table, load=load, records=None, scan=None, row_numbers=False)


def _check_question(
    partitions: Sequence[Table], used: Mapping[str, str], question: str | None
) -> None:
    """Raise BadFile unless some partition has the question, or none has several to choose from."""
    questions: dict[str, None] = {}
    several = False
    for partition in partitions:
        frame = partition.load([used["item"], used["question"]])
        frame.columns = ["item", "question"]
        several = several or long.has_several_questions(frame)
        questions |= dict.fromkeys(frame["question"].drop_nulls().unique().to_list())
    name = partitions[0].name
    if question is not None:
        check_question(name, question, list(questions))
    elif several:
        raise BadFile(several_questions(name, sorted(questions)))
