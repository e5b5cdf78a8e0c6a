"""Select one question where a file contains several questions about each item."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile, list_names, suggest
from blindfuse.readers.nested_values import name_of
from blindfuse.readers.tables import Table, is_categorical
from blindfuse.responses.detection import ColumnOptions, existing_column

Row = tuple[str | None, Any, Any, Any]
"""Question, item, annotator, label. A row without a question only declares its item."""


def select_from_rows(
    name: str, rows: Iterable[Row], options: ColumnOptions
) -> tuple[pl.DataFrame, str]:
    """As ``select_question``, for rows with values of any type."""
    cells = [[name_of(cell) for cell in row] for row in rows]
    schema = dict.fromkeys(("question", "item", "annotator", "label"), pl.String)
    return select_question(name, pl.DataFrame(cells, schema=schema, orient="row"), options)


def select_question(
    name: str, frame: pl.DataFrame, options: ColumnOptions
) -> tuple[pl.DataFrame, str]:
    """Return the responses to one question, and the question.

    That is the question the user named, the only one, or the only one with categorical labels.
    Items without a response to it are kept, with a null annotator and a null label.
    """
    chosen = _choose(name, frame, options)
    is_response = (pl.col("question") == chosen) & pl.col("label").is_not_null()
    numbered = frame.with_row_index("row")
    responses = numbered.filter(is_response)
    other_items = numbered.join(responses, on="item", how="anti").unique("item", keep="first")
    unlabelled = other_items.with_columns(
        annotator=pl.lit(None, pl.String), label=pl.lit(None, pl.String)
    )
    rows = pl.concat([responses, unlabelled], how="diagonal").sort("row")
    return rows.select("item", "annotator", "label"), chosen


def _choose(name: str, frame: pl.DataFrame, options: ColumnOptions) -> str:
    questions: list[str] = frame["question"].drop_nulls().unique(maintain_order=True).to_list()
    if options.question is not None:
        if not options.question_exists:
            check_question(name, options.question, questions)
        return options.question
    if not questions:
        raise BadFile(
            f"{name} contains no response that names a class, so there is nothing to fuse. "
            "Export the results of a classification task."
        )
    if len(questions) == 1:
        return questions[0]
    categorical = [one for one in questions if is_categorical(_labels(frame, one))]
    if len(categorical) != 1:
        raise BadFile(several_questions(name, questions))
    return categorical[0]


def check_question(name: str, question: str, questions: Sequence[str]) -> None:
    """Raise BadFile if the question is not among those of the file."""
    if question not in questions:
        raise BadFile(f"{name} has no question {question!r}: {suggest(question, questions)}")


def _labels(frame: pl.DataFrame, question: str) -> pl.Series:
    return frame.filter(pl.col("question") == question)["label"]


def several_questions(name: str, questions: Sequence[str]) -> str:
    """Return the message for a file with several questions, none of which is chosen."""
    return (
        f"{name} contains several questions: {list_names(questions)}. "
        f"Pass question=, as in question={questions[0]!r}."
    )


def question_column(
    table: Table, candidates: Sequence[str], prefix: str, options: ColumnOptions
) -> str:
    """Return the label column of one question, where each question has a column of its own.

    That is the one the user named, with or without ``prefix``; the only candidate; or the only
    candidate with categorical labels.
    """
    wanted = options.label if options.label is not None else options.question
    if wanted is not None:
        column = prefix + wanted.removeprefix(prefix)
        if column in candidates or not candidates:
            return existing_column(table, column)
        raise BadFile(f"{table.name} has no question {wanted!r}: {suggest(column, candidates)}")
    if not candidates:
        raise BadFile(
            f"{table.name} has no column {prefix + '…'!r} with labels. Name one with label=."
        )
    categorical = [one for one in candidates if is_categorical(table.sample[one])]
    found = categorical if len(candidates) > 1 and len(categorical) == 1 else list(candidates)
    if len(found) > 1:
        raise BadFile(
            several_questions(
                table.name, [one.removeprefix(prefix) for one in categorical or found]
            )
        )
    return found[0]
