"""Long tables: one row an answer, with a column each for item, annotator and label."""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile, BadParameter
from blindfuse.readers.answers import Answers, Gold, named_objects, of_question
from blindfuse.readers.gold import truth_column
from blindfuse.readers.guessing import QUESTIONS, Asked, existing, needed, pick, stem
from blindfuse.readers.tables import Table, together


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there is a column of labels or of annotators, by name or because one is asked for."""
    if asked.label is not None:
        return True
    table = tables[0]
    return any(pick(role, table, None) is not None for role in ("annotator", "label"))


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """One answer a row; of several questions about each item, the one asked for."""
    table = tables[0]
    columns = roles(table, asked)
    question = _question_column(table, columns, asked)
    truth = truth_column(tables, list(columns.values()))
    found = {**columns, "question": question, "gold": truth}
    names = {column: role for role, column in found.items() if column is not None}
    frame = together(tables, list(names)).rename(names)
    frame = frame.with_columns(named_objects(frame[role]) for role in ("item", "annotator"))
    if question and (asked.question is not None or _differs_within_items(frame)):
        answered, chosen = of_question(table.name, frame, asked.question)
        columns["question"] = f"{question} = {chosen}"
        frame = frame.filter(pl.col("question") == chosen)
    else:
        answered = frame.select("item", "annotator", "label")
    gold = None if truth is None else Gold(frame.select("item", label="gold"), truth)
    return Answers(answered, columns, gold=gold)


def roles(table: Table, asked: Asked) -> dict[str, str]:
    """The columns of annotator, label and item, guessed in this order, each taken once."""
    if not isinstance(asked.annotator, str | None):
        raise BadParameter("A long table has one annotator column: pass annotator= as text.")
    wishes = {"annotator": asked.annotator, "label": asked.label, "item": asked.item}
    found: dict[str, str] = {}
    for role, wish in wishes.items():
        taken = {*filter(None, wishes.values()), *found.values()}
        found[role] = needed(role, table, wish, taken)
    columns = {role: found[role] for role in ("item", "annotator", "label")}
    if len(set(columns.values())) < 3:
        raise BadFile(f"{table.name}: one column cannot be two of {columns}. Name three columns.")
    return columns


def _question_column(table: Table, columns: dict[str, str], asked: Asked) -> str | None:
    free = [one for one in table.columns if one not in columns.values() and stem(one) in QUESTIONS]
    if asked.question is not None and not free:
        return existing(table, "question")
    return free[0] if free else None


def _differs_within_items(frame: pl.DataFrame) -> bool:
    """Whether an item has several questions, so that they are not just the items' texts."""
    return frame.select("item", "question").n_unique() > frame["item"].n_unique()
