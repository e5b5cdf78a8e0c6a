"""Text for values that are nested in JSON: objects with a name, and lists of choices."""

from collections.abc import Sequence
from typing import Any

import polars as pl

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


def first_choice(value: Any) -> tuple[Any, bool]:
    """Return the first element of a list and whether it has more; other values are kept."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value, False
    return (value[0] if value else None), len(value) > 1


def first_choices(column: pl.Series) -> tuple[pl.Series, int]:
    """Replace JSON lists in a text column by their first elements, and count the longer lists."""
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
