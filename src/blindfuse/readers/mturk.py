"""Batch results of Mechanical Turk in CSV: ``HITId``, ``WorkerId``, ``Input.…``, ``Answer.…``.

Answers come in three shapes: one column a question; one column of ``true`` and ``false`` a choice
(``Answer.q.yes``, ``Answer.q.no``); or JSON in ``Answer.taskAnswers``.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.answers import Answers, counted
from blindfuse.readers.guessing import Asked, existing, one_question
from blindfuse.readers.jsons import cell, loaded
from blindfuse.readers.tables import Table, checked, together

_STATUS, _JSON = "AssignmentStatus", "Answer.taskAnswers"
_WORKERS = ("WorkerId", "Turkle.Username")


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there are HITs and workers."""
    columns = tables[0].columns
    return "HITId" in columns and any(worker in columns for worker in _WORKERS)


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """Answers that were not rejected, to one question."""
    table = tables[0]
    worker = next((one for one in _WORKERS if one in table.columns), _WORKERS[0])
    item = existing(table, asked.item or "HITId")
    annotator = existing(table, str(asked.annotator or worker))
    given = [column for column in table.columns if column.startswith("Answer.")]
    named = [] if asked.label is None or asked.label in given else [existing(table, asked.label)]
    status = [_STATUS] if _STATUS in table.columns else []
    frame = together(tables, [item, annotator, *given, *named, *status])
    kept = frame.filter(pl.col(_STATUS).ne_missing("Rejected")) if status else frame
    asking = _one_column_a_question(table.name, kept.select(*given, *named))
    seen = Table(table.source, table.kind, asking, asking.select)
    label = asked.label if named else one_question(seen, asking.columns, "Answer.", asked)
    return Answers(
        kept.select(item=pl.col(item), annotator=pl.col(annotator), label=asking[str(label)]),
        {"item": item, "annotator": annotator, "label": str(label)},
        counted(len(frame) - len(kept), "rejected assignments left out"),
    )


def _one_column_a_question(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    if _JSON in frame.columns:
        parsed = pl.DataFrame(
            [_flat(name, row, text) for row, text in enumerate(frame[_JSON], 1)],
            infer_schema_length=None,
        )
        others = frame.drop(_JSON)
        checked(name, [*others.columns, *parsed.columns])
        frame = pl.concat([others, parsed], how="horizontal")
    choices: dict[str, list[str]] = {}
    for column in frame.columns:
        if column.count(".") > 1 and frame[column].drop_nulls().is_in(["true", "false"]).all():
            choices.setdefault(column.rpartition(".")[0], []).append(column)
    chosen = [
        pl.coalesce(
            pl.when(pl.col(column) == "true").then(pl.lit(column.rpartition(".")[2]))
            for column in columns
        ).alias(question)
        for question, columns in choices.items()
    ]
    ticks = [column for columns in choices.values() for column in columns]
    return frame.with_columns(chosen).drop(ticks)


def _flat(name: str, row: int, text: str | None) -> dict[str, str | None]:
    """``{"Answer.q.yes": "true"}`` for ``[{"q": {"yes": true}}]``; ``label`` is left out."""
    try:
        answered: Any = loaded((text or "[{}]").encode())[0]
        questions = {
            f"Answer.{question}": value if isinstance(value, dict) else {"label": value}
            for question, value in answered.items()
        }
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):
        raise BadFile(f"{name}, row {row:,}: {_JSON} is no JSON of answers.") from None
    return {
        question if key == "label" else f"{question}.{key}": cell(part)
        for question, parts in questions.items()
        for key, part in parts.items()
    }
