"""Gold labels in a file of their own, and the checked labels of an audit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers import label_studio
from blindfuse.readers.encoding import plain_labels_by, sets_by, values_by_item
from blindfuse.readers.numbers import floats_of
from blindfuse.readers.reader import parse
from blindfuse.readers.reading import Kind, open_tables
from blindfuse.readers.sources import FileInput
from blindfuse.readers.tables import Table, load_columns, with_fields
from blindfuse.responses.detection import (
    ColumnOptions,
    detect_column,
    existing_column,
    gold_column,
)
from blindfuse.responses.inputs import Names
from blindfuse.responses.values import LabelOptions


def read_gold(
    paths: FileInput | Iterable[FileInput],
    *,
    kind: Kind = "labels",
    item: str | None = None,
    label: str | None = None,
    classes: Names | None = None,
    separator: str | None = None,
) -> dict[str, Any]:
    """Read gold labels from one or several files, as ``{item: label}``.

    Parameters
    ----------
    paths
        as in :func:`blindfuse.read`: CSV, TSV, JSON, JSON lines, Parquet or Arrow.
    kind
        as in :func:`blindfuse.read`: sets are tuples, in which an empty cell is an empty set, and
        numbers are floats.
    item, label
        column names. By default they are detected by name, and a column named ``truth``, ``gold``
        or similar is preferred to one named ``label``. If the file has two columns, the other one
        is the item.
    classes
        the classes of the responses: a label is then written as its class is, ``1`` for ``1.0`` and
        ``cat`` for ``Cat``, and is not treated as missing if it is a class named ``NA`` or the
        like.
    separator
        for sets, as in :func:`blindfuse.read`.
    """
    tables = open_tables(paths, list(filter(None, (item, label))))
    name, frame = tables[0].name, _load(tables, item, label)
    if kind == "sets":
        frame = frame.with_columns(pl.nth(1).fill_null(""))
        return _unique_values(
            name, frame, sets_by(set(() if classes is None else classes), separator)
        )
    convert = _numbers_of(name) if kind == "numbers" else _labels_by(classes)
    gold = _unique_values(name, frame, convert)
    if not gold:
        raise BadFile(
            f"{name} contains no label in column {frame.columns[1]!r}. Fill in some of them."
        )
    return gold


def _labels_by(classes: Names | None) -> Callable[[Sequence[str]], Sequence[Any]]:
    """Return the function that converts texts to labels, in the spelling of the classes."""
    names = None if classes is None else [str(name) for name in classes]
    return plain_labels_by(LabelOptions(names, fold_case=names is not None))


def _numbers_of(name: str) -> Callable[[Sequence[str]], Sequence[Any]]:
    """Return the function that converts texts to floats."""

    def convert(texts: Sequence[str]) -> Sequence[Any]:
        labels = _labels_by(None)(texts)
        values = floats_of(["" if label is None else label for label in labels])
        for label, value in zip(labels, values, strict=True):
            if label is not None and value is None:
                raise BadFile(f"{name}: the gold value {label!r} is not a number. Correct it.")
        return values

    return convert


def _unique_values(
    name: str, frame: pl.DataFrame, convert: Callable[[Sequence[str]], Sequence[Any]]
) -> dict[str, Any]:
    """Return one value per item."""
    values, conflicting = values_by_item(frame, convert)
    if conflicting:
        raise BadFile(
            f"{name} has several labels for the items {list_names(conflicting)}. "
            "Keep one label per item."
        )
    return values


def _load(tables: Sequence[Table], item: str | None, label: str | None) -> pl.DataFrame:
    """Return the column of the items and that of the labels, with all rows."""
    table = tables[0]
    taken = [] if item is None else [existing_column(table, item)]
    labels = detect_column("label", table, label or gold_column([table], taken), taken)
    if len(table.columns) == 2 and item is None:
        labels = labels or table.columns[1]
        items: str | None = next(column for column in table.columns if column != labels)
    else:
        items = detect_column("item", table, item, [labels] if labels else [])
    if items is None or labels is None:
        raise BadFile(
            f"{table.name}: the column names {list_names(table.columns)} do not say which columns "
            "hold the items and the gold labels. Name these two item and label."
        )
    return load_columns(tables, [items, labels])


# Checked labels

_DESIGN = ("stratum", "stratum_size", "probability", "n_strata")
"""Columns that say how the items were drawn; the last one, how many strata a plan asked for."""


@dataclass(frozen=True)
class CheckedFile:
    """What a file of checked labels contains.

    Attributes
    ----------
    labels
        the labels that are filled in, ``{item: label}``.
    items, strata, sizes
        all drawn items, their strata and how many items each stratum has; None if the file does
        not say how the items were drawn.
    n_strata
        how many strata the plan asked for; None if the file does not say.
    """

    labels: dict[str, str]
    items: list[str] | None = None
    strata: list[int] | None = None
    sizes: list[float] | None = None
    n_strata: int | None = None


def read_checked(path: FileInput, classes: Names | None = None) -> CheckedFile:
    """Read checked labels: a table with the columns item and label, or a Label Studio export.

    With ``classes``, labels are written as the classes are.

    The columns stratum, stratum_size and probability of a plan say how the items were drawn. With
    a probability alone, items of the same probability are one stratum.
    """
    tables = open_tables(path)
    name, columns = tables[0].name, tables[0].columns
    if tables[0].records is not None and "data" in columns:
        frame = _label_studio_frame(tables)
    elif {"stratum", "probability"} & set(columns) and "item" in columns:
        frame = load_columns(tables, [one for one in ("item", "label", *_DESIGN) if one in columns])
    else:
        return CheckedFile(read_gold(path, classes=classes))
    absent = {one for one in ("label", *_DESIGN) if one not in frame.columns}
    frame = frame.with_columns(pl.lit(None, pl.String).alias(one) for one in absent)
    labels = _unique_values(name, frame.select("item", "label"), _labels_by(classes))
    drawn = frame.unique("item", keep="first", maintain_order=True)
    design = drawn.select(pl.col(_DESIGN).cast(pl.Float64, strict=False))
    if not design.select(pl.any_horizontal(pl.col(_DESIGN[:3]).is_not_null().any())).item():
        return CheckedFile(labels)
    stratum, size, probability, n_strata = (pl.col(one) for one in _DESIGN)
    if "stratum" in absent:
        design = design.with_columns(stratum=probability)
    if "stratum_size" in absent:
        design = design.with_columns(stratum_size=pl.len().over(stratum) / probability)
    valid = stratum.is_not_null() & (size >= 1) & size.is_finite()
    if "probability" not in absent:
        valid &= (probability > 0) & (probability <= 1)
    wrong = design.select(~valid.fill_null(False)).to_series()
    if wrong.any():
        raise BadFile(
            f"{name} has no valid inclusion probability for the items "
            f"{list_names(drawn['item'].filter(wrong))}. Restore the columns "
            f"{list_names(_DESIGN[:3])} of the plan, or remove them to use the labels as a list of "
            "your own."
        )
    asked = design.select(n_strata.drop_nulls().first().cast(pl.Int64)).item()
    strata = design.select(stratum.rank("dense").cast(pl.Int64) - 1).to_series().to_list()
    return CheckedFile(
        labels, drawn["item"].to_list(), strata, design["stratum_size"].to_list(), asked
    )


def _label_studio_frame(tables: Sequence[Table]) -> pl.DataFrame:
    """One row per task, with the fields of its data and the label of its annotations, if any."""
    fields = [f"data.{name}" for name in ("item", *_DESIGN)]
    frame = load_columns([with_fields(table, fields) for table in tables], fields)
    frame = frame.rename(lambda field: field.removeprefix("data.")).drop_nulls("item")
    if frame.is_empty():
        raise BadFile(
            f"{tables[0].name} has no task with the field 'item'. Import the tasks that "
            "`blindfuse audit --label-studio` writes, and export them as JSON."
        )
    if not {"annotations", "completions"} & set(tables[0].columns):
        return frame
    parsed = parse(label_studio, tables, ColumnOptions(item="item"))
    found = [parsed.frame.select("item", "label").drop_nulls()]
    if parsed.gold is not None:
        found.append(parsed.gold.rename({"ground_truth": "label"}))
    labels = pl.concat(found).unique(maintain_order=True)
    return frame.join(labels, on="item", how="left", maintain_order="left")
