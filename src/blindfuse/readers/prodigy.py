"""Prodigy JSON lines, as ``db-out`` writes them.

With choices, the class is the one in ``accept``. Without, the question is ``label`` and the class
is ``answer``: accept or reject.
"""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.reader import ParsedResponses, select_question
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.notes import count_note

TITLE = "a Prodigy export"

_SESSIONS = ("_session_id", "_annotator_id")


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are the columns of Prodigy's hashes and answers."""
    return {"_input_hash", "answer"} <= set(tables[0].columns)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses that were not ignored, for one question if there are several."""
    table = tables[0]
    item = existing_column(table, options.item or "_input_hash")
    sessions = (
        [str(options.annotator)]
        if options.annotator
        else [column for column in _SESSIONS if column in table.columns]
    )
    if not sessions:
        raise BadFile(f"{table.name} has no session or annotator column. Name one with annotator=.")
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
    rows = kept.select("answer", item=pl.col(item), annotator=pl.coalesce(sessions))
    if label and label != "label":  # choices; a rejected task is missing
        chosen = pl.when(rows["answer"] == "accept").then(kept[label])
        rows, where = rows.select("item", "annotator", label=chosen), label
    else:
        question = kept["label"] if label else pl.lit("answer")
        rows = rows.rename({"answer": "label"}).with_columns(question=question)
        rows, asked = select_question(table.name, rows, options)
        where = f"answer to {asked!r}"
    return ParsedResponses(
        rows,
        {"item": item, "annotator": " or ".join(sessions), "label": where},
        count_note(len(frame) - len(kept), "ignored response{s} skipped"),
    )
