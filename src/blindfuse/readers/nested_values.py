"""Text for values that are nested in JSON: objects with a name, and lists of choices."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.responses.nested_labels import labels_of_objects
from blindfuse.responses.set_values import parse_literal

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


def names_of_objects(column: pl.Series) -> pl.Series:
    """Replace JSON objects in a text column by the name or id they contain."""
    is_object = column.str.starts_with("{")
    if not is_object.any():
        return column
    names = [column.str.json_path_match(f"$.{key}") for key in _NAME_KEYS]
    name = pl.coalesce(*names, column)
    return pl.select(pl.when(is_object).then(name).otherwise(column)).to_series().alias(column.name)


def refuse_lists(table: str, names: pl.Series) -> None:
    """Raise BadFile if the names are lists, as where one row holds all responses to an item."""
    texts = names.drop_nulls().head(10).to_list()
    if texts and all(text[:1] == "[" and isinstance(parse_literal(text), list) for text in texts):
        raise BadFile(
            f"{table}: column {names.name!r} holds lists ({list_names(texts, 1)}). Write one row "
            "per response, with the columns item, annotator and label."
        )


def refuse_repeated_labels(table: str, labels: pl.Series) -> None:
    """Raise BadFile if lists name a label twice, because they are of several annotators then."""
    for text in labels.drop_nulls().unique(maintain_order=True).head(1000):
        value = parse_literal(text) if text[:1] == "[" else None
        if isinstance(value, list) and len({str(one) for one in value}) < len(value):
            raise BadFile(
                f"{table}: column {labels.name!r} holds lists in which a label occurs twice "
                f"({text[:80]!r}), as those of several annotators do. Write one row per response, "
                "with the columns item, annotator and label."
            )


def choose(value: Any, all_choices: bool) -> tuple[Any, bool]:
    """Return the first element of a list and whether it has more; other values are kept.

    With ``all_choices``, the whole list is returned as JSON text, and a single value as a list.
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if all_choices:
        return (None if value is None else set_text(value if is_list else [value])), False
    if not is_list:
        return value, False
    return (value[0] if value else None), len(value) > 1


def set_text(choices: Sequence[Any]) -> str:
    """Return choices as the text of a JSON list of names."""
    names = [name_of(choice) for choice in choices]
    return json.dumps([name for name in names if name is not None], ensure_ascii=False)


def choose_from_texts(column: pl.Series, all_choices: bool) -> tuple[pl.Series, int]:
    """Replace JSON lists in a text column by their first elements, and count the longer lists.

    With ``all_choices``, the column is returned as it is.
    """
    if all_choices or not column.str.starts_with("[").any():
        return column, 0
    return _convert_distinct(column, _choose_firsts)


def plain_labels(
    table: str, column: pl.Series, all_choices: bool
) -> tuple[pl.Series, int, list[str]]:
    """Return the labels of a text column whose cells may be JSON lists, objects, or both.

    The first element of a list counts, and longer lists are counted. With ``all_choices`` the
    column is returned as it is: objects and lists may say which classes apply.
    """
    notes: list[str] = []
    if all_choices or not column.unique().str.contains(_MARKUP).any():
        return column, 0, notes

    def convert(labels: list[Any], counts: Sequence[int]) -> int:
        several = _choose_firsts(labels, counts)
        labels[:], found = labels_of_objects(labels, lambda: counts, unclear)
        notes.extend(found)
        return several + _choose_firsts(labels, counts)

    def unclear(fields: Sequence[str]) -> BadFile:
        example = f"{column.name}.{next(iter(fields), 'field')}"
        return BadFile(
            f"{table}: column {column.name!r} holds objects with the fields {list_names(fields)}, "
            f"none of which is clearly the label. Name one, as in label={example!r}."
        )

    return *_convert_distinct(column, convert), notes


def _convert_distinct(
    column: pl.Series, convert: Callable[[list[Any], Sequence[int]], int]
) -> tuple[pl.Series, int]:
    """Replace distinct values as ``convert`` does in a list of them, and return its result.

    ``convert`` gets the distinct texts with markup and how often each occurs.
    """
    marked = column.filter(column.str.contains(_MARKUP).fill_null(False))
    distinct, times = marked.unique(maintain_order=True), dict(marked.value_counts().iter_rows())
    labels = distinct.to_list()
    several = convert(labels, [times[text] for text in labels])
    return column.replace(distinct, pl.Series(labels, dtype=pl.String)), several


def _choose_firsts(labels: list[Any], counts: Sequence[int]) -> int:
    """Replace texts that are lists by their first elements, and count the longer lists."""
    several = 0
    for at, label in enumerate(labels):
        value = parse_literal(label.strip()) if label and label.lstrip()[:1] == "[" else None
        if isinstance(value, list):
            labels[at] = _element_text(value[0]) if value else None
            several += counts[at] * (len(value) > 1)
    return several


def _element_text(value: Any) -> str | None:
    """Return an element of a list as a cell: text as it is, objects as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else name_of(value)


def field_of_objects(column: pl.Series, field: str) -> pl.Series:
    """Return one field of the JSON objects in a text column; null where it is absent."""
    quoted = field.replace("\\", "\\\\").replace("'", "\\'")
    return column.str.json_path_match(f"$['{quoted}']")
