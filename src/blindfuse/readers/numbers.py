"""Encode parsed text as numbers: ratings, or scores of items that belong to classes."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.numbers.table import Numbers
from blindfuse.readers.encoding import Encoding, gold_labels, matching_gold
from blindfuse.readers.reader import ParsedResponses, Read
from blindfuse.readers.tables import Table
from blindfuse.responses.markers import is_failed_verdict, is_missing_marker
from blindfuse.responses.notes import count_note
from blindfuse.responses.responses import Responses
from blindfuse.responses.scalars import NUMERAL, is_null, missing_number_note
from blindfuse.responses.scores import SCORE_CLASSES
from blindfuse.responses.values import TRIMMED

_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
_THOUSANDS = r"^[+-]?\d{1,3},\d{3}$"


def encode_numbers(
    tables: Sequence[Table], parsed: ParsedResponses, encoding: Encoding
) -> Read[Any]:
    """Return the labels as ratings."""
    frame, notes = _with_values(tables, parsed, encoding)
    columns = (frame[column].to_numpy() for column in ("item", "annotator", "value"))
    combined = "mean" if encoding.repeats == "most_frequent" else encoding.repeats
    numbers = Numbers.from_long(*columns, repeats=combined)
    repeated = f"repeated rating{{s}}: the {combined} per item and annotator counts"
    suspects = missing_number_note(frame["value"].drop_nulls().unique())
    notes = [*notes, *suspects, *count_note(numbers.repeated, repeated)]
    gold, gold_notes = matching_gold(parsed.gold, floats_of)
    return Read(numbers, parsed.columns, [*notes, *gold_notes], gold)


def encode_scores(
    tables: Sequence[Table], parsed: ParsedResponses, encoding: Encoding
) -> Read[Any]:
    """Return the labels as responses whose symbols are levels of a score."""
    frame, notes = _with_values(tables, parsed, encoding)
    columns = (frame[column].to_list() for column in ("item", "annotator", "value"))
    responses = Responses.from_scores(
        *columns,
        classes=list(encoding.labels.classes or SCORE_CLASSES),
        levels=encoding.levels,
        repeats=encoding.repeats,
    )
    named = replace(encoding.labels, classes=responses.classes.tolist())
    gold, gold_notes = gold_labels(parsed.gold, named, responses.classes)
    notes += [
        f"{responses.n_symbols:,} levels of the score: {list_names(responses.symbols, 12)}. The "
        f"classes, from low to high scores: {list_names(responses.classes)}",
        *responses.remarks,
        *responses.repeat_notes,
        *gold_notes,
    ]
    return Read(responses, parsed.columns, notes, gold)


def _with_values(
    tables: Sequence[Table], parsed: ParsedResponses, encoding: Encoding
) -> tuple[pl.DataFrame, list[str]]:
    """Return the named responses with their labels as numbers, in the column ``value``."""
    name = list_names((table.name for table in tables), 2) if len(tables) > 1 else tables[0].name
    missing = [str(marker) for marker in encoding.labels.missing if not is_null(marker)]
    values, notes = _as_numbers(name, parsed.frame, missing)
    frame = parsed.frame.with_columns(value=values)
    for role in ("item", "annotator"):
        nameless = (frame[role].is_null() & frame["value"].is_not_null()).arg_true()
        if len(nameless):
            raise BadFile(
                f"{name}, row {int(nameless[0]) + 1:,} has a value but no {role}. Fill it in or "
                "drop the row."
            )
    return frame.drop_nulls(["item", "annotator"]), notes


def _as_numbers(
    name: str, frame: pl.DataFrame, missing: Collection[str]
) -> tuple[pl.Series, list[str]]:
    """Return labels as floats, null where they are missing; an error names the first other text.

    What is missing among labels is missing among numbers: markers such as NA, failed verdicts, and
    what the user named. The notes say so.
    """
    text = frame["label"].str.strip_chars(TRIMMED)
    values, notes = as_floats(text)
    others = text.filter(values.is_null()).drop_nulls().unique().to_list()
    numerals = [marker for marker in missing if NUMERAL.fullmatch(marker) and "," not in marker]
    named = [*missing, *filter(is_failed_verdict, others)]
    is_empty = text.is_null() | text.is_in(list(filter(_is_empty, others)))
    is_named = text.is_in(named) | values.is_in(list(map(float, numerals)))
    is_dropped = is_named.fill_null(False) & ~is_empty
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
    is_response = frame["annotator"].is_not_null()  # other rows only name an item
    dropped = list_names(sorted(text.filter(is_dropped).unique()))
    return values.set(is_dropped, None), [
        *notes,
        *count_note(int((is_empty & is_response).sum()), "empty value{s} treated as missing"),
        *count_note(int(is_dropped.sum()), f"value{{s}} treated as missing: {dropped}"),
    ]


def _is_empty(text: str) -> bool:
    """Return whether a text is empty or a missing marker, in any case."""
    return not text or any(map(is_missing_marker, (text, text.upper(), text.title())))


def as_floats(text: pl.Series) -> tuple[pl.Series, list[str]]:
    """Return texts as finite floats, null for others; decimal commas are read, with a note.

    A comma is a decimal sign if no number has a point, and some comma cannot separate thousands.
    """
    has_comma = text.str.contains(_DECIMAL_COMMA).fill_null(False)
    has_point = text.str.contains(r"^[+-]?\d*\.\d").any()
    notes: list[str] = []
    if not has_point and not text.filter(has_comma).str.contains(_THOUSANDS).all():
        text = text.str.replace(",", ".", literal=True)
        notes = count_note(int(has_comma.sum()), "value{s} read with a decimal comma: 2,5 is 2.5")
    values = text.cast(pl.Float64, strict=False)
    return values.set(values.is_infinite() | values.is_nan(), None), notes


def floats_of(texts: Sequence[str]) -> list[float | None]:
    """Return texts as finite floats, None for others."""
    return as_floats(pl.Series(texts, dtype=pl.String))[0].to_list()
