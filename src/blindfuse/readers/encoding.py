"""Encode parsed text as tables of labels or of sets, without a Python step per row."""

from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from blindfuse.errors import BadFile, BadLabels, list_names
from blindfuse.kernels.threads import thread_count
from blindfuse.readers.names import (
    NameForm,
    code_names,
    factorize,
    name_forms,
    name_notes,
    plain_name_series,
    row_name,
)
from blindfuse.readers.reader import ParsedResponses, Read, name_of
from blindfuse.readers.tables import Table, is_categorical
from blindfuse.responses.coding import MAX_CLASSES, CodedNames, code_distinct
from blindfuse.responses.notes import count_note
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Repeats, repeat_notes
from blindfuse.responses.sanity import sanity_notes
from blindfuse.responses.scores import Levels
from blindfuse.responses.set_coding import choose_separator, code_sets, parse_set
from blindfuse.responses.table import Cells
from blindfuse.responses.values import LabelOptions, LabelRules
from blindfuse.typing import Array


@dataclass(frozen=True)
class Encoding:
    """How parsed responses become a table; see the parameters of ``read``."""

    labels: LabelOptions
    repeats: Repeats
    separator: str | None
    levels: Levels


Encoder = Callable[[Sequence[Table], ParsedResponses, Encoding], Read[Any]]
"""A function that makes the table of one kind of response, with its notes and gold labels."""


# Labels


def encode_labels(
    tables: Sequence[Table], parsed: ParsedResponses, encoding: Encoding
) -> Read[Any]:
    """Return the labels as ``Responses``."""
    labels = replace(encoding.labels, abstain=parsed.abstain)
    responses, notes = to_responses(tables[0], parsed, labels, encoding.repeats)
    questions = sanity_notes(responses)
    gold, gold_notes = gold_labels(parsed.gold, labels, responses.classes)
    notes += [
        *responses.repeat_notes,
        *overlap_note(responses),
        *silence_notes(responses),
        *questions,
        *gold_notes,
    ]
    return Read(responses, parsed.columns, notes, gold, questions)


def to_responses(
    table: Table,
    parsed: ParsedResponses,
    options: LabelOptions,
    repeats: Repeats,
    forms: Mapping[str, NameForm] | None = None,
) -> tuple[Responses, list[str]]:
    """Return the responses, and notes about the conversion of labels and names.

    ``forms`` describes the items and annotators of the whole file; by default, those of this table.
    """
    columns = [parsed.frame[role] for role in ("item", "annotator", "label")]
    with ThreadPoolExecutor(thread_count(None)) as pool:
        item, annotator, (codes, values) = pool.map(factorize, columns)

    def counts() -> list[int]:  # rows without annotator do not count
        reported = codes[columns[1].is_not_null().to_numpy()] if columns[1].null_count() else codes
        return [int(n) for n in np.bincount(reported, minlength=len(values))]

    def where(code: int) -> str:
        return row_name(table, int(np.argmax(codes == code)))

    coded = code_values(table, parsed.columns, values, counts, options, where)
    labels, notes = coded.codes[codes], [*coded.notes]
    if forms is None:
        forms = name_forms(item[1], annotator[1])
        notes = [*notes, *name_notes(forms)]
    items, item_names = code_names(table, item, labels, "item", forms)
    annotators, annotator_names = code_names(table, annotator, labels, "annotator", forms)
    responses = Responses.from_codes(
        items,
        annotators,
        labels,
        items=item_names,
        annotators=annotator_names,
        classes=coded.names,
        repeats=repeats,
    )
    return responses, notes


def code_values(
    table: Table,
    columns: Mapping[str, str],
    values: pl.Series,
    counts: Callable[[], Sequence[int]],
    options: LabelOptions,
    where: Callable[[int], str],
) -> CodedNames:
    """Return class codes of distinct values, −1 if missing; refuse too many, or none at all."""
    if len(values) > MAX_CLASSES:
        raise BadFile(_too_many_classes(table, columns, values))
    coded = code_distinct(values.to_list(), counts, options, where)
    if not len(coded.names):
        raise BadFile(
            f"{table.name} contains no labels, so there is nothing to fuse. Check the label column."
        )
    return coded


def _too_many_classes(table: Table, columns: Mapping[str, str], values: pl.Series) -> str:
    others = [column for column in table.sample if column.name not in columns.values()]
    likely = list_names(column.name for column in others if is_categorical(column))
    examples = list_names(text[:40] for text in values.drop_nulls().head(3))
    return (
        f"{table.name}: {columns['label']!r} contains {len(values):,} different labels "
        f"({examples}, …), but at most {MAX_CLASSES:,} classes are supported. Name the labels with "
        "label=, the annotators of a wide table with annotator=, or add --multi-label (kind='sets' "
        f"in Python) for several labels per cell. Columns with few values: {likely or 'none'}."
    )


def overlap_note(responses: Responses | ResponseSets) -> list[str]:
    """Return a note if no item has two responses, as when the item column holds row numbers."""
    if responses.n_items > 1 and responses.responses_per_item.max(initial=0) <= 1:
        return ["no item has more than one response: check that the item column is right"]
    return []


