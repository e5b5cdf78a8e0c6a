"""Gold labels: in a file of their own, or beside the responses."""

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers.encode_numbers import as_floats
from blindfuse.readers.encoding import plain_name_series
from blindfuse.readers.opening import open_table
from blindfuse.readers.parsed_responses import GoldLabels
from blindfuse.readers.sources import FileInput, find_sources
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import (
    detect_column,
    existing_column,
    gold_column,
)
from blindfuse.responses.inputs import Names
from blindfuse.responses.notes import count_note
from blindfuse.responses.set_values import choose_separator, parse_set
from blindfuse.responses.values import LabelOptions, LabelRules
from blindfuse.typing import Array


def read_gold(
    paths: FileInput | Iterable[FileInput],
    *,
    item: str | None = None,
    label: str | None = None,
    classes: Names | None = None,
) -> dict[str, str]:
    """Read gold labels from one or several files, as ``{item: label}``.

    Parameters
    ----------
    paths
        as in :func:`blindfuse.read`: CSV, TSV, JSON, JSON lines, Parquet or Arrow.
    item, label
        column names. By default they are detected by name, and a column named ``truth``, ``gold``
        or similar is preferred to one named ``label``. If the file has two columns, the other one
        is the item.
    classes
        the classes of the responses: a label is then written as its class is, ``1`` for ``1.0`` and
        ``cat`` for ``Cat``, and is not treated as missing if it is a class named ``NA`` or the
        like.
    """
    tables, columns, frame = _load(paths, item, label)
    gold, conflicting = one_label_per_item(frame, gold_options(classes))
    name = tables[0].name
    if conflicting:
        raise BadFile(
            f"{name} has several gold labels for the items {list_names(conflicting)}. "
            "Keep one label per item."
        )
    if not gold:
        raise BadFile(f"{name} contains no label in column {columns[1]!r}. Fill in some of them.")
    return gold


def gold_options(classes: Names | None) -> LabelOptions:
    """Return how gold labels are read: those that are no class take the spelling of one."""
    names = None if classes is None else [str(name) for name in classes]
    return LabelOptions(names, fold_case=names is not None)


def read_gold_texts(path: FileInput) -> dict[str, str]:
    """Read the cells of gold sets as ``{item: text}``; an empty cell is an empty set."""
    tables, _, frame = _load(path, None, None)
    pairs = frame.filter(pl.col("item").is_not_null()).with_columns(pl.col("label").fill_null(""))
    pairs = pairs.with_columns(item=plain_name_series(pairs["item"])).unique(maintain_order=True)
    conflicting = pairs.filter(pl.col("item").is_duplicated())["item"]
    if len(conflicting):
        raise BadFile(
            f"{tables[0].name} has several gold sets for the items "
            f"{list_names(conflicting.unique(maintain_order=True))}. Keep one set per item."
        )
    return dict(pairs.iter_rows())


def read_gold_sets(
    path: FileInput, classes: Iterable[str], separator: str | None
) -> dict[str, list[str]]:
    """Read gold sets from a file with the columns item and label; empty cells are empty sets."""
    texts, known = read_gold_texts(path), set(classes)
    used = choose_separator(texts.values(), separator)
    return {item: parse_set(text, used, known) or [] for item, text in texts.items()}


def read_gold_numbers(path: FileInput) -> dict[str, float]:
    """Read gold values from a file with the columns item and label or value."""
    gold = read_gold(path)
    values, _ = as_floats(pl.Series(list(gold.values()), dtype=pl.String))
    for (item, text), value in zip(gold.items(), values, strict=True):
        if value is None:
            raise BadFile(
                f"{path}: the gold value {text!r} of item {item!r} is not a number. Correct it."
            )
    return dict(zip(gold, values.to_list(), strict=True))


def _load(
    paths: FileInput | Iterable[FileInput], item: str | None, label: str | None
) -> tuple[list[Table], tuple[str, str], pl.DataFrame]:
    """Return the tables, the columns of items and labels, and both columns of all tables."""
    tables = [open_table(source) for source in find_sources(paths)]
    columns = _columns(tables[0], item, label)
    frame = load_columns(tables, columns)
    return tables, columns, frame.rename(dict(zip(columns, ("item", "label"), strict=True)))


def matching_gold(
    found: GoldLabels | None, options: LabelOptions, classes: Array
) -> tuple[dict[str, str], list[str]]:
    """Return the gold labels that came with the responses, and notes about them.

    A column with the name of a gold column may hold something else, such as whether a response was
    right. It is used only if it has one value per item, and only where that value is a class.
    """
    if found is None:
        return {}, []
    frame, column = found
    matching = replace(options, classes=classes.tolist(), fold_case=True)
    labels, conflicting = one_label_per_item(frame, matching)
    if conflicting:
        items = list_names(conflicting, 3)
        return {}, [f"{column!r} not used as gold labels: several values for item {items}"]
    known = set(classes.tolist())
    gold = {item: label for item, label in labels.items() if label in known}
    unknown = dict.fromkeys(label for label in labels.values() if label not in known)
    return gold, [
        *count_note(len(gold), f"gold label{{s}} found in {column!r}"),
        *count_note(
            len(unknown),
            f"value{{s}} in {column!r} not used as gold labels, because no annotator reported "
            f"such a class: {list_names(unknown)}",
        ),
    ]


def _columns(table: Table, item: str | None, label: str | None) -> tuple[str, str]:
    """Return the item column and the label column."""
    taken = [] if item is None else [existing_column(table, item)]
    named = label or gold_column([table], taken)
    labels = detect_column("label", table, named, taken)
    if len(table.columns) == 2 and item is None:
        labels = labels or table.columns[1]
        return next(column for column in table.columns if column != labels), labels
    items = detect_column("item", table, item, [*filter(None, [labels])])
    if items is None or labels is None:
        raise BadFile(
            f"{table.name}: the column names {list_names(table.columns)} do not say which columns "
            "hold the items and the gold labels. Name these two item and label."
        )
    return items, labels


def one_label_per_item(
    frame: pl.DataFrame, options: LabelOptions
) -> tuple[dict[str, str], list[str]]:
    """Return the label of each item that has one, and the items with several different labels."""
    values = frame["label"].unique(maintain_order=True)
    labels = LabelRules(values.to_list(), lambda: [0] * len(values), options).labels
    converted = pl.Series(labels, dtype=pl.String)
    frame = frame.select(
        item=plain_name_series(frame["item"]),
        label=frame["label"].replace_strict(values, converted, return_dtype=pl.String),
    )
    pairs = frame.filter(pl.col("item") != "").drop_nulls().unique(maintain_order=True)
    conflicting = pairs.filter(pl.col("item").is_duplicated())["item"]
    return dict(pairs.iter_rows()), conflicting.unique(maintain_order=True).to_list()
