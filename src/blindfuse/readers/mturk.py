"""Mechanical Turk batch results in CSV: ``HITId``, ``WorkerId``, ``Input.…``, ``Answer.…``.

Labels come in three forms: one column per question; one column of ``true`` and ``false`` per choice
(``Answer.q.yes``, ``Answer.q.no``); or JSON in ``Answer.taskAnswers``.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.json_tables import parse_json
from blindfuse.readers.reader import ParsedResponses, question_column, ticked_names
from blindfuse.readers.tables import Table, check_columns, load_columns
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.markers import cell_text
from blindfuse.responses.notes import count_note

TITLE = "Mechanical Turk results"

_STATUS, _REJECT, _JSON = "AssignmentStatus", "Reject", "Answer.taskAnswers"
_PREFIX = "Answer."
_WORKERS = ("WorkerId", "Turkle.Username")


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are HIT and worker columns."""
    columns = tables[0].columns
    return "HITId" in columns and any(worker in columns for worker in _WORKERS)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses to one question, without rejected assignments."""
    table = tables[0]
    worker = next((column for column in _WORKERS if column in table.columns), _WORKERS[0])
    item = existing_column(table, options.item or "HITId")
    annotator = existing_column(table, str(options.annotator or worker))
    answers = [column for column in table.columns if column.startswith(_PREFIX)]
    is_other = options.label is not None and options.label not in answers
    named = [existing_column(table, str(options.label))] if is_other else []
    marks = [column for column in (_STATUS, _REJECT) if column in table.columns]
    frame = load_columns(tables, [item, annotator, *answers, *named, *marks])
    kept = frame.filter(pl.lit(True), *map(_is_accepted, marks))
    questions = _one_column_per_question(table.name, kept.select(*answers, *named))
    sample = replace(table, sample=questions)
    label = named[0] if named else question_column(sample, questions.columns, _PREFIX, options)
    return ParsedResponses(
        kept.select(item=pl.col(item), annotator=pl.col(annotator), label=questions[label]),
        {"item": item, "annotator": annotator, "label": label},
        count_note(len(frame) - len(kept), "rejected assignment{s} skipped"),
        empty_cells_are_sets=True,
    )


def _is_accepted(column: str) -> pl.Expr:
    """Return whether the status is not "Rejected", or no reason to reject is given."""
    if column == _STATUS:
        return pl.col(column).ne_missing("Rejected")
    return pl.col(column).fill_null("").str.strip_chars() == ""


def _one_column_per_question(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return one column per question.

    ``Answer.taskAnswers`` is expanded, the columns of the choices of a question become one of JSON
    lists, and ``Answer.q.label`` becomes ``Answer.q``.
    """
    if _JSON in frame.columns:
        parsed = pl.DataFrame(
            [_parse_answers(name, row, text) for row, text in enumerate(frame[_JSON], 1)],
            infer_schema_length=None,
        )
        frame = frame.drop(_JSON)
        check_columns(name, [*frame.columns, *parsed.columns])
        frame = pl.concat([frame, parsed], how="horizontal")
    for question, columns in _choice_columns(frame).items():
        ticks = frame.select(pl.col(columns).str.to_lowercase() == "true")
        choices = ticked_names(ticks.rename(lambda column: column.rpartition(".")[2]))
        frame = frame.drop(columns).with_columns(choices.alias(question))
    labels = {column: column.removesuffix(".label") for column in frame.columns}
    return frame.rename({old: new for old, new in labels.items() if new not in frame.columns})


def _choice_columns(frame: pl.DataFrame) -> dict[str, list[str]]:
    """Return the columns of ``true`` and ``false``, by question.

    A single box has no other choices: its ``true`` and ``false`` are the labels.
    """
    choices: dict[str, list[str]] = {}
    for column in frame.columns:
        values = frame[column].drop_nulls().str.to_lowercase()
        if column.count(".") > 1 and values.is_in(["true", "false"]).all():
            choices.setdefault(column.rpartition(".")[0], []).append(column)
    return {question: columns for question, columns in choices.items() if len(columns) > 1}


def _parse_answers(name: str, row: int, text: str | None) -> dict[str, str | None]:
    """Return ``{"Answer.q.yes": "true"}`` for ``[{"q": {"yes": true}}]``.

    The key ``label`` is dropped: ``{"q": {"label": "yes"}}`` becomes ``{"Answer.q": "yes"}``.
    """
    try:
        answers: Any = parse_json((text or "[{}]").encode())[0]
        questions = {
            f"{_PREFIX}{question}": value if isinstance(value, dict) else {"label": value}
            for question, value in answers.items()
        }
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):
        raise BadFile(
            f"{name}, row {row:,}: {_JSON} is not a JSON list of answers. Export it again."
        ) from None
    return {
        question if key == "label" else f"{question}.{key}": cell_text(value)
        for question, values in questions.items()
        for key, value in values.items()
    }
