"""Wide tables: one row an item, one column an annotator."""

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from blindfuse.errors import BadFile, BadParameter, naming
from blindfuse.readers.answers import Answers, Gold
from blindfuse.readers.gold import truth_column
from blindfuse.readers.guessing import TRUTHS, Asked, existing, pick, stem
from blindfuse.readers.tables import Table, together

_TEXTS = frozenset(
    [
        "text",
        "sentence",
        "prompt",
        "question",
        "url",
        "image",
        "file",
        "filename",
        "input",
        "comment",
    ]
)


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """One answer a cell; an empty cell is none, nor is −1 where the other labels are numbers."""
    if asked.label is not None or asked.question is not None:
        raise BadParameter("A wide table has labels in its cells: leave out label= and question=.")
    table = tables[0]
    named = [asked.annotator] if isinstance(asked.annotator, str) else [*(asked.annotator or ())]
    item = _item(table, asked.item, named)
    annotators, left_out = _annotators(table, item, named)
    truth = truth_column(tables, annotators)
    frame = together(tables, [one for one in (item, truth, *annotators) if one is not None])
    items = pl.Series(range(len(frame))).cast(pl.String) if item is None else frame[item]
    column_of = np.repeat(range(len(annotators)), len(frame))
    long = pl.DataFrame(
        {
            "item": pl.concat([items] * len(annotators)),
            "annotator": pl.Series(annotators).gather(column_of),
            "label": pl.concat([frame[name].alias("label") for name in annotators]),
        }
    )
    where = {"item": "the row" if item is None else item, "annotator": "one column each"}
    notes = [f"columns left out, as they hold no answers: {naming(left_out)}"] if left_out else []
    gold = None
    if truth is not None:
        gold = Gold(pl.DataFrame({"item": items, "label": frame[truth]}), truth)
    columns = {**where, "label": "the cells"}
    return Answers(long, columns, notes, _abstentions(long["label"]), gold)


def _item(table: Table, asked: str | None, annotators: Sequence[str]) -> str | None:
    if asked is None and table.columns[0] in ("", "Unnamed: 0"):
        return table.columns[0]
    return pick("item", table, asked, annotators)


def _annotators(
    table: Table, item: str | None, named: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns that are annotators, and those that are truths or texts."""
    if named:
        return [existing(table, name) for name in named], []
    others = [column for column in table.columns if column != item]
    left_out = [column for column in others if stem(column) in TRUTHS | _TEXTS]
    annotators = [column for column in others if column not in left_out]
    if not annotators:
        raise BadFile(
            f"{table.name} has no column of answers, only {naming(table.columns)}. "
            "A wide table has one column an annotator."
        )
    return annotators, left_out


def _abstentions(labels: pl.Series) -> frozenset[str]:
    """−1, if labels are whole numbers; but where −1 and 1 are all there is, both are classes."""
    distinct = labels.drop_nulls().unique().head(100).to_list()
    numbers = all(re.fullmatch(r"\s*|-?\d+(\.0)?|(?i:nan)", label) for label in distinct)
    signs = {label.strip().removesuffix(".0") for label in distinct} <= {"-1", "1", ""}
    return frozenset(["-1", "-1.0"]) if numbers and not signs else frozenset()
