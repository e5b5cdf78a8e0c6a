"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, one folder per model.

Annotators are the models, or the runs; labels are their answers. Tasks and filters are questions.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from blindfuse.errors import BadFile
from blindfuse.readers.reader import (
    ParsedResponses,
    Row,
    expected_structure,
    frame_of_rows,
    question_of,
)
from blindfuse.readers.tables import Table, load_records
from blindfuse.responses.detection import ColumnOptions, existing_column

TITLE = "samples of lm-evaluation-harness"

_COLUMNS = {"doc_id", "resps", "filtered_resps"}
_NAME = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+")
"""The name of a file, with the task."""
_INVALID = "[invalid]"
"""The answer where a filter finds none."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are raw and filtered responses by document."""
    return tables[0].records is not None and set(tables[0].columns) >= _COLUMNS


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the answer of every model to every document, or the metric named as the label."""
    name, rows = tables[0].name, list[Row]()
    item = existing_column(tables[0], options.item or "doc_id")
    label = existing_column(tables[0], options.label or "filtered_resps")
    is_answer = label == "filtered_resps"
    tasks = [match[1] if (match := _NAME.match(table.source.stem)) else "" for table in tables]
    several_tasks = len(set(tasks)) > 1
    with expected_structure(name, "lm-evaluation-harness"):
        for table, task, model in zip(tables, tasks, _models(tables, tasks), strict=True):
            for record in load_records([table]):
                question = record.get("filter", "none")
                if several_tasks:
                    question = task if question == "none" else f"{task}, {question}"
                value = _answer(record[label]) if is_answer else record[label]
                target = _stripped(record.get("target")) if is_answer else None
                rows.append(Row(record[item], model, value, question, target))
    frame = frame_of_rows(rows)
    frame = frame.filter(question=question_of(name, frame, options))
    columns = {"item": item, "annotator": "folder", "label": label}
    return ParsedResponses(frame, columns, gold=frame.select("item", target="gold"))


def _models(tables: Sequence[Table], tasks: Sequence[str]) -> Sequence[str]:
    """Return the model of each file: the innermost folder that tells files of a task apart.

    If none does, the files are runs of one model, each named after its file.
    """
    paths = [PurePath(table.name.rpartition(": ")[2]) for table in tables]
    folders = zip(*(reversed(path.parent.parts) for path in paths), strict=False)
    for names in (*folders, [path.stem for path in paths]):
        if len(set(zip(tasks, names, strict=True))) == len(paths):
            return names
    raise BadFile(
        f"{tables[0].name} and another file are samples of the same model. Pass one file per model "
        "and task."
    )


def _answer(filtered: Any) -> Any:
    """Return the text of an answer, or the number of the likeliest choice.

    Choices have a log likelihood each, a number or its text, and whether greedy decoding says them.
    Of a single one, the latter is what the model says about it.
    """
    if all(isinstance(value, list) for value in filtered) and len(filtered) > 1:
        values = [float(value[0]) for value in filtered]
        return values.index(max(values))
    value = filtered[0] if filtered else None
    if isinstance(value, list) and str(value[-1]) in ("True", "False"):
        return str(value[-1])
    value = value[0] if isinstance(value, list) and value else value
    return None if value == _INVALID or not isinstance(value, str) else value.strip()


def _stripped(target: Any) -> Any:
    return target.strip() if isinstance(target, str) else target
