"""``read``: from the files that a person has to Responses, with what was guessed in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from blindfuse.errors import BadParameter, naming
from blindfuse.readers import (
    argilla,
    doccano,
    judges,
    label_studio,
    long,
    mturk,
    prodigy,
    toloka,
    wide,
)
from blindfuse.readers.answers import Answers
from blindfuse.readers.coded import coded
from blindfuse.readers.gold import gold_beside
from blindfuse.readers.guessing import Asked
from blindfuse.readers.opening import opened
from blindfuse.readers.sources import Given, sources
from blindfuse.readers.tables import Table
from blindfuse.responses.responses import Names, Responses
from blindfuse.responses.rows import Repeats

FORMATS: dict[str, ModuleType] = {
    "label-studio": label_studio,
    "toloka": toloka,
    "mturk": mturk,
    "prodigy": prodigy,
    "argilla": argilla,
    "doccano": doccano,
    "judge": judges,
    "long": long,
    "wide": wide,
}
"""Every format, in the order in which they are tried; the last takes what no other recognises."""


@dataclass(frozen=True, eq=False)
class Read:
    """What was read.

    Attributes
    ----------
    format
        a name in ``FORMATS``.
    columns
        where item, annotator and label were found.
    notes
        in words: what was guessed, what was skipped, what came again.
    gold
        labels that the file gives as the truth of some items, ``{item: label}``.
    """

    responses: Responses
    format: str
    columns: Mapping[str, str]
    notes: tuple[str, ...]
    gold: Mapping[str, str]


def read(
    paths: Given | Iterable[Given],
    *,
    format: str | None = None,
    item: str | None = None,
    annotator: str | Sequence[str] | None = None,
    label: str | None = None,
    question: str | None = None,
    classes: Names | None = None,
    repeats: Repeats = "last",
) -> Read:
    """Read the answers in a file, or in several of one format.

    Names and labels are text, just as they stand in the file: ``007`` and ``1e5`` stay what they
    are. Classes sort as text, or by value if all are numbers.

    Parameters
    ----------
    paths
        a path, a pattern such as ``votes/*.csv``, a folder, a zip archive, ``-`` for standard
        input, a binary stream, or several of these. Files may be compressed with gzip.
    format
        one of ``FORMATS``; without it, it is told by what the file holds.
    item, annotator, label
        names of columns; those left out are guessed by name. A wide table takes a list of columns
        as ``annotator``.
    question
        which question to take, if there are several.
    classes
        the classes in your order; without it, those that occur.
    repeats
        which answer counts if an annotator labelled an item more than once.
    """
    if format is not None and format not in FORMATS:
        raise BadParameter(f"There is no format {format!r}, only {naming(FORMATS, len(FORMATS))}.")
    asked = Asked(item, annotator, label, question)
    tables = [opened(source) for source in sources(paths)]
    chosen = format or _recognised(tables, asked)
    answers: Answers = FORMATS[chosen].answers(tables, asked)
    responses, notes = coded(tables[0], answers, classes, repeats)
    gold, about_gold = gold_beside(answers, responses.classes)
    found = ", ".join(f"{role} in {where!r}" for role, where in answers.columns.items())
    kinds = naming(dict.fromkeys(table.kind for table in tables)).replace("'", "")
    guessed = "" if format and item and annotator and label else " (guessed)"
    notes = [
        f"read as {chosen}, {kinds}: {found}{guessed}",
        *dict.fromkeys(note for table in tables for note in table.notes),
        *answers.notes,
        *notes,
        *about_gold,
    ]
    return Read(responses, chosen, answers.columns, tuple(notes), gold)


def _recognised(tables: Sequence[Table], asked: Asked) -> str:
    *special, last = FORMATS
    return next((name for name in special if FORMATS[name].recognises(tables, asked)), last)
