"""Known labels of some items: in a file of their own, or beside the answers."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import polars as pl
from numpy.typing import NDArray

from blindfuse.errors import BadFile, naming
from blindfuse.readers.answers import Answers
from blindfuse.readers.guessing import TRUTHS, existing, needed, pick, stem
from blindfuse.readers.opening import opened
from blindfuse.readers.sources import Given, sources
from blindfuse.readers.tables import Table, together


def read_gold(
    paths: Given | Iterable[Given], *, item: str | None = None, label: str | None = None
) -> dict[str, str]:
    """The known labels in a file, or in several, as ``{item: label}``.

    Parameters
    ----------
    paths
        as in :func:`blindfuse.read`: CSV, TSV, JSON lines, Parquet or Arrow.
    item, label
        names of columns; those left out are guessed by name. A column named ``truth``, ``gold`` or
        the like is taken before one named ``label``. Of two columns, the first is the item's.
    """
    tables = [opened(source) for source in sources(paths)]
    columns = _columns(tables[0], item, label)
    frame = together(tables, columns).rename(dict(zip(columns, ("item", "label"), strict=True)))
    gold, several = _one_each(frame)
    name = tables[0].name
    if several:
        raise BadFile(f"{name} has several labels of the items {naming(several)}. Keep one each.")
    if not gold:
        raise BadFile(f"{name} holds no label in column {columns[1]!r}. Name another with label=.")
    return gold


def truth_column(tables: Sequence[Table], taken: Collection[str] = ()) -> str | None:
    """The first column of all tables that is named as truths are, or None."""
    for column in tables[0].columns:
        named = stem(column) in TRUTHS and column not in taken
        if named and all(column in table.columns for table in tables):
            return column
    return None


def gold_beside(answers: Answers, classes: NDArray[Any]) -> tuple[dict[str, str], list[str]]:
    """The known labels that came with the answers, and notes about them.

    A column named as truths are may hold something else, such as whether an answer was right. It is
    taken only if it says one thing of every item, and only where that is a class.
    """
    if answers.gold is None:
        return {}, []
    frame, where = answers.gold
    found, several = _one_each(frame)
    known = set(classes.tolist())
    gold = {item: label for item, label in found.items() if label in known}
    others = dict.fromkeys(label for label in found.values() if label not in known)
    if several:
        return {}, [f"{where!r} is not taken for gold: it differs within {naming(several, 3)}"]
    notes = [f"gold labels of {len(gold):,} items in {where!r}"] if gold else []
    if others:
        notes.append(f"not taken for gold, in {where!r}, as nobody reported it: {naming(others)}")
    return gold, notes


def _columns(table: Table, item: str | None, label: str | None) -> tuple[str, str]:
    """The columns of item and label."""
    taken = [] if item is None else [existing(table, item)]
    labels = label or truth_column([table], taken)
    if len(table.columns) == 2 and item is None:
        labels = existing(table, labels or pick("label", table, None) or table.columns[1])
        return next(column for column in table.columns if column != labels), labels
    labels = needed("label", table, labels, taken)
    return needed("item", table, item, [labels]), labels


def _one_each(frame: pl.DataFrame) -> tuple[dict[str, str], list[str]]:
    """The label of each item that has one, and the items that have several."""
    text = pl.col("label").str.strip_chars()
    said = frame.filter(~text.str.to_lowercase().is_in(["", "nan"])).drop_nulls()
    pairs = said.unique(maintain_order=True)
    again = pairs.filter(pl.col("item").is_duplicated())["item"]
    return dict(pairs.iter_rows()), again.unique(maintain_order=True).to_list()
