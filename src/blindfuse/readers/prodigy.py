"""Prodigy JSON lines, as ``db-out`` writes them.

With choices, the class is the one in ``accept``. Without, the question is ``label`` and the class
is ``answer``: accept or reject.
"""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.nested_values import choose_from_texts
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.questions import select_question
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.notes import count_note

NAME = "prodigy"
TITLE = "a Prodigy export"

_SESSIONS = ("_session_id", "_annotator_id")


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are the columns of Prodigy's hashes and answers."""
    return {"_input_hash", "answer"} <= set(tables[0].columns)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses that were not ignored, for one question if there are several."""
    table = tables[0]
    item = existing_column(table, options.item or "_input_hash")
    sessions = _session_columns(table, options)
    shape = next((column for column in ("accept", "label") if column in table.columns), None)
    label = options.label or shape
    if label is None and "spans" in table.columns:
        raise BadFile(
            f"{table.name} contains text spans, not classes. Export a classification task, or name "
            "the column of the labels with label=."
        )
    used = [item, *sessions, "answer", *([label] if label else [])]
    frame = load_columns(tables, [existing_column(table, column) for column in used])
    kept = frame.filter(pl.col("answer").ne_missing("ignore"))
    parsed = ParsedResponses(
        kept.select(item=pl.col(item), annotator=pl.coalesce(sessions)),
        {"item": item, "annotator": " or ".join(sessions)},
        count_note(len(frame) - len(kept), "ignored response{s} skipped"),
    )
    if label and label != "label":
        _add_choices(parsed, kept, label, options.all_choices)
    else:
        _add_answers(parsed, kept, table.name, options)
    return parsed


def _session_columns(table: Table, options: ColumnOptions) -> list[str]:
    if options.annotator:
        return [str(options.annotator)]
    sessions = [column for column in _SESSIONS if column in table.columns]
    if not sessions:
        raise BadFile(f"{table.name} has no session or annotator column. Name one with annotator=.")
    return sessions


def _add_choices(
    parsed: ParsedResponses, rows: pl.DataFrame, column: str, all_choices: bool
) -> None:
    """Use the first accepted choice, or all, as the label; a rejected task is missing."""
    chosen, several = choose_from_texts(rows[column], all_choices)
    label = pl.when(rows["answer"] == "accept").then(chosen)
    parsed.frame = parsed.frame.with_columns(label=label)
    parsed.columns["label"] = column
    parsed.several = several


def _add_answers(
    parsed: ParsedResponses, rows: pl.DataFrame, name: str, options: ColumnOptions
) -> None:
    """Use the answer (accept or reject) as the label, for one value of the column ``label``."""
    has_questions = "label" in rows.columns
    questions = rows["label"] if has_questions else pl.lit("answer")
    frame = parsed.frame.with_columns(label=rows["answer"], question=questions)
    parsed.frame, chosen = select_question(name, frame, options)
    parsed.columns["label"] = f"answer to {chosen!r}"
