"""``Reader``: what a format module provides and returns, and what several of them need."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import polars as pl

from blindfuse.comparisons.table import Comparisons
from blindfuse.errors import BadFile, list_names, suggest
from blindfuse.numbers.table import Numbers
from blindfuse.readers.tables import Table, is_categorical
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.markers import cell_text, labels_of_objects, parse_literal
from blindfuse.responses.notes import count_note
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses

EMPTY_SET = "[]"
"""The text of an empty set."""


@dataclass
class ParsedResponses:
    """The responses that a reader found, as text.

    Attributes
    ----------
    frame
        text columns ``item``, ``annotator`` and ``label``, one row per response. A label may be the
        text of a JSON list or object. A response with a null label is missing; its item and its
        annotator, if any, are kept.
    columns
        the column or field that holds the item, the annotator and the label.
    notes
        what the user should know, such as the number of skipped rows.
    abstain
        whether −1 may mark a missing response, as in wide tables of numbers.
    empty_cells_are_sets
        whether an empty cell of a CSV file is an empty set, if sets are read.
    gold
        gold labels in the same file: the column ``item``, and the one they were found in.
    """

    frame: pl.DataFrame
    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)
    abstain: bool = False
    empty_cells_are_sets: bool = False
    gold: pl.DataFrame | None = None


ResponseTable = TypeVar(
    "ResponseTable", Responses, ResponseSets, Numbers, Comparisons, covariant=True
)


@dataclass(frozen=True, eq=False)
class Read(Generic[ResponseTable]):
    """The result of ``read``.

    Attributes
    ----------
    responses
        :class:`Responses`, :class:`ResponseSets`, :class:`Numbers` or :class:`Comparisons`, by
        ``kind``.
    columns
        where the item, the annotator and the label were found.
    notes
        sentences about what was detected, skipped or repeated.
    gold
        gold labels in the same file, ``{item: label}``; sets are tuples, and ratings floats.
    questions
        those of the notes that ask whether items and labels are what they seem to be.
    format
        the name of the format, such as ``"long"``.
    """

    responses: ResponseTable
    columns: Mapping[str, str]
    notes: Sequence[str]
    gold: Mapping[str, Any] = field(default_factory=dict)
    questions: Sequence[str] = ()
    format: str = ""


class Reader(Protocol):
    """A file format. A module that defines these names is a reader; see ``reading.READERS``.

    Attributes
    ----------
    TITLE
        the format as notes name it, as in "read as a long table".
    """

    TITLE: str

    def recognizes(self, tables: Sequence[Table], options: ColumnOptions) -> bool:
        """Return whether the tables look like this format."""

    def read(self, tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
        """Return the responses in the tables, which come from one or several files."""


def parse(reader: Reader, tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses in the tables, with plain labels in place of lists and objects.

    If sets are read, labels stay as they are, and empty cells of CSV files are empty sets; other
    files can tell null from an empty list.
    """
    parsed, name = reader.read(tables, options), tables[0].name
    labels, notes = parsed.frame["label"], list[str]()
    if not options.all_choices:
        labels, notes = plain_labels(name, labels.alias(parsed.columns["label"]))
        if parsed.gold is not None:
            with suppress(BadFile):  # objects without a clear label are no gold labels
                gold, _ = plain_labels(name, parsed.gold.to_series(1))
                parsed.gold = parsed.gold.with_columns(gold)
    elif parsed.empty_cells_are_sets and all(table.records is None for table in tables):
        notes = count_note(
            labels.null_count(),
            "empty cell{s} read as empty sets: the annotator named no class. Write NA if the "
            "response is missing",
        )
        labels = labels.fill_null(EMPTY_SET)
    parsed.frame = parsed.frame.with_columns(label=labels)
    parsed.notes += notes
    return parsed


# Text for values that are nested: objects with a name, and lists of labels

_MARKUP = r"[\[{`<]"
"""What lists, objects, Markdown fences and reasoning contain, and ordinary labels do not."""
_NAME_KEYS = ("email", "username", "name", "id")
_LABEL_KEYS = ("email", "username", "name", "label", "value", "id")


