"""Text for values that are nested in JSON: objects with a name, and lists of choices."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers.tables import cell_text
from blindfuse.responses.nested_labels import (
    DAMAGED_NOTE,
    ERRORS_NOTE,
    SURROUNDINGS,
    field_note,
    fields_of,
    is_error,
    label_field,
    objects_in,
    parse_object,
)
from blindfuse.responses.notes import count_note
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
    if all_choices:
        return column, 0
    is_list = column.str.starts_with("[").fill_null(False)
    if not is_list.any():
        return column, 0
    texts = column.filter(is_list).unique(maintain_order=True)
    lists = {text: value for text in texts if isinstance(value := parse_literal(text), list)}
    firsts = [_element_text(value[0]) if value else None for value in lists.values()]
    chosen = column.replace(list(lists), pl.Series(firsts, dtype=pl.String))
    longer = [text for text, value in lists.items() if len(value) > 1]
    return chosen, int(column.is_in(longer).sum())


def _element_text(value: Any) -> str | None:
    """Return an element of a list as a cell: text as it is, objects as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else name_of(value)


def plain_labels(
    table: str, column: pl.Series, all_choices: bool
) -> tuple[pl.Series, int, list[str]]:
    """Return the labels of a text column whose cells may be JSON lists, objects, or both.

    The first element of a list counts, and longer lists are counted. With ``all_choices`` the
    column is returned as it is: objects and lists may say which classes apply.
    """
    if all_choices or not column.unique().str.contains(_MARKUP).any():
        return column, 0, []
    if column.head(1000).str.contains(r"^\s+[\[{]").any():
        column = column.str.strip_chars()
    firsts, outer = choose_from_texts(column, False)
    labels, notes = labels_of_objects(table, firsts.alias(column.name))
    chosen, inner = choose_from_texts(labels, False)
    return chosen, outer + inner, notes


def labels_of_objects(table: str, column: pl.Series) -> tuple[pl.Series, list[str]]:
    """Replace JSON objects in a label column by the field that holds the label.

    That is their only field, or the likeliest one by name; other objects are refused. What language
    models write around JSON is removed first, and objects that cannot be parsed are missing.
    """
    column, notes = _without_surroundings(column)
    is_object = column.str.starts_with("{").fill_null(False)
    if not is_object.any():
        return column, notes
    objects = objects_in(column.filter(is_object).unique(maintain_order=True).head(1000).to_list())
    if not objects:
        return column, notes
    verdicts = [one for one in objects if not is_error(one)]
    if not any(verdicts):
        return _without_errors(column, is_object, notes)
    chosen = _label_field(table, column.name, verdicts)
    values, damaged = _values_of_field(column, is_object, chosen)
    notes += [field_note(chosen), *count_note(damaged, DAMAGED_NOTE)]
    inner, inner_notes = labels_of_objects(table, values.alias(f"{column.name}.{chosen}"))
    return inner.alias(column.name), notes + inner_notes


def _without_errors(
    column: pl.Series, is_object: pl.Series, notes: list[str]
) -> tuple[pl.Series, list[str]]:
    """Treat all objects as missing, because they are errors, and say how many there were."""
    values = pl.select(pl.when(is_object).then(None).otherwise(column)).to_series()
    return values.alias(column.name), notes + count_note(int(is_object.sum()), ERRORS_NOTE)


def _label_field(table: str, column: str, objects: Sequence[dict[str, Any]]) -> str:
    """Return the field that holds the label; raise BadFile if none clearly does."""
    field = label_field(objects)
    if field is not None:
        return field
    fields = fields_of(objects)
    example = f"{column}.{next(iter(fields), 'field')}"
    raise BadFile(
        f"{table}: column {column!r} holds objects with the fields {list_names(fields)}, none of "
        f"which is clearly the label. Name one, as in label={example!r}."
    )


def _values_of_field(column: pl.Series, is_object: pl.Series, field: str) -> tuple[pl.Series, int]:
    """Return a field in place of the objects in a text column, and count damaged objects."""
    values = pl.select(
        pl.when(is_object).then(field_of_objects(column, field)).otherwise(column)
    ).to_series()
    left = column.filter(is_object & values.is_null())  # not JSON, or without the field
    if left.is_empty():
        return values, 0
    objects = {text: parse_object(text) for text in left.unique()}
    found = [None if one is None else cell_text(one.get(field)) for one in objects.values()]
    replaced = column.replace_strict(
        list(objects), pl.Series(found, dtype=pl.String), default=values, return_dtype=pl.String
    )
    damaged = [text for text, one in objects.items() if one is None]
    return replaced, int(left.is_in(damaged).sum())


def _without_surroundings(column: pl.Series) -> tuple[pl.Series, list[str]]:
    """Remove Markdown fences (three backticks) and reasoning, and say how many there were."""
    notes: list[str] = []
    longest = int(column.str.len_bytes().max() or 0)  # type: ignore[arg-type]
    for pattern, group, note in SURROUNDINGS:
        if longest <= len("``````"):  # saves a pass over ordinary labels
            continue
        is_found = column.str.contains(pattern).fill_null(False)
        if is_found.any():
            kept = f"${{{group}}}" if group else ""
            column = column.str.replace(pattern, kept).alias(column.name)
            notes += count_note(int(is_found.sum()), note)
    return column, notes


def field_of_objects(column: pl.Series, field: str) -> pl.Series:
    """Return one field of the JSON objects in a text column; null where it is absent."""
    quoted = field.replace("\\", "\\\\").replace("'", "\\'")
    return column.str.json_path_match(f"$['{quoted}']")
