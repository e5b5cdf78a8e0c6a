"""Encode the cells of a file as ``ResponseSets``, for items with several labels each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from blindfuse.errors import BadFile, BadLabels
from blindfuse.readers.encoding import encode_names, factorize, name_forms, name_notes
from blindfuse.readers.nested_values import name_of
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table
from blindfuse.responses.coding import CodedNames
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.responses.set_coding import code_sets
from blindfuse.responses.set_values import choose_separator, parse_set
from blindfuse.responses.values import LabelOptions


def encode_sets(
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


def matching_gold_sets(
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