def silence_notes(responses: Responses) -> list[str]:
    """Return notes on items and annotators without responses that may be rows of something else.

    A few items without any may be comments, and an annotator named like an item or a class a row
    that lacks a cell. Where more than a tenth of the items have none, that is not a mistake.
    """
    notes = []
    unlabelled = responses.items[responses.responses_per_item == 0]
    if 0 < 10 * len(unlabelled) <= responses.n_items:
        have = "has" if len(unlabelled) == 1 else "have"
        notes.append(
            f"Check the items: {list_names(unlabelled, 3)} {have} no response, and will be "
            "labelled by the class prior. Delete rows that are not items"
        )
    counts = np.bincount(responses.codes, minlength=responses.n_annotators)
    silent = set(responses.annotators[counts == 0])
    shifted = silent and silent & {*responses.items.tolist(), *responses.classes.tolist()}
    if shifted:
        notes.append(
            f"Check the annotators: {list_names(sorted(shifted), 3)} without a response, but named "
            "like an item or a class, as where a row lacks a cell. Complete or delete that row"
        )
    return notes


def gold_labels(
    gold: pl.DataFrame | None, options: LabelOptions, classes: Array
) -> tuple[dict[str, str], list[str]]:
    """Return the gold labels that came with the responses, and notes about them."""
    matching = replace(options, classes=classes.tolist(), fold_case=True)
    return matching_gold(gold, plain_labels_by(matching), set(classes.tolist()).__contains__)


def plain_labels_by(options: LabelOptions) -> Callable[[Sequence[str]], Sequence[Any]]:
    """Return the function that converts texts to labels; None is missing."""
    return lambda texts: LabelRules(texts, lambda: [0] * len(texts), options).labels


def matching_gold(
    gold: pl.DataFrame | None,
    convert: Callable[[Sequence[str]], Sequence[Any]],
    is_possible: Callable[[Any], bool] = lambda value: True,
) -> tuple[dict[str, Any], list[str]]:
    """Return the gold values that came with the responses, and notes about them.

    A column with the name of a gold column may hold something else, such as whether a response was
    right. It is used only if it has one value per item, and only where that value is possible.
    """
    if gold is None:
        return {}, []
    column = gold.columns[1]
    values, conflicting = values_by_item(gold, convert)
    if conflicting:
        items = list_names(conflicting, 3)
        return {}, [f"{column!r} not used as gold labels: several values for item {items}"]
    unknown = dict.fromkeys(value for value in values.values() if not is_possible(value))
    values = {item: value for item, value in values.items() if is_possible(value)}
    return values, [
        *count_note(len(values), f"gold label{{s}} found in {column!r}"),
        *count_note(
            len(unknown),
            f"value{{s}} in {column!r} not used as gold labels, because no annotator reported "
            f"such a class: {list_names(unknown)}",
        ),
    ]


def values_by_item(
    frame: pl.DataFrame, convert: Callable[[Sequence[str]], Sequence[Any]]
) -> tuple[dict[str, Any], list[str]]:
    """Return the value of each item that has one, and the items with several different values.

    The frame has a column of items and a column of texts; ``convert`` returns the value of each
    text, None if it is missing.
    """
    items, texts = frame.get_columns()
    pairs = pl.DataFrame({"item": plain_name_series(items), "text": texts}).drop_nulls()
    pairs = pairs.filter(pl.col("item") != "").unique(maintain_order=True)
    distinct = pairs["text"].unique(maintain_order=True).to_list()
    value_of = dict(zip(distinct, convert(distinct), strict=True))
    values: dict[str, Any] = {}
    conflicting: dict[str, None] = {}
    for item, text in pairs.iter_rows():
        value = value_of[text]
        if value is not None and values.setdefault(item, value) != value:
            conflicting[item] = None
    return values, list(conflicting)


# Sets


def encode_sets(tables: Sequence[Table], parsed: ParsedResponses, encoding: Encoding) -> Read[Any]:
    """Return the sets in the parsed cells as ``ResponseSets``."""
    table, frame, separator = tables[0], parsed.frame, encoding.separator

    def describe(row: int) -> str:
        return row_name(table, row)

    try:
        coded = code_sets(frame["label"].to_list(), encoding.labels, separator, describe, name_of)
    except BadLabels as error:
        raise BadFile(f"{table.name}: {error}") from None
    factors = [factorize(frame[role]) for role in ("item", "annotator")]
    forms = name_forms(*(names for _, names in factors))
    item, annotator = (
        CodedNames(*code_names(table, factor, coded.codes, role, forms))
        for factor, role in zip(factors, forms, strict=True)
    )
    cells = Cells(item, annotator, coded.codes)
    responses = ResponseSets.from_codes(cells, coded, encoding.repeats)
    responses = replace(responses, remarks=(*responses.remarks, *name_notes(forms)))
    classes = set(responses.classes.tolist())
    gold, gold_notes = matching_gold(parsed.gold, sets_by(classes, separator), classes.issuperset)
    notes = [
        *responses.remarks,
        *repeat_notes(responses.repeated, responses.contradictory),
        *overlap_note(responses),
        *gold_notes,
    ]
    return Read(responses, parsed.columns, notes, gold)


def sets_by(
    classes: Set[str], separator: str | None
) -> Callable[[Sequence[str]], Sequence[tuple[str, ...]]]:
    """Return the function that converts texts to sets."""

    def convert(texts: Sequence[str]) -> list[tuple[str, ...]]:
        used = choose_separator(texts, separator)
        sets = (parse_set(text, used, classes) or () for text in texts)
        return [tuple(str(name_of(member)) for member in members) for members in sets]

    return convert
