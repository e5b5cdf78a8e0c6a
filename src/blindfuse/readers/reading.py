"""``read``: from files to a table of responses, with notes about what was detected and skipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

from blindfuse.comparisons.table import Comparisons
from blindfuse.errors import BadFile, BadParameter, list_names
from blindfuse.numbers.table import Numbers
from blindfuse.readers import (
    argilla,
    comparisons,
    doccano,
    indicators,
    inspect_logs,
    judges,
    label_studio,
    langfuse,
    lm_eval,
    long,
    mturk,
    prodigy,
    promptfoo,
    toloka,
    wide,
)
from blindfuse.readers.binary_tables import (
    columnar_type,
    database_type,
    open_columnar,
    open_database,
)
from blindfuse.readers.delimited import open_delimited
from blindfuse.readers.encoding import Encoder, Encoding, encode_labels, encode_sets
from blindfuse.readers.json_tables import is_json, open_json
from blindfuse.readers.numbers import encode_numbers, encode_scores
from blindfuse.readers.reader import Read, Reader, parse
from blindfuse.readers.sources import OTHER_EXTENSIONS, FileInput, Source, as_utf8, find_sources
from blindfuse.readers.tables import Table, with_fields
from blindfuse.responses.detection import ColumnOptions, refuse_comparisons
from blindfuse.responses.inputs import Names, label_options
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Repeats
from blindfuse.responses.scores import MAX_LEVELS, Levels
from blindfuse.responses.values import LabelOptions

READERS: dict[str, Reader] = {
    "label-studio": label_studio,
    "toloka": toloka,
    "mturk": mturk,
    "prodigy": prodigy,
    "argilla": argilla,
    "doccano": doccano,
    "promptfoo": promptfoo,
    "inspect": inspect_logs,
    "lm-eval": lm_eval,
    "langfuse": langfuse,
    "indicators": indicators,
    "judges": judges,
    "long": long,
    "wide": wide,
}
"""Every format by name, in the order in which they are tried. The last one accepts any table."""

Kind = Literal["labels", "sets", "scores", "numbers", "clusters", "comparisons"]
"""What a file holds: classes, sets of classes, scores of items that belong to classes, ratings on a
numeric scale, clusters with names of their own in each run, or comparisons of two items."""

ENCODERS: dict[Kind, Encoder] = {
    "labels": encode_labels,
    "sets": encode_sets,
    "scores": encode_scores,
    "numbers": encode_numbers,
    "clusters": encode_labels,
}
"""How the table of each kind is made of the responses in a file."""


class ReadOptions(TypedDict, total=False):
    """The keyword arguments of ``read``, which describes them, but ``kind``."""

    format: str | None
    item: str | None
    annotator: str | Sequence[str] | None
    label: str | None
    question: str | None
    classes: Names | None
    missing: Any
    keep_na: bool
    fold_case: bool
    repeats: Repeats
    separator: str | None
    levels: Levels


Paths = FileInput | Iterable[FileInput]


@overload
def read(
    paths: Paths,
    *,
    kind: Literal["labels", "scores", "clusters"] = ...,
    **options: Unpack[ReadOptions],
) -> Read[Responses]: ...
@overload
def read(
    paths: Paths, *, kind: Literal["sets"], **options: Unpack[ReadOptions]
) -> Read[ResponseSets]: ...
@overload
def read(
    paths: Paths, *, kind: Literal["numbers"], **options: Unpack[ReadOptions]
) -> Read[Numbers]: ...
@overload
def read(paths: Paths, *, kind: Literal["comparisons"], **options: Any) -> Read[Comparisons]: ...
@overload
def read(paths: Paths, *, kind: Kind, **options: Any) -> Read[Any]: ...
def read(
    paths: Paths,
    *,
    kind: Kind = "labels",
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
    separator: str | None = None,
    levels: Levels = MAX_LEVELS,
    **columns: str | None,
) -> Read[Any]:
    """Read the responses in one file, or in several files of the same format.

    Names and labels are kept as the text in the file, without outer white space: ``007`` and
    ``1e5`` are not converted to numbers. Only where all labels are plain numbers, ``1.0`` and ``1``
    are one class. Classes are sorted as text, or by value if all of them are numbers.

    Parameters
    ----------
    paths
        a path, a pattern such as ``votes/*.csv``, a folder, a zip or tar archive, ``-`` for
        standard input, a binary stream, a URL that fsspec can open, or several of these. Files may
        be compressed with gzip, bzip2 or xz.
    kind
        what the labels are: ``"labels"`` for one class each (:class:`Responses`); ``"sets"`` for
        several (:class:`ResponseSets`), in JSON lists, between separators, in one column of 0 and 1
        per class or in one row per class, where empty cells of CSV files are empty sets;
        ``"scores"`` for scores of items that belong to classes (:class:`Responses` with levels of
        the score as symbols); ``"numbers"`` for ratings to be averaged (:class:`Numbers`);
        ``"clusters"`` for clusterings, whose columns need not share labels (:class:`Responses`);
        ``"comparisons"`` for the winner of two items in each row (:class:`Comparisons`).
    format
        the name of a format, such as ``"long"`` or ``"toloka"`` (see the page on file formats).
        By default it is detected from the content.
    item, annotator, label
        column names. By default they are detected by name. For a wide table, ``annotator`` may be
        a list of columns.
    question
        the question to read, if the file contains several.
    classes
        the classes, in the order you want; by default those that occur, sorted. For scores, the
        classes from low to high scores.
    missing
        a label, or a list of labels, treated as missing, in addition to empty labels, ``NA``,
        ``null`` and the like, and failed verdicts such as ``error``.
    keep_na
        whether ``NA``, ``null``, ``error`` and the like are classes.
    fold_case
        whether labels that differ only by case or Unicode form are one class.
    repeats
        which response counts if an annotator labelled an item more than once: the most frequent
        one (a tie is treated as missing; of ratings, the mean), the ``"last"`` or the ``"first"``;
        ``"error"`` refuses.
    separator
        for sets, what separates the classes in a cell; by default the first of ``|``, ``;`` and
        ``,`` that occurs.
    levels
        for scores, as in :meth:`Responses.from_scores`.
    left, right, winner, prompt, weight
        for comparisons, column names, as ``annotator``; by default they are detected by name. Of
        the others, only ``annotator`` and ``missing`` apply.
    """
    if kind == "comparisons":
        several = None if isinstance(annotator, str) else annotator
        names = {"item": item, "label": label, "question": question, "format": format}
        flags = {"keep_na": keep_na or None, "fold_case": fold_case or None, "classes": classes}
        refuse_options(kind, {**names, **flags, "separator": separator, "annotator": several})
        return _read_comparisons(paths, columns | {"annotator": annotator}, missing)
    if kind not in ENCODERS:
        raise BadParameter(f"kind={kind!r} must be one of {list_names(get_args(Kind))}.")
    refuse_options(kind, columns)
    options = ColumnOptions(
        *(item, annotator, label, question),
        all_choices=kind == "sets",
        own_labels=kind == "clusters",
    )
    tables = open_tables(paths, options.names)
    name = find_format(tables, format, options)
    parsed = parse(READERS[name], tables, options)
    _refuse_unused(name, parsed.columns, options)
    labels = text_label_options(classes, missing, keep_na, fold_case)
    found = ENCODERS[kind](tables, parsed, Encoding(labels, repeats, separator, levels))
    is_named = options.all_named and format is not None
    detected = file_notes(READERS[name].TITLE, tables, parsed.columns, is_named)
    return replace(found, notes=(*detected, *parsed.notes, *found.notes), format=name)


def _refuse_unused(format: str, columns: Mapping[str, str], options: ColumnOptions) -> None:
    """Raise BadParameter if the format has no use for the item or annotator that was named."""
    for role, named in (("item", options.item), ("annotator", options.annotator)):
        if isinstance(named, str) and named != columns[role] and READERS[format] is not wide:
            raise BadParameter(
                f"{role}={named!r} cannot be used with format={format!r}, which reads it from "
                f"{columns[role]!r}. Leave it out, or pass another format=."
            )


def refuse_options(kind: Kind, options: Mapping[str, Any]) -> None:
    """Raise BadParameter if one of these options, which are for other kinds, is given."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise BadParameter(f"{given[0]}= cannot be used with kind={kind!r}. Leave it out.")


def _read_comparisons(paths: Paths, named: Mapping[str, Any], missing: Any) -> Read[Comparisons]:
    tables = open_tables(paths, [name for name in named.values() if name is not None])
    markers = label_options(None, missing, keep_na=False, fold_case=False).missing
    found = comparisons.read_comparisons(tables, named, markers)
    is_named = all(named.get(role) == column for role, column in found.columns.items())
    detected = file_notes(comparisons.TITLE, tables, found.columns, is_named)
    return replace(found, notes=(*detected, *found.notes), format=comparisons.TITLE)


def find_format(tables: Sequence[Table], format: str | None, options: ColumnOptions) -> str:
    """Return the name of the format, which is detected if the user did not name it."""
    if format is None:
        refuse_comparisons(tables[0], options)
        return next(name for name in READERS if READERS[name].recognizes(tables, options))
    if format not in READERS:
        formats = list_names(READERS, len(READERS))
        raise BadParameter(f"Unknown format {format!r}. Choose one of {formats}.")
    return format


def open_tables(paths: FileInput | Iterable[FileInput], names: Sequence[str] = ()) -> list[Table]:
    """Open all files as tables, by their content: Parquet or Arrow, JSON, or delimited text.

    ``names`` are those of columns; ``verdict.grade`` is a field of the objects in a column.
    """
    return [with_fields(_open_table(source), names) for source in find_sources(paths)]


def _open_table(source: Source) -> Table:
    if columnar_type(source) is not None:
        return open_columnar(source)
    if database_type(source) is not None:
        return open_database(source)
    if source.table is not None:
        raise BadFile(f"{source.name} is no database, so it has no table {source.table!r}.")
    if source.extension == "eval":
        source = inspect_logs.as_json(source)
    source = as_utf8(source)
    if is_json(source):
        return open_json(source)
    if source.extension in OTHER_EXTENSIONS:
        start = source.head[:20].decode(errors="replace")
        begin = "" if "\0" in start else f": it begins with {start!r}"
        raise BadFile(
            f"{source.name} is not what its name says, .{source.extension}{begin}. Delete what is "
            "around the data, rename the file, or export it again."
        )
    return open_delimited(source)


def text_label_options(
    classes: Names | None, missing: Any, keep_na: bool, fold_case: bool
) -> LabelOptions:
    """Return what the user says about labels, with the classes as text."""
    names = None if classes is None else [str(name) for name in classes]
    return label_options(names, missing, keep_na, fold_case)


def file_notes(
    title: str, tables: Sequence[Table], columns: Mapping[str, str], is_named: bool
) -> list[str]:
    """Return the note on the format, the file types and the columns, and those of the tables."""
    file_types = ", ".join(dict.fromkeys(table.file_type for table in tables))
    where = ", ".join(f"{role} = {_quoted(name, tables[0])}" for role, name in columns.items())
    detected = "" if is_named else " (detected)"
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return [f"read as {title} ({file_types}): {where}{detected}", *notes]


def _quoted(where: str, table: Table) -> str:
    """Quote names of columns and fields, but not descriptions such as "row number"."""
    is_description = " " in where and where not in table.columns
    return where if is_description else repr(where)
