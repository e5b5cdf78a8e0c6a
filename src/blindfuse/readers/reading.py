"""``read``: from files to a table of responses, with notes about what was detected and skipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack, get_args, overload

from blindfuse.errors import BadParameter, list_names
from blindfuse.numbers.table import Numbers
from blindfuse.readers.encode_numbers import encode_numbers, encode_scores, gold_numbers
from blindfuse.readers.encode_sets import encode_sets, matching_gold_sets
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
from blindfuse.responses.repeats import Repeats, repeat_notes
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses
from blindfuse.responses.sanity import sanity_notes
from blindfuse.responses.scores import MAX_LEVELS, Levels
from blindfuse.responses.values import LabelOptions

Kind = Literal["labels", "sets", "scores", "numbers"]
"""What the labels of a file are: classes, sets of classes, scores of items that belong to classes,
or ratings on a numeric scale."""

ResponseTable = TypeVar("ResponseTable", Responses, ResponseSets, Numbers, covariant=True)


@dataclass(frozen=True, eq=False)
class Read(Generic[ResponseTable]):
    """The result of ``read``.

    Attributes
    ----------
    responses
        :class:`Responses`, :class:`ResponseSets` or :class:`Numbers`, by ``kind``.
    format
        the name of the format, such as ``"long"``.
    columns
        where the item, the annotator and the label were found.
    notes
        sentences about what was detected, skipped or repeated.
    gold
        gold labels in the same file, ``{item: label}``; sets are tuples, and ratings floats.
    questions
        those of the notes that ask whether items and labels are what they seem to be.
    """

    responses: ResponseTable
    format: str
    columns: Mapping[str, str]
    notes: tuple[str, ...]
    gold: Mapping[str, Any]
    questions: tuple[str, ...] = ()


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


@overload
def read(
    paths: FileInput | Iterable[FileInput],
    *,
    kind: Literal["labels", "scores"] = ...,
    **options: Unpack[ReadOptions],
) -> Read[Responses]: ...
@overload
def read(
    paths: FileInput | Iterable[FileInput],
    *,
    kind: Literal["sets"],
    **options: Unpack[ReadOptions],
) -> Read[ResponseSets]: ...
@overload
def read(
    paths: FileInput | Iterable[FileInput],
    *,
    kind: Literal["numbers"],
    **options: Unpack[ReadOptions],
) -> Read[Numbers]: ...
@overload
def read(
    paths: FileInput | Iterable[FileInput], *, kind: Kind, **options: Unpack[ReadOptions]
) -> Read[Any]: ...
def read(
    paths: FileInput | Iterable[FileInput],
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
        the score as symbols); ``"numbers"`` for ratings to be averaged (:class:`Numbers`).
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
    """
    if kind not in get_args(Kind):
        raise BadParameter(f"kind={kind!r} must be one of {list_names(get_args(Kind))}.")
    options = ColumnOptions(item, annotator, label, question, all_choices=kind == "sets")
    tables, reader = open_tables(paths, format, options)
    parsed = reader.read(tables, options)
    abstain = parsed.abstain and kind == "labels"
    labels = text_label_options(classes, missing, keep_na, fold_case, abstain)
    responses: Responses | ResponseSets | Numbers
    gold: Mapping[str, Any]
    questions: list[str] = []
    if kind == "labels":
        responses, notes = encode(tables[0], parsed, labels, repeats)
        questions = sanity_notes(responses)
        notes += [
            *responses.repeat_notes,
            *overlap_note(responses),
            *unlabelled_item_note(responses),
            *questions,
        ]
        gold, gold_notes = matching_gold(parsed.gold, labels, responses.classes)
    elif kind == "sets":
        responses = encode_sets(tables[0], parsed, labels, separator, repeats)
        notes = [
            *responses.remarks,
            *repeat_notes(responses.repeated, responses.contradictory),
            *overlap_note(responses),
        ]
        gold, gold_notes = matching_gold_sets(parsed, responses.classes.tolist(), separator)
    elif kind == "scores":
        responses, notes = encode_scores(tables, parsed, labels, levels, repeats)
        labels = replace(labels, classes=responses.classes.tolist())
        gold, gold_notes = matching_gold(parsed.gold, labels, responses.classes)
    else:
        responses, notes = encode_numbers(tables, parsed, labels, repeats)
        gold, gold_notes = gold_numbers(parsed), []
    all_named = bool(format and item and annotator and label)
    notes = [
        summary(reader, tables, parsed.columns, detected=not all_named),
        *dict.fromkeys(note for table in tables for note in table.notes),
        *parsed.notes,
        *several_note(parsed.several),
        *notes,
        *gold_notes,
    ]
    return Read(responses, reader.NAME, parsed.columns, tuple(notes), gold, tuple(questions))


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
        "response{s} with several labels: only the first is used. Add --multi-label (kind='sets' "
        "and fuse_sets in Python) to fuse all of them",
    )


def overlap_note(responses: Responses | ResponseSets) -> list[str]:
    """Return a note if no item has two responses, as when the item column holds row numbers."""
    if responses.n_items > 1 and responses.responses_per_item.max(initial=0) <= 1:
        return ["no item has more than one response: check that the item column is right"]
    return []


def unlabelled_item_note(responses: Responses) -> list[str]:
    """Return a note if a few items have no response, as comments and footers of a file would.

    Where more than a tenth have none, that is not a mistake.
    """
    unlabelled = responses.items[responses.responses_per_item == 0]
    if not 0 < 10 * len(unlabelled) <= responses.n_items:
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