def name_of(value: Any) -> str | None:
    """Return an annotator, an item or a class as text; for an object, the name it contains."""
    if isinstance(value, dict):
        names = (name_of(value[key]) for key in _LABEL_KEYS if value.get(key) is not None)
        return next(names, None)
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def set_text(choices: Sequence[Any]) -> str:
    """Return choices as the text of a JSON list of names."""
    names = [name_of(choice) for choice in choices]
    return json.dumps([name for name in names if name is not None], ensure_ascii=False)


def ticked_names(ticks: pl.DataFrame) -> pl.Series:
    """Return the names of the columns that are true in each row, as the text of a JSON list."""
    quoted = {name: pl.lit(json.dumps(name, ensure_ascii=False)) for name in ticks.columns}
    names = [pl.when(pl.col(name)).then(text) for name, text in quoted.items()]
    listed = pl.concat_str(names, separator=", ", ignore_nulls=True)
    return ticks.select(pl.format("[{}]", listed)).to_series()


def names_of_objects(column: pl.Series) -> pl.Series:
    """Replace JSON objects in a text column by the name or id they contain."""
    is_object = column.str.starts_with("{")
    if not is_object.any():
        return column
    names = [column.str.json_path_match(f"$.{key}") for key in _NAME_KEYS]
    return pl.select(
        pl.when(is_object).then(pl.coalesce(*names, column)).otherwise(column).alias(column.name)
    ).to_series()


def refuse_lists(table: str, names: pl.Series) -> None:
    """Raise BadFile if the names are lists, as where one row holds all responses to an item."""
    texts = names.drop_nulls().head(10).to_list()
    if texts and all(_parse_list(text) is not None for text in texts):
        raise BadFile(
            f"{table}: column {names.name!r} holds lists ({list_names(texts, 1)}). Write one row "
            "per response, with the columns item, annotator and label."
        )


def refuse_repeated_labels(table: str, labels: pl.Series) -> None:
    """Raise BadFile if lists name a label twice, because they are of several annotators then."""
    for text in labels.drop_nulls().unique(maintain_order=True).head(1000):
        value = _parse_list(text) or []
        if len(set(map(str, value))) < len(value):
            raise BadFile(
                f"{table}: column {labels.name!r} holds lists in which a label occurs twice "
                f"({text[:80]!r}), as those of several annotators do. Write one row per response, "
                "with the columns item, annotator and label."
            )


def plain_labels(table: str, column: pl.Series) -> tuple[pl.Series, list[str]]:
    """Return the labels of a text column whose cells may be lists, objects, or both, and notes.

    Only distinct texts with markup are parsed. The first element of a list counts.
    """
    if not column.unique().str.contains(_MARKUP).any():
        return column, []
    marked = column.filter(column.str.contains(_MARKUP).fill_null(False)).alias("text")
    distinct = marked.to_frame().group_by("text", maintain_order=True).len()
    texts, counts = distinct["text"], distinct["len"].to_list()

    def unclear(fields: Sequence[str]) -> BadFile:
        example = f"{column.name}.{next(iter(fields), 'field')}"
        return BadFile(
            f"{table}: column {column.name!r} holds objects with the fields {list_names(fields)}, "
            f"none of which is clearly the label. Name one, as in label={example!r}."
        )

    firsts, several = _firsts(texts.to_list(), counts)
    labels, notes = labels_of_objects(firsts, lambda: counts, unclear)
    labels, more = _firsts(labels, counts)
    several_note = count_note(
        several + more,
        "response{s} with several labels: only the first is used. Add --multi-label (kind='sets' "
        "and fuse_sets in Python) to fuse all of them",
    )
    return column.replace(texts, pl.Series(labels, dtype=pl.String)), [*several_note, *notes]


def _firsts(texts: Sequence[str | None], counts: Sequence[int]) -> tuple[list[str | None], int]:
    """Replace texts that are lists by their first elements, and count the longer lists."""
    lists = [_parse_list(text) for text in texts]
    labels = [
        text if value is None else _label_text(value[0]) if value else None
        for text, value in zip(texts, lists, strict=True)
    ]
    longer = (n for n, value in zip(counts, lists, strict=True) if value and len(value) > 1)
    return labels, sum(longer)


def _parse_list(text: str | None) -> list[Any] | None:
    """Return the list that a text holds, or None if it is another text."""
    value = parse_literal(text.strip()) if text and text.lstrip()[:1] == "[" else None
    return value if isinstance(value, list) else None


