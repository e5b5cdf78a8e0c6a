"""Ratings on a numeric scale from files, by the readers of responses."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from blindfuse.cli.input_options import InputOptions
from blindfuse.errors import BadFile, list_names
from blindfuse.model.model import Model
from blindfuse.numbers.table import Numbers
from blindfuse.readers.gold import matching_gold, read_gold
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.reading import Read, open_tables, text_label_options
from blindfuse.responses.notes import count_note
from blindfuse.responses.responses import Responses
from blindfuse.responses.scores import MAX_LEVELS, SCORE_CLASSES, Levels
from blindfuse.responses.values import (
    NUMERAL,
    TRIMMED,
    is_failed_verdict,
    is_missing_marker,
    missing_number_note,
)


@dataclass(frozen=True, eq=False)
class ReadNumbers:
    """Ratings, notes about what was detected and skipped, and gold values in the same files."""

    numbers: Numbers
    notes: tuple[str, ...]
    gold: Mapping[str, float]


class NumberTable(NamedTuple):
    """Rows of item, annotator and value, how they were read, and notes."""

    frame: pl.DataFrame
    parsed: ParsedResponses
    format: str
    notes: list[str]


def read_numbers(inputs: InputOptions) -> ReadNumbers:
    """Read the ratings in files; the labels of the format must be numbers, or missing."""
    table = _read_table(inputs)
    columns = (table.frame[column].to_numpy() for column in ("item", "annotator", "value"))
    repeats = "mean" if inputs.repeats == "most_frequent" else inputs.repeats
    numbers = Numbers.from_long(*columns, repeats=repeats)
    repeated = f"repeated rating{{s}}: the {repeats} per item and annotator counts"
    suspects = missing_number_note(table.frame["value"].drop_nulls().unique())
    notes = [*table.notes, *suspects, *count_note(numbers.repeated, repeated)]
    return ReadNumbers(numbers, tuple(notes), _gold_beside(table.parsed))


def read_scores(inputs: InputOptions, model: Model | None = None) -> Read:
    """Read scores in files as responses whose symbols are levels of the score.

    The levels and classes are those of the model of earlier scores, if there is one.
    """
    table = _read_table(inputs)
    items, annotators, scores = (
        table.frame[column].to_list() for column in ("item", "annotator", "value")
    )
    classes = inputs.classes or SCORE_CLASSES
    levels: Levels = MAX_LEVELS
    if model is not None and model.scale is not None:
        classes, levels = model.classes.tolist(), model.scale
    responses = Responses.from_scores(
        items, annotators, scores, classes=list(classes), levels=levels, repeats=inputs.repeats
    )
    labels = text_label_options(classes, list(inputs.missing), inputs.keep_na, False, False)
    gold, gold_notes = matching_gold(table.parsed.gold, labels, responses.classes)
    levels = list_names(responses.symbols, 12)
    notes = [
        *table.notes,
        f"{responses.n_symbols:,} levels of the score: {levels}. The classes, from low to high "
        f"scores: {list_names(responses.classes)}",
        *responses.remarks,
        *responses.repeat_notes,
        *gold_notes,
    ]
    return Read(responses, table.format, table.parsed.columns, tuple(notes), gold)


def _read_table(inputs: InputOptions) -> NumberTable:
    """Read files in which labels are numbers, or missing."""
    options = inputs.column_options()
    tables, reader = open_tables(inputs.files, inputs.format, options)
    parsed = reader.read(tables, options)
    name = list_names((table.name for table in tables), 2) if len(tables) > 1 else tables[0].name
    values, value_notes = _as_numbers(name, parsed.frame["label"], inputs.missing)
    frame = parsed.frame.with_columns(value=values)
    _refuse_nameless(name, frame)
    named = frame.filter(pl.col("item").is_not_null() & pl.col("annotator").is_not_null())
    found = ", ".join(f"{role} = {where!r}" for role, where in parsed.columns.items())
    notes = [
        f"read as {reader.TITLE}, with numbers as labels: {found}",
        *dict.fromkeys(note for table in tables for note in table.notes),
        *parsed.notes,
        *value_notes,
    ]
    return NumberTable(named, parsed, reader.NAME, notes)


def read_gold_numbers(path: str) -> dict[str, float]:
    """Read gold values from a file with the columns item and label or value."""
    gold = read_gold(path)
    values, _ = _floats(pl.Series(list(gold.values()), dtype=pl.String))
    for (item, text), value in zip(gold.items(), values, strict=True):
        if value is None:
            raise BadFile(
                f"{path}: the gold value {text!r} of item {item!r} is not a number. Correct it."
            )
    return dict(zip(gold, values.to_list(), strict=True))


def _as_numbers(
    name: str, labels: pl.Series, missing: Collection[str]
) -> tuple[pl.Series, list[str]]:
    """Return labels as floats, null where they are missing; an error names the first other text.

    What is missing among labels is missing among numbers: markers such as NA, failed verdicts, and
    what the user named. The notes say so.
    """
    text = labels.str.strip_chars(TRIMMED)
    values, notes = _floats(text)
    numbers = [float(one) for one in missing if NUMERAL.fullmatch(one) and "," not in one]
    is_named = text.is_in(list(missing)) | values.is_in(numbers)
    others = text.filter(values.is_null()).drop_nulls().unique()
    markers = [one for one in others if not one or is_missing_marker(one) or one.lower() in _EMPTY]
    failed = [one for one in others if is_failed_verdict(one)]
    is_empty = text.is_null() | text.is_in(markers)
    is_dropped = (is_named | text.is_in(failed)).fill_null(False) & ~is_empty
    wrong = (values.is_null() & ~is_empty & ~is_dropped).arg_true()
    if len(wrong):
        at = int(wrong[0])
        examples = list_names(text.gather(wrong).unique(maintain_order=True))
        raise BadFile(
            f"{name}, row {at + 1:,} (line {at + 2:,} below a header): {examples} cannot be read "
            f"as a finite number; {len(wrong):,} of {len(text):,} values cannot. Correct them, "
            "name those that are missing with --missing, choose another column with --label, or "
            "fuse without --numbers and --scores."
        )
    if (is_empty | is_dropped).all():
        raise BadFile(f"{name} contains no numbers, so there is nothing to fuse. Check --label.")
    dropped = list_names(sorted(text.filter(is_dropped).unique()))
    return values.set(is_dropped, None), [
        *notes,
        *count_note(int(is_empty.sum()), "empty value{s} treated as missing"),
        *count_note(int(is_dropped.sum()), f"value{{s}} treated as missing: {dropped}"),
    ]


_EMPTY = ("nan", "na", "null", "none")
_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
_THOUSANDS = r"^[+-]?\d{1,3},\d{3}$"


def _floats(text: pl.Series) -> tuple[pl.Series, list[str]]:
    """Return texts as finite floats, null for others; decimal commas are read, with a note.

    A comma is a decimal sign if no number has a point, and some comma cannot separate thousands.
    """
    has_comma = text.str.contains(_DECIMAL_COMMA).fill_null(False)
    has_point = text.str.contains(r"^[+-]?\d*\.\d").fill_null(False)
    is_decimal = has_comma & ~text.str.contains(_THOUSANDS).fill_null(False)
    notes: list[str] = []
    if is_decimal.any() and not has_point.any():
        text = text.str.replace(",", ".", literal=True)
        notes = count_note(int(has_comma.sum()), "value{s} read with a decimal comma: 2,5 is 2.5")
    values = text.cast(pl.Float64, strict=False)
    return values.set(values.is_infinite() | values.is_nan(), None), notes


def _refuse_nameless(name: str, frame: pl.DataFrame) -> None:
    for role in ("item", "annotator"):
        nameless = (frame[role].is_null() & frame["value"].is_not_null()).arg_true()
        if len(nameless):
            raise BadFile(
                f"{name}, row {int(nameless[0]) + 1:,} has a value but no {role}. Fill it in or "
                "drop the row."
            )


def _gold_beside(parsed: ParsedResponses) -> dict[str, float]:
    """Gold values in the same file: one number per item, otherwise the column is ignored."""
    if parsed.gold is None:
        return {}
    frame = parsed.gold.frame.with_columns(pl.col("label").cast(pl.Float64, strict=False))
    pairs = frame.drop_nulls().filter(pl.col("label").is_finite()).unique(maintain_order=True)
    if pairs["item"].is_duplicated().any():
        return {}
    return dict(pairs.iter_rows())
