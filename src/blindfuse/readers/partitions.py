"""Read files larger than memory: items are split into partitions on disk, read one by one.

A partition holds the columns that the reader of long tables needs, as text, so that the same
reader reads the whole file and its partitions. What depends on all rows is decided before the
first partition is read: the question, the classes, and whether names are whole numbers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack

import numpy as np
import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers import long
from blindfuse.readers.encoding import code_values, gold_labels, to_responses
from blindfuse.readers.names import name_forms, name_notes, plain_numbers
from blindfuse.readers.reader import ParsedResponses, choose_question, parse
from blindfuse.readers.reading import (
    READERS,
    ReadOptions,
    file_notes,
    find_format,
    open_tables,
    text_label_options,
)
from blindfuse.readers.sources import FileInput
from blindfuse.readers.tables import Table, check_same_columns
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.notes import sum_notes
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import repeat_notes
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
    classes
        the classes of the whole table.
    """

    files: Sequence[Path]
    columns: dict[str, str]
    notes: Sequence[str]
    gold: Mapping[str, str]
    classes: Sequence[str]
    _read: Callable[[Path], Responses]
    _repeated: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> Iterator[Responses]:
        for file in self.files:
            responses = self._read(file)
            self._repeated[file] = responses.repeated, responses.contradictory
            yield responses

    def items_among(self, names: Iterable[str]) -> set[str]:
        """The names that are items."""
        wanted = set(names)
        return {name for part in self() for name in wanted.intersection(part.items.tolist())}

    @property
    def repeat_notes(self) -> list[str]:
        """Notes about repeated responses in the partitions read so far."""
        repeated = np.array([(0, 0), *self._repeated.values()])
        return repeat_notes(*repeated.sum(axis=0).tolist())


@contextmanager
def read_partitions(
    paths: FileInput | Iterable[FileInput],
    *,
    partition_bytes: int | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[Partitions]:
    """Split the items of long tables into partitions, which are deleted on exit.

    Files must be CSV, TSV, Parquet or Arrow, and neither compressed nor piped. The options are
    those of :func:`blindfuse.read`, and the responses are the same. ``partition_bytes`` defaults to
    ``PARTITION_BYTES``.
    """
    named = ColumnOptions(
        options.get("item"), options.get("annotator"), options.get("label"), options.get("question")
    )
    tables = open_tables(paths, named.names)
    table, given = replace(tables[0], records=None, row_numbers=False), options.get("format")
    format = find_format(tables, given, named)
    if READERS[format] is not long:
        raise BadFile(
            f"{table.name} is {READERS[format].TITLE}, but only long tables can be read in "
            "partitions. Read it whole, or convert it to a table with the columns item, annotator "
            "and label."
        )
    used = long.columns_of_roles(tables, named)
    size = sum(each.source.size for each in tables)
    count = max(1, size // (partition_bytes or PARTITION_BYTES))
    with TemporaryDirectory(prefix="blindfuse-") as folder:
        files = _write_partitions(tables, used, count, Path(folder))
        if "question" in used:
            _check_question(table.name, files, used, named.question)
            named = replace(named, question_exists=True)
        columns, notes, gold = _parse_partitions(table, files, named)
        responses = pl.scan_parquet(files, glob=False)
        forms = name_forms(responses.select("item"), responses.select("annotator"))
        labels, label_notes = _pin_classes(table, columns, responses, options)
        classes = list(labels.classes or ())
        gold_in_file, gold_notes = gold_labels(gold, labels, np.array(classes, object))
        notes = [
            *file_notes(long.TITLE, tables, columns, named.all_named and given is not None),
            *notes,
            *label_notes,
            *name_notes(forms),
            *gold_notes,
        ]
        repeats = options.get("repeats", "most_frequent")

        def read(file: Path) -> Responses:
            parsed = ParsedResponses(pl.read_parquet(file, glob=False), columns)
            return to_responses(table, parsed, labels, repeats, forms)[0]

        yield Partitions(files, columns, notes, gold_in_file, classes, read)


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


def _check_question(
    name: str, files: Sequence[Path], used: Mapping[str, str], question: str | None
) -> None:
    """Raise BadFile unless the question exists, or there are not several to choose from."""
    columns = {"item": used["item"], "question": used["question"]}
    rows = [pl.scan_parquet(file, glob=False).select(**columns) for file in files]
    if question is not None or any(map(long.has_several_questions, rows)):
        asked = pl.concat(rows).select(pl.col("question").drop_nulls().unique()).collect()
        empty = pl.Series(dtype=pl.String)
        choose_question(name, dict.fromkeys(asked["question"].sort(), empty), question)


def _parse_partitions(
    table: Table, files: Sequence[Path], named: ColumnOptions
) -> tuple[dict[str, str], list[str], pl.DataFrame | None]:
    """Replace the rows in the files by the responses in them; return the columns, notes and gold.

    The sample is that of the whole file, so that detection agrees.
    """
    columns: dict[str, str] = {}
    notes: list[str] = []
    gold: list[pl.DataFrame] = []
    for file in files:
        rows = pl.read_parquet(file, glob=False, memory_map=False)
        parsed = parse(long, [replace(table, load=rows.select)], named)
        parsed.frame.write_parquet(file)
        columns, notes = parsed.columns, sum_notes([*notes, *parsed.notes])
        if parsed.gold is not None:
            gold.append(parsed.gold.unique(maintain_order=True))
    return columns, notes, pl.concat(gold) if gold else None


def _pin_classes(
    table: Table, columns: Mapping[str, str], responses: pl.LazyFrame, options: ReadOptions
) -> tuple[LabelOptions, list[str]]:
    """Return what the user says about labels, with the classes of all partitions, and notes."""
    keep_na, fold_case = options.get("keep_na", False), options.get("fold_case", False)
    classes, missing = options.get("classes"), options.get("missing")
    labels = text_label_options(classes, missing, keep_na, fold_case)
    counted = responses.group_by("label").agg(pl.count("annotator")).collect().sort("label")
    values, counts = counted.get_columns()
    coded = code_values(table, columns, values, counts.to_list, labels, lambda _: table.name)
    return replace(labels, classes=coded.names.tolist()), [*coded.notes]
