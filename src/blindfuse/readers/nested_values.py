"""Text for values that are nested in JSON: objects with a name, and lists of choices."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.responses.notes import count_note

_FENCED = r"(?s)^\s*```[A-Za-z]*\s*(?P<text>.*?)\s*```\s*$"
"""A text inside a Markdown fence, with or without the name of a language."""
_NAME_KEYS = ("email", "username", "name", "id")
_LABEL_KEYS = ("email", "username", "name", "label", "value", "id")
_VERDICT_KEYS = (
    *("label", "verdict", "choice", "answer", "class", "category", "decision", "value"),
    *("rating", "grade", "score", "result", "name"),
)
"""Fields that hold the label where it is an object with several fields, the likeliest first."""


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
    if all_choices:
        return column, 0
    is_list = column.str.starts_with("[")
    if not is_list.any():
        return column, 0
    lists = pl.select(pl.when(is_list).then(column)).to_series()
    try:
        choices = lists.str.json_decode(pl.List(pl.String))
    except pl.exceptions.PolarsError:
        return column, 0
    firsts = pl.select(pl.when(is_list).then(choices.list.first()).otherwise(column)).to_series()
    return firsts, int((choices.list.len() > 1).sum())


def labels_of_objects(table: str, column: pl.Series) -> tuple[pl.Series, list[str]]:
    """Replace JSON objects in a label column by the field that holds the label.

    That is their only field, or the likeliest one by name; other objects are refused. Markdown
    fences, as language models write them around JSON, are removed first.
    """
    column, notes = _without_fences(column)
    is_object = column.str.starts_with("{").fill_null(False)
    if not is_object.any():
        return column, notes
    objects = [_parse_object(text) for text in column.filter(is_object).unique().head(1000)]
    if not all(objects):  # text that only looks like an object
        return column, notes
    fields = dict.fromkeys(key for one in objects for key in one)
    shared = [key for key in fields if all(_is_label(one.get(key)) for one in objects)]
    named = [key for key in _VERDICT_KEYS if key in shared]
    chosen = next(iter(shared if len(fields) == 1 else named), None)
    if chosen is None:
        example = f"{column.name}.{next(iter(fields), 'field')}"
        raise BadFile(
            f"{table}: column {column.name!r} holds objects with the fields {list_names(fields)}, "
            f"none of which is clearly the label. Name one, as in label={example!r}."
        )
    values = field_of_objects(column, chosen)
    labels = pl.select(pl.when(is_object).then(values).otherwise(column)).to_series()
    notes.append(f"labels are objects: their field {chosen!r} is read")
    return labels.alias(column.name), notes


def _without_fences(column: pl.Series) -> tuple[pl.Series, list[str]]:
    """Remove Markdown fences (three backticks) around texts, and say how many there were."""
    fenced = column.str.contains(_FENCED).fill_null(False)
    if not fenced.any():
        return column, []
    inner = column.str.replace(_FENCED, "${text}")
    texts = pl.select(pl.when(fenced).then(inner).otherwise(column)).to_series()
    return texts.alias(column.name), count_note(
        int(fenced.sum()), "label{s} read without the Markdown fence around them"
    )


def field_of_objects(column: pl.Series, field: str) -> pl.Series:
    """Return one field of the JSON objects in a text column; null where it is absent."""
    quoted = field.replace("\\", "\\\\").replace("'", "\\'")
    return column.str.json_path_match(f"$['{quoted}']")


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
