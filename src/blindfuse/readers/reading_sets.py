"""``read_sets``: from files to ``ResponseSets``, for items with several labels each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blindfuse.errors import BadFile, BadLabels
from blindfuse.readers.encoding import encode_names, factorize, name_forms, name_notes
from blindfuse.readers.nested_values import name_of
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.reading import open_tables, overlap_note, summary, text_label_options
from blindfuse.readers.sources import FileInput
from blindfuse.readers.tables import Table
from blindfuse.responses.coding import CodedNames
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.inputs import Names
from blindfuse.responses.repeats import Repeats, repeat_notes
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.set_coding import code_sets
from blindfuse.responses.set_values import choose_separator, parse_set
from blindfuse.responses.values import LabelOptions


@dataclass(frozen=True, eq=False)
class ReadSets:
    """The result of ``read_sets``; the attributes are those of :class:`Read`.

    ``gold`` holds gold sets in the same file, ``{item: classes}``.
    """

    responses: ResponseSets
    format: str
    columns: Mapping[str, str]
    notes: tuple[str, ...]
    gold: Mapping[str, tuple[str, ...]]


def read_sets(
    paths: FileInput | Iterable[FileInput],
    *,
    format: str | None = None,
    item: str | None = None,
    annotator: str | Sequence[str] | None = None,
    label: str | None = None,
    question: str | None = None,
    classes: Names | None = None,
    separator: str | None = None,
    missing: Any = None,
    keep_na: bool = False,
    fold_case: bool = False,
    repeats: Repeats = "most_frequent",
) -> ReadSets:
    """Read responses that are sets of classes, in one file or in several of the same format.

    All choices are kept that :func:`read` would drop. A cell holds a JSON list, or classes
    separated by ``|``, ``;`` or ``,``; a table may also have one column of 0 and 1 per class, or
    one row per class. An empty list is a response, and so is an empty cell of a long CSV file.

    Parameters
    ----------
    separator
        what separates the classes in a cell; by default the first of ``|``, ``;`` and ``,`` that
        occurs.
    paths, format, item, annotator, label, question, classes, missing, keep_na, fold_case, repeats
        as in :func:`read`.
    """
    options = ColumnOptions(item, annotator, label, question, all_choices=True)
    tables, reader = open_tables(paths, format, options)
    parsed = reader.read(tables, options)
    labels = text_label_options(classes, missing, keep_na, fold_case, False)
    responses = _encode(tables[0], parsed, labels, separator, repeats)
    all_named = bool(format and item and annotator and label)
    gold, gold_notes = _gold_sets(parsed, responses.classes.tolist(), separator)
    notes = [
        summary(reader, tables, parsed.columns, detected=not all_named),
        *dict.fromkeys(note for table in tables for note in table.notes),
        *parsed.notes,
        *responses.remarks,
        *repeat_notes(responses.repeated, responses.contradictory),
        *overlap_note(responses),
        *gold_notes,
    ]
    return ReadSets(responses, reader.NAME, parsed.columns, tuple(notes), gold)


def _encode(
    table: Table,
    parsed: ParsedResponses,
    options: LabelOptions,
    separator: str | None,
    repeats: Repeats,
) -> ResponseSets:
    """Return the sets in the parsed cells as responses."""
    frame = parsed.frame

    def describe(row: int) -> str:
        return f"{table.name}, row {row + 1:,}"

    try:
        coded = code_sets(frame["label"].to_list(), options, separator, describe, name_of)
    except BadLabels as error:
        raise BadFile(f"{table.name}: {error}") from None
    factors = [factorize(frame[role]) for role in ("item", "annotator")]
    forms = name_forms(*(names for _, names in factors))
    item, annotator = (
        CodedNames(*encode_names(table, factor, coded.codes, role, forms), [])
        for factor, role in zip(factors, forms, strict=True)
    )
    responses = ResponseSets.from_codes(item, annotator, coded, repeats)
    return replace(responses, remarks=(*responses.remarks, *name_notes(forms)))


def _gold_sets(
    parsed: ParsedResponses, classes: Sequence[Any], separator: str | None
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return gold sets in the same file, one per item, and a note; other columns are ignored."""
    if parsed.gold is None:
        return {}, []
    frame = parsed.gold.frame.drop_nulls().unique(maintain_order=True)
    used = choose_separator(frame["label"], separator)
    gold: dict[str, tuple[str, ...]] = {}
    for item, text in frame.iter_rows():
        members = tuple(str(name_of(one)) for one in parse_set(text, used, set(classes)) or ())
        if gold.setdefault(item, members) != members or not set(members) <= set(classes):
            column = parsed.gold.column
            return {}, [
                f"{column!r} has the name of gold labels, but does not hold one set of known "
                "classes per item, and is not read"
            ]
    return gold, [f"{len(gold):,} gold sets in {parsed.gold.column!r} are held fixed"]
