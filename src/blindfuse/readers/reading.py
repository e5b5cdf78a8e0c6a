"""``read``: from files to ``Responses``, with notes about what was detected and skipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindfuse.errors import BadParameter, list_names
from blindfuse.readers.encoding import encode
from blindfuse.readers.gold import matching_gold
from blindfuse.readers.opening import open_table
from blindfuse.readers.reader import Reader
from blindfuse.readers.registry import READERS
from blindfuse.readers.sources import FileInput, find_sources
from blindfuse.readers.tables import Table
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.inputs import Names, label_options
from blindfuse.responses.notes import count_note
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses
from blindfuse.responses.sanity import sanity_notes
from blindfuse.responses.values import LabelOptions

MIN_LABELLED_PER_UNLABELLED = 10
"""Items with responses per item without; where more items have none, that is not a mistake."""


@dataclass(frozen=True, eq=False)
class Read:
    """The result of ``read``.

    Attributes
    ----------
    format
        the name of the format, such as ``"long"``.
    columns
        where the item, the annotator and the label were found.
    notes
        sentences about what was detected, skipped or repeated.
    gold
        gold labels in the same file, ``{item: label}``.
    questions
        those of the notes that ask whether items and labels are what they seem to be.
    """

    responses: Responses
    format: str
    columns: Mapping[str, str]
    notes: tuple[str, ...]
    gold: Mapping[str, str]
    questions: tuple[str, ...] = ()


def read(
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
) -> Read:
    """Read the responses in one file, or in several files of the same format.

    Names and labels are kept as the text in the file, without outer white space: ``007`` and
    ``1e5`` are not converted to numbers. Only where all labels are plain numbers, ``1.0`` and ``1``
    are one class. Classes are sorted as text, or by value if all of them are numbers.

    Parameters
    ----------
    paths
        a path, a pattern such as ``votes/*.csv``, a folder, a zip archive, ``-`` for standard
        input, a binary stream, or several of these. Files may be compressed with
        gzip, bzip2 or xz.
    format
        the name of a format, such as ``"long"`` or ``"toloka"`` (see the page on file formats).
        By default it is detected from the content.
    item, annotator, label
        column names. By default they are detected by name. For a wide table, ``annotator`` may be
        a list of columns.
    question
        the question to read, if the file contains several.
    classes
        the classes, in the order you want; by default those that occur, sorted.
    missing
        a label, or a list of labels, treated as missing, in addition to empty labels, ``NA``,
        ``null`` and the like, and failed verdicts such as ``error``.
    keep_na
        whether ``NA``, ``null``, ``error`` and the like are classes.
    fold_case
        whether labels that differ only by case or Unicode form are one class.
    repeats
        which response counts if an annotator labelled an item more than once: the most frequent
        one (a tie is treated as missing), the ``"last"`` or the ``"first"``; ``"error"`` refuses.
    """
    options = ColumnOptions(item, annotator, label, question)
    tables, reader = open_tables(paths, format, options)
    parsed = reader.read(tables, options)
    labels = text_label_options(classes, missing, keep_na, fold_case, parsed.abstain)
    responses, encoding_notes = encode(tables[0], parsed, labels, repeats)
    gold, gold_notes = matching_gold(parsed.gold, labels, responses.classes)
    all_named = bool(format and item and annotator and label)
    questions = tuple(sanity_notes(responses))
    notes = [
        summary(reader, tables, parsed.columns, detected=not all_named),
        *dict.fromkeys(note for table in tables for note in table.notes),
        *parsed.notes,
        *several_note(parsed.several),
        *encoding_notes,
        *responses.repeat_notes,
        *overlap_note(responses),
        *unlabelled_item_note(responses),
        *questions,
        *gold_notes,
    ]
    return Read(responses, reader.NAME, parsed.columns, tuple(notes), gold, questions)


def open_tables(
    paths: FileInput | Iterable[FileInput], format: str | None, options: ColumnOptions
) -> tuple[list[Table], Reader]:
    """Open all files and return them with the reader of their format, detected if not given."""
    if format is not None and format not in READERS:
        formats = list_names(READERS, len(READERS))
        raise BadParameter(f"Unknown format {format!r}. Choose one of {formats}.")
    tables = [open_table(source) for source in find_sources(paths)]
    if format is not None:
        return tables, READERS[format]
    return tables, next(one for one in READERS.values() if one.recognizes(tables, options))


def text_label_options(
    classes: Names | None, missing: Any, keep_na: bool, fold_case: bool, abstain: bool
) -> LabelOptions:
    """Return what the user says about labels, with the classes as text."""
    names = None if classes is None else [str(name) for name in classes]
    return label_options(names, missing, keep_na, fold_case, abstain)


def several_note(several: int) -> list[str]:
    """Return a note if responses had several labels."""
    return count_note(
        several,
        "response{s} with several labels: only the first is used. Add --multi-label (read_sets and "
        "fuse_sets in Python) to fuse all of them",
    )


def overlap_note(responses: Responses | ResponseSets) -> list[str]:
    """Return a note if no item has two responses, as when the item column holds row numbers."""
    if responses.n_items > 1 and responses.responses_per_item.max(initial=0) <= 1:
        return ["no item has more than one response: check that the item column is right"]
    return []


def unlabelled_item_note(responses: Responses) -> list[str]:
    """Return a note if a few items have no response, as comments and footers of a file would."""
    unlabelled = responses.items[responses.responses_per_item == 0]
    if not 0 < MIN_LABELLED_PER_UNLABELLED * len(unlabelled) <= responses.n_items:
        return []
    have = "has" if len(unlabelled) == 1 else "have"
    return [
        f"Check the items: {list_names(unlabelled, 3)} {have} no response, and will be labelled by "
        "the class prior. Delete rows that are not items"
    ]


def summary(
    reader: Reader, tables: Sequence[Table], columns: Mapping[str, str], detected: bool
) -> str:
    """Return the first note: the format, the file types and the columns."""
    file_types = ", ".join(dict.fromkeys(table.file_type for table in tables))
    found = ", ".join(f"{role} = {_quoted(where, tables[0])}" for role, where in columns.items())
    return f"read as {reader.TITLE} ({file_types}): {found}{' (detected)' if detected else ''}"


def _quoted(where: str, table: Table) -> str:
    """Quote names of columns and fields, but not descriptions such as "row number"."""
    is_description = " " in where and where not in table.columns
    return where if is_description else repr(where)