# Formats of nested JSON


class Row(NamedTuple):
    """A response or, without an annotator, an item, with its gold label if the file has one."""

    item: Any
    annotator: Any = None
    label: Any = None
    question: Any = None
    gold: Any = None


def frame_of_rows(rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows with values of any type as text; labels that are lists or objects become JSON."""
    texts = (name_of, name_of, _label_text, name_of, _label_text)
    cells = [[text(value) for text, value in zip(texts, row, strict=True)] for row in rows]
    return pl.DataFrame(cells, schema=dict.fromkeys(Row._fields, pl.String), orient="row")


def _label_text(label: Any) -> str | None:
    """Return a label as the text of a cell: lists and objects as JSON."""
    if isinstance(label, list):
        return set_text(label)
    return cell_text(label) if isinstance(label, dict) else name_of(label)


@contextmanager
def expected_structure(name: str, tool: str) -> Iterator[None]:
    """Raise BadFile where the JSON objects lack the structure that ``tool`` writes."""
    try:
        yield
    except (KeyError, AttributeError, TypeError) as error:
        raise BadFile(
            f"{name} does not have the structure of an export from {tool} ({error!r}). "
            "Export it again, or pass another format=."
        ) from error


def check_output(name: str, outputs: dict[str, Any], item: str, output: Any) -> None:
    """Raise BadFile if graders of one item judged different outputs; ``outputs`` are by item."""
    if outputs.setdefault(item, output) != output:
        raise BadFile(
            f"{name} and another file have different outputs for {item!r}, which were graded each "
            "for itself. Fuse the files one by one."
        )


def suggestion_note(count: int, what: str) -> list[str]:
    """Return a note if what models suggested to people is read as responses of annotators."""
    return count_note(
        count,
        f"{what}{{s}} of models read as responses. If annotators saw them, they are not "
        "independent: leave them out",
    )


# Several questions about each item


def choose_question(name: str, labels: Mapping[str, pl.Series], named: str | None) -> str:
    """Return the question that the user named, or the only one, or the only one with classes.

    ``labels`` holds the labels of each question.
    """
    if named in labels:
        return str(named)
    if not labels:
        raise BadFile(
            f"{name} contains no response that names a class, so there is nothing to fuse. "
            "Export the results of a classification task."
        )
    if named is not None:
        raise BadFile(f"{name} has no question {named!r}: {suggest(named, labels)}")
    with_classes = [question for question in labels if is_categorical(labels[question])]
    candidates = list(labels) if len(labels) == 1 else with_classes
    if len(candidates) != 1:
        raise BadFile(
            f"{name} contains several questions: {list_names(with_classes or labels)}. "
            f"Pass question=, as in question={(with_classes or list(labels))[0]!r}."
        )
    return candidates[0]


def question_of(name: str, frame: pl.DataFrame, options: ColumnOptions) -> str:
    """Return the question to read, of those in a column of the frame."""
    if options.question is not None and options.question_exists:
        return options.question
    groups = frame.drop_nulls("question").partition_by("question", as_dict=True)
    labels = {str(key): group["label"] for (key,), group in groups.items()}
    return choose_question(name, labels, options.question)


def select_question(
    name: str, frame: pl.DataFrame, options: ColumnOptions
) -> tuple[pl.DataFrame, str]:
    """Return the responses to one question, and the question.

    Items without a response to it are kept, with a null annotator and a null label.
    """
    rows, question = frame.with_row_index("row"), question_of(name, frame, options)
    responses = rows.filter(question=question)
    others = rows.join(responses, on="item", how="anti").unique("item", keep="first")
    rows = pl.concat([responses, others.select("row", "item")], how="diagonal").sort("row")
    return rows.drop("row", "question"), question


def question_column(
    table: Table, candidates: Sequence[str], prefix: str, options: ColumnOptions
) -> str:
    """Return the label column of one question, named with or without ``prefix``, as above."""
    column_of = {column.removeprefix(prefix): column for column in candidates}
    labels = {question: table.sample[column] for question, column in column_of.items()}
    named = options.label if options.label is not None else options.question
    return column_of[choose_question(table.name, labels, named and named.removeprefix(prefix))]
