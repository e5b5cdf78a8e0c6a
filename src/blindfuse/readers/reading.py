"""``read``: from files to ``Responses``, with notes about what was detected and skipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blindfuse.errors import BadParameter, list_names
from blindfuse.readers.detection import ColumnOptions
from blindfuse.readers.encoding import encode
from blindfuse.readers.gold import matching_gold
from blindfuse.readers.opening import open_table
from blindfuse.readers.reader import Reader
from blindfuse.readers.registry import READERS
from blindfuse.readers.sources import FileInput, find_sources
from blindfuse.readers.tables import Table
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.responses import Names, Responses


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
    """

    responses: Responses
    format: str
    columns: Mapping[str, str]
    notes: tuple[str, ...]
    gold: Mapping[str, str]


def read(
    paths: FileInput | Iterable[FileInput],
    *,
    format: str | None = None,
    item: str | None = None,
    annotator: str | Sequence[str] | None = None,
    label: str | None = None,
    question: str | None = None,
    classes: Names | None = None,
    repeats: Repeats = "most_frequent",
) -> Read:
    """Read the responses in one file, or in several files of the same format.

    Names and labels are kept as the text in the file: ``007`` and ``1e5`` are not converted to
    numbers. Classes are sorted as text, or by value if all of them are numbers.

    Parameters
    ----------
    paths
        a path, a pattern such as ``votes/*.csv``, a folder, a zip archive, ``-`` for standard
        input, a binary stream, or several of these. Files may be compressed with gzip.
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
    repeats
        which response counts if an annotator labelled an item more than once: the most frequent
        one (a tie is treated as missing), the ``"last"`` or the ``"first"``; ``"error"`` refuses.
    """
    if format is not None and format not in READERS:
        formats = list_names(READERS, len(READERS))
        raise BadParameter(f"Unknown format {format!r}. Choose one of {formats}.")
    options = ColumnOptions(item, annotator, label, question)
    tables = [open_table(source) for source in find_sources(paths)]
    reader = READERS[format] if format else _detect_format(tables, options)
    parsed = reader.read(tables, options)
    responses, encoding_notes = encode(tables[0], parsed, classes, repeats)
    gold, gold_notes = matching_gold(parsed, responses.classes)
    all_named = bool(format and item and annotator and label)
    notes = [
        _summary(reader, tables, parsed.columns, detected=not all_named),
        *dict.fromkeys(note for table in tables for note in table.notes),
        *parsed.notes,
        *encoding_notes,
        *gold_notes,
    ]
    return Read(responses, reader.NAME, parsed.columns, tuple(notes), gold)


def _detect_format(tables: Sequence[Table], options: ColumnOptions) -> Reader:
    return next(reader for reader in READERS.values() if reader.recognizes(tables, options))


def _summary(
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
