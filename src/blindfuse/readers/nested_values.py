"""Text for values that are nested in JSON: objects with a name, and lists of labels."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.responses.nested_labels import labels_of_objects, parse_literal
from blindfuse.responses.notes import count_note

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
        text if value is None else _element_text(value[0]) if value else None
        for text, value in zip(texts, lists, strict=True)
    ]
    longer = (n for n, value in zip(counts, lists, strict=True) if value and len(value) > 1)
    return labels, sum(longer)


def _parse_list(text: str | None) -> list[Any] | None:
    """Return the list that a text holds, or None if it is another text."""
    value = parse_literal(text.strip()) if text and text.lstrip()[:1] == "[" else None
    return value if isinstance(value, list) else None


def _element_text(value: Any) -> str | None:
    """Return an element of a list as a cell: text as it is, objects as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else name_of(value)
