"""Prodigy's JSON lines, as ``db-out`` writes them.

With choices, the class is the one in ``accept``. Without, the question is ``label`` and the class
is ``answer``: accept or reject.
"""

from collections.abc import Sequence

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.answers import Answers, counted, first_choices, of_question
from blindfuse.readers.guessing import Asked, existing
from blindfuse.readers.tables import Table, together

_SESSIONS = ("_session_id", "_annotator_id")


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there are Prodigy's hashes and answers."""
    return {"_input_hash", "answer"} <= set(tables[0].columns)


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """Answers that were not ignored; of several binary labels, the one asked for."""
    table = tables[0]
    item = existing(table, asked.item or "_input_hash")
    named = [str(asked.annotator)] if asked.annotator else [*_SESSIONS]
    sessions = [one for one in named if one in table.columns or asked.annotator]
    if not sessions:
        raise BadFile(f"{table.name} names no session or annotator. Say which with annotator=.")
    shape = next((one for one in ("accept", "label") if one in table.columns), None)
    extra = [asked.label] if asked.label else [shape] if shape else []
    frame = together(tables, [existing(table, one) for one in (item, *sessions, "answer", *extra)])
    kept = frame.filter(pl.col("answer").ne_missing("ignore"))
    notes = counted(len(frame) - len(kept), "ignored answers left out")
    cells = kept.select(item=pl.col(item), annotator=pl.coalesce(sessions))
    columns = {"item": item, "annotator": " or ".join(sessions)}
    if extra and extra[0] != "label":
        chosen, several = first_choices(kept[str(extra[0])])
        cells = cells.with_columns(
            label=pl.when(kept["answer"] == "accept").then(chosen),
        )
        notes += counted(several, "answers with several choices: the first is taken")
        return Answers(cells, {**columns, "label": str(extra[0])}, notes)
    question = kept["label"] if extra else pl.Series(["answer"] * len(kept), dtype=pl.String)
    asking = cells.with_columns(label=kept["answer"], question=question)
    asking, which = of_question(table.name, asking, asked.question)
    return Answers(asking, {**columns, "label": f"answer about {which!r}"}, notes)
